"""The commands as typer knows them, without the types it keeps to itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from sciagent.cli.application import application


@dataclass(frozen=True)
class Documented:
    """A command that can be typed, with the examples of its help."""

    words: tuple[str, ...]
    command: Any

    @property
    def name(self) -> str:
        return " ".join(self.words)

    @property
    def examples(self) -> list[str]:
        lines = (self.command.epilog or "").splitlines()
        return [line.strip() for line in lines if line.startswith("  ")]

    def parse(self, arguments: Sequence[str]) -> None:
        """Read arguments as the command would, without doing anything; wrong ones raise."""
        self.command.make_context(self.name, list(arguments))


def documented_commands() -> list[Documented]:
    return list(_below(typer.main.get_command(application), ()))


def _below(command: Any, words: tuple[str, ...]) -> Iterator[Documented]:
    children = getattr(command, "commands", None)
    if children is None:
        yield Documented(words, command)
        return
    for name, child in children.items():
        yield from _below(child, (*words, name))

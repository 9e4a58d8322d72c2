"""Whatever a page tells its reader to type can be typed."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer

from sciagent.cli.application import application
from tests.cli.commands import documented_commands
from tests.docs.pages import HOW_TO, ROOT, commands, named, pages

PROGRAMS = {"cp", "export", "make", "papermill", "pip", "python", "sciagent", "sed", "source"}
PAGES = [pytest.param(page, id=named(page)) for page in pages() if list(commands(page))]


def words_of(text: str) -> list[str]:
    """Words of a command, without comment and redirections."""
    return shlex.split(re.split(r" [<>|] ", text)[0], comments=True)


def parse(words: Sequence[str]) -> None:
    """Read the words behind ``sciagent`` as the program would, without doing anything."""
    root = typer.main.get_command(application)
    options = {name for each in root.params for name in each.opts}
    while words and words[0] in options:
        words = words[1:]
    for command in documented_commands():
        if tuple(words[: len(command.words)]) == command.words:
            command.parse(words[len(command.words) :])
            return
    assert not words, f"there is no command {words[0]!r}"


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_can_be_typed(page: Path) -> None:
    for command in commands(page):
        words = words_of(command.text)
        if words and words[0].endswith("sciagent"):
            parse(words[1:])


@pytest.mark.parametrize("page", PAGES)
def test_every_program_that_a_page_starts_is_one_that_its_reader_has(page: Path) -> None:
    for command in commands(page):
        first = next(iter(words_of(command.text)), "")
        is_own = first.startswith((".venv/bin/", "./"))
        assert is_own or "=" in first or first in PROGRAMS, str(command)


def test_a_command_with_a_wrong_option_is_noticed() -> None:
    with pytest.raises(Exception, match="--budget-trails"):
        parse(["run", "toy/parabola", "--budget-trails", "3"])


def test_every_target_of_make_that_a_page_names_is_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in pages():
        text = page.read_text(encoding="utf-8")
        typed = {words_of(each.text)[1] for each in commands(page) if each.text.startswith("make ")}
        mentioned = set(re.findall(r"`make ([a-z]+)`", text))
        assert typed | mentioned <= targets, named(page)


def test_the_pages_show_every_command_in_use() -> None:
    shown = [words_of(each.text)[1:] for page in HOW_TO.glob("*.md") for each in commands(page)]
    for command in documented_commands():
        assert any(tuple(words[: len(command.words)]) == command.words for words in shown), (
            command.name
        )

"""A shell as the reader of a page has it: sciagent on the path, in a folder of its own."""

import fnmatch
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cli.terminal import environment
from tests.docs.pages import ROOT

PLUGINS = ROOT / "tests" / "plugins"
_MARK = "--- end of a command ---"


@dataclass(frozen=True)
class Answer:
    """What a command wrote, and the code that it exited with."""

    command: str
    code: int
    output: str


def shell_variables(root: Path, *folders: Path) -> dict[str, str]:
    """Variables of a shell that finds the program, this tree and these folders."""
    programs = root / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    program = programs / "sciagent"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sciagent.cli "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    return environment(*folders, PATH=path, XDG_CACHE_HOME=str(root / "cache"))


def typed(commands: Sequence[str], folder: Path, variables: dict[str, str]) -> list[Answer]:
    """Type commands one after the other into one shell."""
    script = "\n".join(f"{command}\nprintf '\\n{_MARK} %s\\n' $?" for command in commands)
    done = subprocess.run(
        ["bash"], input=script, cwd=folder, env=variables, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    answers: list[Answer] = []
    output: list[str] = []
    waiting = iter(commands)
    for line in done.stdout.split("\n"):
        if line.startswith(_MARK):
            code = int(line.removeprefix(_MARK))
            answers.append(Answer(next(waiting), code, "\n".join(output).strip()))
            output = []
        else:
            output.append(line)
    return answers


def missing_lines(expected: Sequence[str], output: str) -> list[str]:
    """Lines that a page shows and that did not come; ``...`` stands for anything."""
    found = [" ".join(line.split()) for line in output.split("\n")]
    return [line for line in expected if not fnmatch.filter(found, _pattern(line))]


def _pattern(line: str) -> str:
    words = " ".join(line.split())
    escaped = "".join(f"[{each}]" if each in "*?[" else each for each in words)
    return escaped.replace("...", "*")

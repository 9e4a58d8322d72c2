"""The lesson on asking an agent, typed in two terminals from its first line to its last."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, Command, commands
from tests.docs.terminals import PLUGINS, Answer, missing_lines, shell_variables, typed

PAGE = DOCS / "tutorials" / "ask-an-agent.md"
SERVER = "python -m sciagent.testing.scripted_model"
SHOWN_URL = "http://127.0.0.1:8642/v1"
# The same lesson with the toy field, which takes seconds.
TOY = {"powder_diffraction/refine": "toy/parabola", "dataset=sc2au6": "dataset=",
       "r_wp 98.28 %": "height 17 µm", "r_wp": "height"}  # fmt: skip


@contextmanager
def second_terminal(variables: dict[str, str], *options: str) -> Iterator[str]:
    """Start the scripted model as the page says, and give its address."""
    command = [sys.executable, *SERVER.split()[1:], "--port", "0", *options]
    with subprocess.Popen(command, env=variables, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield line.split()[5].rstrip(";")
        finally:
            process.terminate()


def lesson(page: Sequence[Command], variables: dict[str, str], folder: Path, url: str) -> None:
    """Type the page, and compare what comes with what it shows."""
    answers: list[Answer] = typed(
        [each.text.replace(SHOWN_URL, url) for each in page], folder, variables
    )
    assert [answer.code for answer in answers] == [0] * len(answers), answers
    for command, answer in zip(page, answers, strict=True):
        expected = [line.replace(SHOWN_URL, url) for line in command.output if line]
        assert missing_lines(expected, answer.output) == [], answer.output


def first_terminal() -> list[Command]:
    page = list(commands(PAGE))
    assert page[0].text == SERVER
    assert SHOWN_URL in page[0].output[0]
    return page[1:]


def in_toy(command: Command) -> Command:
    output = []
    for line in command.output:
        for real, toy in TOY.items():
            line = line.replace(real, toy)
        output.append(line)
    return command._replace(output=tuple(output))


def test_the_lesson_can_be_typed_with_another_field(tmp_path: Path) -> None:
    variables = shell_variables(tmp_path, PLUGINS)
    options = ("--question", "toy/parabola", "--dataset", "", "--tokens-per-s", "5000")
    with second_terminal(variables, *options) as url:
        lesson([in_toy(each) for each in first_terminal()], variables, tmp_path, url)


@pytest.mark.slow
def test_the_lesson_does_and_shows_what_it_says(tmp_path: Path) -> None:
    pytest.importorskip("rietx")
    variables = shell_variables(tmp_path, PLUGINS)
    with second_terminal(variables) as url:
        lesson(first_terminal(), variables, tmp_path, url)

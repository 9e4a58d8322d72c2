"""The tutorial, typed from its first line to its last."""

from pathlib import Path

import pytest

from tests.docs.pages import TUTORIAL, Command, commands
from tests.docs.terminals import PLUGINS, missing_lines, shell_variables, typed

# The same lesson with the toy field, which takes seconds.
TOY = {
    "powder_diffraction/refine --dataset fluorapatite": "toy/parabola",
    "-fluorapatite-": "-parabola-",
    r"\[8\.": r"\[3\.",
    r"90\.1/": r"17\.0/",
}
SPOILED = ("verify spoiled", "verify stale")


def lesson() -> list[Command]:
    """What there is to type once the environment is in use."""
    return [command for command in commands(TUTORIAL) if not command.text.startswith("source ")]


def codes(lines: list[str]) -> list[int]:
    """Exit codes that the page promises: only what was spoiled fails."""
    return [int(any(word in line for word in SPOILED)) for line in lines]


def test_the_tutorial_can_be_typed_with_another_field(tmp_path: Path) -> None:
    lines = [command.text for command in lesson()]
    for real, toy in TOY.items():
        assert any(real in line for line in lines), real
        lines = [line.replace(real, toy) for line in lines]
    answers = typed(lines, tmp_path, shell_variables(tmp_path, PLUGINS))
    assert [answer.code for answer in answers] == codes(lines), answers
    spoiled = [answer.output for answer in answers if answer.code]
    assert "report.md: changed" in spoiled[0]
    assert "trials/0001/outcome.json: changed" in spoiled[1]


@pytest.mark.slow
def test_the_tutorial_does_and_shows_what_it_says(tmp_path: Path) -> None:
    page = lesson()
    answers = typed([each.text for each in page], tmp_path, shell_variables(tmp_path))
    assert [answer.code for answer in answers] == codes([each.text for each in page]), answers
    for command, answer in zip(page, answers, strict=True):
        assert missing_lines(command.output, answer.output) == [], answer.output

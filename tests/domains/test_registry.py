"""Fields are found by being there; what is asked of them is checked before anything runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.domains.registry import (
    checked_inputs,
    checked_settings,
    domain_of,
    domains,
    problem,
    question,
)


def test_a_field_that_another_distribution_brings_is_found_by_its_entry_point() -> None:
    assert "toy" in {domain.name for domain in domains()}
    assert domain_of("toy/parabola").name == "toy"


def test_a_broken_field_of_another_distribution_does_not_hide_the_others(tmp_path: Path) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sciagent.domains]\nbroken = no_such_module:DOMAIN\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from sciagent.domains.registry import domains\n"
        "print([domain.name for domain in domains()])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "toy" in done.stdout
    assert "'broken'" in done.stderr


def test_an_unknown_question_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'toy/parabola'"):
        question("toy/parabol")


def test_settings_typed_as_text_become_numbers_of_the_model() -> None:
    settings = checked_settings(question("toy/parabola"), {"step_um": "0.5"})
    assert settings.step_um == 0.5


def test_a_setting_out_of_bounds_is_named_with_its_value_and_description() -> None:
    with pytest.raises(InputError, match=r"'step_um' cannot be '-1'.*First step") as refused:
        checked_settings(question("toy/parabola"), {"step_um": "-1"})
    assert refused.value.kind == "input"


def test_an_empty_file_is_refused_by_name(tmp_path: Path) -> None:
    empty = tmp_path / "start.txt"
    empty.touch()
    with pytest.raises(InputError, match=r"start\.txt.* is empty"):
        checked_inputs(question("toy/parabola"), {"start": (empty,)})


def test_two_files_for_an_input_that_takes_one_are_refused(tmp_path: Path) -> None:
    first = tmp_path / "a"
    first.write_text("0 0")
    with pytest.raises(InputError, match="takes one file"):
        checked_inputs(question("toy/parabola"), {"start": (first, first)})


def test_a_worker_makes_the_same_problem_from_plain_values(tmp_path: Path) -> None:
    start = tmp_path / "start.txt"
    start.write_text("1.0 2.0")
    made = problem("toy/parabola", {"start": [str(start)]}, {"lowest_x_um": 4.0})
    assert made == problem("toy/parabola", {"start": [str(start)]}, {"lowest_x_um": 4.0})

"""Whole runs that are killed at random moments come to what an undisturbed run comes to."""

from pathlib import Path

import pytest

from benchmarks.kill_resume import CASES
from sciagent.testing.kills import (
    accepted_path,
    killed_run,
    quiet_run,
    scientific_claims,
)


def _check(case: str, folder: Path, runs: int) -> int:
    question, kills = CASES[case], 0
    quiet, duration_s = quiet_run(question, folder / "quiet")
    for seed in range(runs):
        killed = killed_run(question, folder / f"killed-{seed}", longest_s=duration_s, seed=seed)
        kills += killed.kills
        assert accepted_path(killed.run) == accepted_path(quiet)
        assert scientific_claims(killed.run) == scientific_claims(quiet)
        assert killed.executed_twice == ()
    return kills


def test_a_toy_run_killed_anywhere_resumes_to_the_same_path_and_claims(tmp_path: Path) -> None:
    assert _check("toy", tmp_path, runs=3) > 0


@pytest.mark.slow
def test_a_refinement_killed_anywhere_resumes_to_the_same_path_and_claims(tmp_path: Path) -> None:
    pytest.importorskip("rietx")
    assert _check("sc2au6", tmp_path, runs=5) > 0

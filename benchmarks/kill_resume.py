"""Kills runs at random moments; each must resume to what an undisturbed run comes to."""

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.table import Row, present, progress
from sciagent.testing.kills import (
    Question,
    accepted_path,
    killed_run,
    quiet_run,
    scientific_claims,
)

KILLS = 100
QUICK_KILLS = 10
LONGEST_SHARE = 0.5
"""Of an undisturbed run's time: how long a killed process lives at most. Each resumed process
goes on where the last was cut off, so that all moments of a run are reached."""
PLUGINS = Path(__file__).parents[1] / "tests" / "plugins"
CASES = {
    "toy": Question("toy/parabola", {"settings": {"sleep_s": 0.02}}),
    "sc2au6": Question("powder_diffraction/refine", {"dataset": "sc2au6"}),
}


def measure_case(case: str, kills: int) -> list[Row]:
    """Kill runs of one question until so many kills were made."""
    question = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        quiet, duration_s = quiet_run(question, Path(folder) / "quiet")
        made = runs = same_path = same_claims = twice = 0
        while made < kills:
            killed = killed_run(
                question,
                Path(folder) / f"killed-{runs}",
                longest_s=LONGEST_SHARE * duration_s,
                seed=runs,
            )
            runs += 1
            made += killed.kills
            same_path += accepted_path(killed.run) == accepted_path(quiet)
            same_claims += scientific_claims(killed.run) == scientific_claims(quiet)
            twice += len(killed.executed_twice)
            progress(f"{case}: {made} kills in {runs} runs")
    return [
        Row(case, "kills", made, "{count}"),
        Row(case, "runs", runs, "{count}"),
        Row(case, "same_accepted_path", same_path / runs, "1", "must be", 1.0),
        Row(case, "same_claims", same_claims / runs, "1", "must be", 1.0),
        Row(case, "finished_trials_executed_twice", twice, "{count}", "must be", 0.0),
    ]


def measure(quick: bool) -> list[Row]:
    """Measure all cases; the quick version kills the toy only."""
    os.environ["PYTHONPATH"] = str(PLUGINS)
    if quick:
        return measure_case("toy", QUICK_KILLS)
    return [row for case in CASES for row in measure_case(case, KILLS)]


def main() -> int:
    """Print the figures."""
    return present("kill_resume", measure)


if __name__ == "__main__":
    sys.exit(main())

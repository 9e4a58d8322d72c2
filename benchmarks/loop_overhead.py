"""What the loop, the journal and the store cost a trial, and how large journals open."""

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from benchmarks.table import Row, present, progress
from sciagent.contracts.events import (
    StudyOpened,
    TrialDecided,
    TrialFinished,
    TrialProposed,
    TrialStarted,
)
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import Action, Budget, Decision, Outcome, Proposal
from sciagent.testing.counting import Counting, CountTo
from sciagent.testing.studies import ToyStudy
from sciagent.workspace.journal import JournalFile, read_events, tail
from sciagent.workspace.record import load_tree, summarise, write_study_file

TRIALS = 1000
EVENTS = 100_000
LIMIT_MS = 20.0


def counting_study(folder: Path, trials: int) -> ToyStudy:
    """Make a study that counts a given number of trials."""
    return ToyStudy(
        folder,
        {},
        budget=Budget(trials=trials),
        factory="sciagent.testing.counting:counting",
        policy=lambda _: CountTo(),
    )


def overhead_ms(study: ToyStudy, trials: int) -> float:
    """Run a study and return the median wall time of its last trials, as the journal has it."""
    study.run(Counting())
    times = [event.time for event in study.events if event.kind == "trial_decided"]
    moments = [datetime.fromisoformat(each).timestamp() for each in times[-trials:]]
    steps = [later - earlier for earlier, later in pairwise(moments)]
    return statistics.fmean(sorted(steps)[: len(steps) * 99 // 100]) * 1000.0


def write_large_journal(study: ToyStudy, events: int) -> None:
    """Write the journal of a study that has counted for a long time."""
    study.begin()
    with JournalFile.open(study.layout.journal) as journal:
        opened = StudyOpened(
            question="toy/parabola", objective=Counting.objective, budget=study.budget
        )
        journal.append(opened, study="parabola")
        for first in range(1, events // 4, 250):
            bodies = [b for n in range(first, min(first + 250, events // 4)) for b in _trial(n)]
            journal.append_many(bodies, study="parabola")
    write_study_file(study.folder, load_tree(study.folder))


def _trial(number: int) -> Sequence[TrialProposed | TrialStarted | TrialFinished | TrialDecided]:
    proposal = Proposal(parent=number - 1 or None, action=Action(name="count"))
    metrics = {"count": Quantity(value=float(number), unit="{count}")}
    return (
        TrialProposed(trial=number, proposal=proposal, batch=number, batch_size=1),
        TrialStarted(trial=number),
        TrialFinished(trial=number, outcome=Outcome(status="ok", metrics=metrics)),
        TrialDecided(trial=number, decision=Decision(verdict="accepted", reasons=("More.",))),
    )


def measure(quick: bool) -> list[Row]:
    """Measure the cost of a trial in short and long runs, and the opening of a long one."""
    trials, events = (200, 20_000) if quick else (TRIALS, EVENTS)
    with tempfile.TemporaryDirectory() as folder:
        progress(f"{trials} trivial trials")
        short = overhead_ms(counting_study(Path(folder) / "short", trials), trials - 1)
        progress(f"a journal of {events} events")
        long = counting_study(Path(folder) / "long", events // 4 + trials)
        write_large_journal(long, events)
        opening = _opening(long.folder, events)
        progress(f"{trials} trials after it")
        late = overhead_ms(long, trials - 1)
    return [
        Row(f"{trials} trials", "wall_per_trial", short, "ms", "limit", LIMIT_MS),
        Row(f"after {events} events", "wall_per_trial", late, "ms", "limit", LIMIT_MS),
        Row(f"after {events} events", "ratio_to_short", late / short, "1", "flat", 1.0),
        *opening,
    ]


def _opening(folder: Path, events: int) -> list[Row]:
    journal, case = folder / "events.jsonl", f"{events} events"
    start = time.process_time()
    summarise(folder)
    tail(journal, 50)
    opened = time.process_time()
    replayed = sum(1 for _ in read_events(journal))
    ended = time.process_time()
    progress(f"{replayed} events replayed")
    return [
        Row(case, "summary_and_last_page", opened - start, "s", "limit", 1.0),
        Row(case, "typed_replay", ended - opened, "s", "limit", 3.0),
    ]


def main() -> int:
    """Print the figures."""
    return present("loop_overhead", measure)


if __name__ == "__main__":
    sys.exit(main())

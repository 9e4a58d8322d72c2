"""A study that is killed at any moment goes on as if nothing had happened."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from sciagent.contracts.events import TrialDecided, TrialProposed
from sciagent.testing.studies import ToyStudy

RUN = """
from pathlib import Path
from sciagent.testing.studies import ToyStudy
ToyStudy(Path({folder!r}), {settings!r}, parallel={parallel}).run()
"""


def _start(folder: Path, settings: dict[str, object], parallel: int) -> "subprocess.Popen[bytes]":
    code = RUN.format(folder=str(folder), settings=settings, parallel=parallel)
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)


def _finished(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("trials/*/outcome.json")}


def test_killed_at_random_moments_it_reaches_the_same_path_and_runs_nothing_finished_twice(
    tmp_path: Path,
) -> None:
    undisturbed = ToyStudy(tmp_path / "undisturbed", {"sleep_s": 0.005})
    undisturbed.run()
    for seed, parallel in enumerate([1, 1, 2]):
        folder, log = tmp_path / f"killed-{seed}", tmp_path / f"executions-{seed}"
        settings: dict[str, object] = {"sleep_s": 0.005, "executions_log": str(log)}
        moment = random.Random(seed)
        finished: set[str] = set()
        for _ in range(4):
            _kill_after(0.35 + moment.random() * 0.4, _start(folder, settings, parallel))
            assert not finished & _executed(log)
            finished = _finished(folder)
            log.write_text("")
        study = ToyStudy(folder, settings, parallel=parallel)
        study.run()
        assert not finished & _executed(log)
        assert study.accepted_path() == undisturbed.accepted_path()


def _kill_after(seconds: float, process: "subprocess.Popen[bytes]") -> None:
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def _executed(log: Path) -> set[str]:
    return {line.split()[0] for line in log.read_text().splitlines()} if log.exists() else set()


def test_a_trial_that_finished_before_the_crash_is_adopted_and_not_run_again(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    study = ToyStudy(tmp_path / "study", {"executions_log": str(log)})
    study.run()
    journal = study.layout.journal
    lines = journal.read_bytes().splitlines(keepends=True)
    kinds = [event.kind for event in study.events]
    cut = [i for i, kind in enumerate(kinds) if kind == "trial_finished"][3]
    journal.write_bytes(b"".join(lines[:cut]))
    log.write_text("")
    before = _finished(study.folder)
    study.run()
    assert not _executed(log) & before
    assert len(study.accepted_path()) == 6


def test_a_trial_that_was_cut_off_starts_again_in_an_empty_folder(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {})
    study.begin()
    leftover = study.layout.trial(1) / "half-written.txt"
    leftover.parent.mkdir(parents=True)
    leftover.write_text("half")
    assert study.run().status == "completed"
    assert not leftover.exists()


def test_a_crash_between_an_acceptance_and_the_rest_of_its_batch_accepts_nothing_more(
    tmp_path: Path,
) -> None:
    study = ToyStudy(tmp_path, {}, parallel=2)
    study.run()
    path, events = study.accepted_path(), study.events
    cut = next(
        place
        for place, event in enumerate(events[:-1], start=1)
        if isinstance(event.body, TrialDecided) and event.body.decision.accepted
        and _superseded(events[place].body)
    )  # fmt: skip
    lines = study.layout.journal.read_bytes().splitlines(keepends=True)
    study.layout.journal.write_bytes(b"".join(lines[:cut]))
    left_over = next(iter(study.tree.undecided))
    study.run()
    decision = study.tree.trial(left_over).decision
    assert decision is not None
    assert decision.verdict == "superseded"
    assert study.accepted_path() == path


def test_a_batch_that_was_cut_off_while_it_was_proposed_is_proposed_again(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {}, parallel=2)
    study.run()
    path, events = study.accepted_path(), study.events
    cut = next(
        place
        for place, event in enumerate(events, start=1)
        if isinstance(event.body, TrialProposed) and event.body.batch_size == 2
    )
    lines = study.layout.journal.read_bytes().splitlines(keepends=True)
    study.layout.journal.write_bytes(b"".join(lines[:cut]))
    study.run()
    assert study.accepted_path() == path


def _superseded(body: object) -> bool:
    return isinstance(body, TrialDecided) and body.decision.verdict == "superseded"

"""Brings each trial of a batch to an outcome, executing it at most once."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from sciagent.contracts.errors import LimitError, RandomError, error_record
from sciagent.contracts.events import TrialFinished, TrialStarted
from sciagent.contracts.model import canonical_model
from sciagent.contracts.ports import Journal
from sciagent.contracts.study import Outcome
from sciagent.contracts.tree import Trial
from sciagent.study.context import TrialTask
from sciagent.study.pool import WorkerPool
from sciagent.study.seeds import TrialSeeds
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.layout import OUTCOME, Layout

_POLL_S = 0.2
_GRACE_S = 2.0


@dataclass(slots=True)
class TrialRunner:
    """Runs the trials of a batch in worker processes and reads their outcomes.

    A trial whose `outcome.json` is already there is adopted; one that was cut off starts again
    in an empty folder.
    """

    study: str
    journal: Journal
    layout: Layout
    pool: WorkerPool
    seeds: TrialSeeds
    threads: int
    cache: str
    _waiting: list[Trial] = field(default_factory=list)
    _finished: set[int] = field(default_factory=set)
    _deadline_s: float | None = None

    @property
    def side_by_side(self) -> int:
        """How many trials can run at the same time."""
        return self.pool.size

    def begin(self, batch: Sequence[Trial], *, deadline_s: float | None) -> None:
        """Take a batch on: adopt what has finished, queue the rest in order."""
        self._waiting, self._finished = [], set()
        self._deadline_s = deadline_s
        for trial in batch:
            if trial.outcome is not None:
                self._finished.add(trial.number)
            elif self._has_outcome_of(trial):
                self._read(trial.number, adopted=True)
            else:
                self._waiting.append(trial)

    def finished(self, number: int) -> bool:
        """Whether the trial's outcome is in the journal."""
        return number in self._finished

    def step(self) -> None:
        """Start what can be started and wait a moment for an answer."""
        while self._waiting and self.pool.free:
            self._start(self._waiting.pop(0))
        answered, dead = self.pool.wait(_POLL_S)
        for number in answered:
            self._read(number, adopted=False)
        for number in dead:
            self._fail(
                number,
                RandomError(
                    "The process that ran the trial ended without an outcome.",
                    "See output.log in the trial's folder; memory may have run out.",
                ),
            )
        self._end_late()

    def cut_off(self, number: int) -> None:
        """Stop a trial that nobody needs any more; what it wrote is kept."""
        self._waiting = [trial for trial in self._waiting if trial.number != number]
        self.pool.kill(number)

    def close(self) -> None:
        """End all worker processes."""
        self.pool.close()

    def open_sealed(self, trial: Trial) -> Outcome:
        """Run the sealed evaluation of a trial, or adopt the one that was run."""
        folder = self.layout.trial(trial.number) / "sealed"
        if not (folder / OUTCOME).exists():
            shutil.rmtree(folder, ignore_errors=True)
            task = self._task(trial).model_copy(
                update={"directory": str(folder), "sealed": True,
                        "parent_directory": str(self.layout.trial(trial.number))}
            )  # fmt: skip
            self.pool.start(task)
            while not any(self.pool.wait(_POLL_S)):
                continue
        if not (folder / OUTCOME).exists():
            raise RandomError("The sealed evaluation ended without an outcome.")
        return Outcome.model_validate_json((folder / OUTCOME).read_bytes())

    def _start(self, trial: Trial) -> None:
        folder = self.layout.trial(trial.number)
        shutil.rmtree(folder, ignore_errors=True)
        self.journal.append_unwaited(TrialStarted(trial=trial.number), study=self.study)
        self.pool.start(self._task(trial))

    def _task(self, trial: Trial) -> TrialTask:
        parent = trial.proposal.parent
        return TrialTask(
            trial=trial.number,
            proposal=trial.proposal,
            directory=str(self.layout.trial(trial.number)),
            parent_directory=None if parent is None else str(self.layout.trial(parent)),
            seed=self.seeds.seed(trial.number),
            threads=self.threads,
            deadline_s=self._deadline_s,
            cache=self.cache,
        )

    def _has_outcome_of(self, trial: Trial) -> bool:
        path = self.layout.outcome(trial.number)
        if not path.exists():
            return False
        outcome = Outcome.model_validate_json(path.read_bytes())
        return outcome.proposal_sha256 == trial.proposal.sha256

    def _read(self, number: int, *, adopted: bool) -> None:
        outcome = Outcome.model_validate_json(self.layout.outcome(number).read_bytes())
        event = TrialFinished(trial=number, outcome=outcome, adopted=adopted)
        self.journal.append_unwaited(event, study=self.study)
        self._finished.add(number)

    def _fail(self, number: int, error: Exception) -> None:
        outcome = Outcome(status="failed", error=error_record(error))
        write_atomic(self.layout.outcome(number), canonical_model(outcome) + "\n")
        self._read(number, adopted=False)

    def _end_late(self) -> None:
        if self._deadline_s is None or time.time() < self._deadline_s + _GRACE_S:
            return
        for number in self.pool.running:
            self.pool.kill(number)
            self._fail(number, LimitError("The wall-clock budget ended during the trial."))
        for trial in self._waiting:
            self._fail(trial.number, LimitError("The wall-clock budget ended before the trial."))
        self._waiting = []

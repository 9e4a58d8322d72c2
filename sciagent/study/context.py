"""What a trial may know of its surroundings, and the task a worker is handed."""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from sciagent.contracts.model import Contract
from sciagent.contracts.ports import ProcessLimits, ProcessResult, ProcessRunner
from sciagent.contracts.study import Proposal


class TrialTask(Contract):
    """One trial, as it is sent to a worker process."""

    trial: int
    proposal: Proposal
    directory: str
    parent_directory: str | None
    seed: int
    threads: int
    deadline_s: float | None = Field(
        default=None, json_schema_extra={"unit": "s"}, description="Since the epoch."
    )
    cache: str
    sealed: bool = Field(default=False, description="Open the sealed evaluation instead.")


@dataclass(frozen=True, slots=True)
class TrialContext:
    """The context of one trial inside a worker process (a `Context`)."""

    task: TrialTask
    runner: ProcessRunner
    owner_gone: Callable[[], bool]

    @property
    def directory(self) -> Path:
        """Folder of this trial."""
        return Path(self.task.directory)

    @property
    def parent_directory(self) -> Path | None:
        """Folder of the trial it starts from."""
        parent = self.task.parent_directory
        return None if parent is None else Path(parent)

    @property
    def seed(self) -> int:
        """Seed of this trial."""
        return self.task.seed

    @property
    def threads(self) -> int:
        """Threads the numerics may use."""
        return self.task.threads

    @property
    def deadline(self) -> float | None:
        """Seconds since the epoch when the trial must have ended, or none."""
        return self.task.deadline_s

    def cancelled(self) -> bool:
        """Whether the deadline has passed or nobody waits for the outcome any more."""
        late = self.task.deadline_s is not None and time.time() > self.task.deadline_s
        return late or self.owner_gone()

    def cached(self, key: str) -> Path:
        """Folder shared by all runs that keeps what `key` names; it may be empty."""
        digest = hashlib.sha256(key.encode()).hexdigest()
        folder = Path(self.task.cache) / digest[:2] / digest
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def run_process(self, argv: Sequence[str], limits: ProcessLimits) -> ProcessResult:
        """Run a program in this trial's folder, at the latest until the trial's deadline."""
        return self.runner.run(
            argv,
            directory=self.directory,
            log=self.directory / "process.log",
            limits=self._until_deadline(limits),
            cancelled=self.cancelled,
        )

    def _until_deadline(self, limits: ProcessLimits) -> ProcessLimits:
        if self.task.deadline_s is None:
            return limits
        left = max(self.task.deadline_s - time.time(), 0.001)
        wall = left if limits.wall_s is None else min(left, limits.wall_s)
        return limits.model_copy(update={"wall_s": wall})


def thread_environment(threads: int) -> dict[str, str]:
    """Environment for a child process whose numerics use at most `threads` threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {**os.environ, **{name: str(threads) for name in names}}

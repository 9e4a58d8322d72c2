"""Worker processes, seen from the owner of a run."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import IO

from sciagent.contracts.model import canonical_model
from sciagent.contracts.ports import ProblemSource
from sciagent.study.context import TrialTask, thread_environment


@dataclass(slots=True)
class _Worker:
    process: "subprocess.Popen[str]"
    trial: int | None = None

    @property
    def answers(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout


@dataclass(slots=True)
class WorkerPool:
    """Up to `size` worker processes, started when they are first needed.

    A worker is kept between trials, so that what it imported is imported once. Killing a trial
    kills its worker; the next trial gets a new one.
    """

    source: ProblemSource
    size: int
    threads: int
    _workers: list[_Worker] = field(default_factory=list)

    @property
    def running(self) -> list[int]:
        """Numbers of the trials that workers are busy with."""
        return [worker.trial for worker in self._workers if worker.trial is not None]

    @property
    def free(self) -> int:
        """How many more trials can be started now."""
        return self.size - len(self.running)

    def start(self, task: TrialTask) -> None:
        """Hand a trial to a free worker."""
        worker = next((w for w in self._workers if w.trial is None), None) or self._spawn()
        worker.trial = task.trial
        try:
            self._send(worker, canonical_model(task))
        except BrokenPipeError:
            self._workers.remove(worker)
            worker.process.wait()
            fresh = self._spawn()
            fresh.trial = task.trial
            self._send(fresh, canonical_model(task))

    def wait(self, timeout_s: float) -> tuple[list[int], list[int]]:
        """Wait until a busy worker answers or dies.

        Returns
        -------
        tuple of two lists
            Trials that were answered, and trials whose worker died without an answer.
        """
        busy = [worker for worker in self._workers if worker.trial is not None]
        answered: list[int] = []
        dead: list[int] = []
        with selectors.DefaultSelector() as selector:
            for worker in busy:
                selector.register(worker.answers, selectors.EVENT_READ, worker)
            for key, _ in selector.select(timeout_s):
                worker = key.data
                line = worker.answers.readline()
                (answered if line else dead).append(worker.trial)
                worker.trial = None
                if not line:
                    self._discard(worker)
        return answered, dead

    def kill(self, trial: int) -> None:
        """End a running trial and its worker."""
        for worker in [w for w in self._workers if w.trial == trial]:
            self._discard(worker)

    def close(self) -> None:
        """End all workers."""
        for worker in list(self._workers):
            self._discard(worker)

    def _spawn(self) -> _Worker:
        process = subprocess.Popen(
            [sys.executable, "-m", "sciagent.study.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**thread_environment(self.threads), "PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,
        )
        worker = _Worker(process)
        self._workers.append(worker)
        self._send(worker, json.dumps(self.source.model_dump(mode="json")))
        return worker

    @staticmethod
    def _send(worker: _Worker, line: str) -> None:
        assert worker.process.stdin is not None
        worker.process.stdin.write(line + "\n")
        worker.process.stdin.flush()

    def _discard(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        with contextlib.suppress(ProcessLookupError):
            # The worker leads its session: what it started ends with it.
            os.killpg(worker.process.pid, signal.SIGKILL)
        worker.process.wait()
        for stream in (worker.process.stdin, worker.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

"""Worker processes that end with their owner, and are replaced when one is killed."""

import contextlib
import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

import sciagent
from sciagent.contracts.errors import RandomError
from sciagent.execution.attempts import AttemptTask
from sciagent.execution.ledger import AttemptResult


class WorkerLostError(RandomError):
    """The process that ran a row died."""

    kind = "random.worker_lost"


class Engine(Protocol):
    """Runs rows of a campaign somewhere else: on this machine or on others."""

    size: int

    def submit(self, task: AttemptTask) -> "Future[AttemptResult | None]":
        """Run a row.

        The future raises `WorkerLostError` if its process died, and gives None if another
        process has the row.
        """
        ...

    def close(self) -> None:
        """End all workers, also busy ones."""
        ...


class _Worker:
    """A process that runs one row after another, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, task: AttemptTask) -> AttemptResult | None:
        """Run a row and wait for its end."""
        process = self._living()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(task.model_dump_json() + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except (BrokenPipeError, ValueError):
            answer = ""
        if not answer.endswith("\n"):
            self.end()
            raise WorkerLostError(f"The process that ran the row {task.row} died.", "Run it again.")
        return None if answer == "null\n" else AttemptResult.model_validate_json(answer)

    def end(self) -> None:
        """End the process, also a busy one."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _living(self) -> "subprocess.Popen[str]":
        if self._process is None:
            package = str(Path(sciagent.__file__).resolve().parents[1])
            search = [package, os.environ.get("PYTHONPATH", "")]
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "sciagent.execution.worker", str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, search))},
                start_new_session=True,  # Ctrl-C is for the owner, who decides what it means
            )
        return self._process


class ProcessPool:
    """Worker processes of this machine (an `Engine`).

    Killing one loses only the row that it ran.

    Parameters
    ----------
    size
        Rows that run side by side.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._workers = [_Worker() for _ in range(size)]
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="campaign")

    def submit(self, task: AttemptTask) -> "Future[AttemptResult | None]":
        """Run a row in the next free worker."""
        return self._threads.submit(self._run, task)

    def close(self) -> None:
        """End all workers, also busy ones."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.end()
        self._threads.shutdown(wait=True)

    def _run(self, task: AttemptTask) -> AttemptResult | None:
        worker = self._free.get()
        try:
            return worker.run(task)
        finally:
            self._free.put(worker)

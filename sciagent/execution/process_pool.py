"""Worker processes that end with their owner, and are replaced when one is killed."""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

from sciagent.execution.tether import die_with_parent


class Engine(Protocol):
    """Runs functions somewhere else: on this machine or on others."""

    size: int

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a function with its arguments; both must be picklable."""
        ...

    def is_lost(self, error: BaseException) -> bool:
        """Whether a future's error means that its worker died."""
        ...

    def close(self) -> None:
        """End all workers, also busy ones."""
        ...


@dataclass(slots=True)
class _Worker:
    executor: ProcessPoolExecutor
    future: "Future[Any] | None" = None

    @property
    def is_free(self) -> bool:
        return self.future is None or self.future.done()


class ProcessPool:
    """Worker processes of this machine (an `Engine`).

    They are spawned, not forked, and ignore Ctrl-C: their owner decides what it means. Each is
    a pool of its own, because the standard library ends a whole pool when one of its processes
    is killed.

    Parameters
    ----------
    size
        Functions that run side by side.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._workers = [_Worker(_new_executor()) for _ in range(size)]

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a function in a free worker; when all are busy, it waits for the first."""
        worker = next((each for each in self._workers if each.is_free), self._workers[0])
        try:
            worker.future = worker.executor.submit(function, *arguments)
        except BrokenProcessPool:
            _end(worker.executor)
            worker.executor = _new_executor()
            worker.future = worker.executor.submit(function, *arguments)
        return worker.future

    def is_lost(self, error: BaseException) -> bool:
        """Whether a future's error means that its worker died."""
        return isinstance(error, BrokenProcessPool)

    def close(self) -> None:
        """End all workers, also busy ones."""
        for worker in self._workers:
            _end(worker.executor)


def _new_executor() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, _prepare, (os.getpid(),))


def _end(executor: ProcessPoolExecutor) -> None:
    # Taken before the shutdown forgets them: a busy process would be waited for otherwise.
    processes = list((executor._processes or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with contextlib.suppress(ProcessLookupError, ValueError):
            process.kill()
    for process in processes:
        process.join()


def _prepare(owner: int) -> None:
    die_with_parent(owner)
    # A handler, not SIG_IGN: that would be inherited by the kernels, which must be interruptible.
    signal.signal(signal.SIGINT, _leave_it_to_the_owner)


def _leave_it_to_the_owner(_signal: int, _frame: FrameType | None) -> None:
    pass

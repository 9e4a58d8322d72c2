"""Watches the memory of a kernel with all that it started, and ends it above a limit."""

import signal
import threading
from types import TracebackType
from typing import Self

from sciagent.execution.process_tree import memory_mib, send

_PERIOD_S = 0.25


class MemoryWatch:
    """Kills a process tree while the ``with`` block runs, if its tree holds too much memory.

    Parameters
    ----------
    process
        First process of the tree.
    limit_mib
        Memory of the whole tree in MiB, shared pages counted once; None watches nothing.

    Attributes
    ----------
    exceeded
        Whether the limit was exceeded and the tree killed.
    peak_mib
        The most that was seen.
    """

    def __init__(self, process: int, limit_mib: float | None) -> None:
        self.exceeded = False
        self.peak_mib = 0.0
        self._process = process
        self._limit_mib = limit_mib
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        if self._limit_mib is not None:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_PERIOD_S):
            now_mib = memory_mib(self._process)
            self.peak_mib = max(self.peak_mib, now_mib)
            if self._limit_mib is not None and now_mib > self._limit_mib:
                self.exceeded = True
                send(self._process, signal.SIGKILL)
                return

"""Memory and signals of a process with all that descend from it, read from /proc."""

import contextlib
import os
import signal
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_MIB_KIB = 1024
_PERIOD_S = 0.25
_START_TICKS = 19
"""Place of the start behind the name of a program in /proc/PID/stat (field 22)."""


def tree_of(root: int) -> list[int]:
    """List a process and its descendants, parents before their children."""
    if not (_PROC / str(root)).exists():
        return []
    if not (_PROC / "self" / "task" / str(os.getpid()) / "children").exists():
        return _tree_by_parents(root)
    found = [root]
    for process in found:
        found.extend(_children(process))
    return found


def _children(process: int) -> list[int]:
    """Read the children of all threads of a process, as systems tell that have the file."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in (_PROC / str(process) / "task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def _tree_by_parents(root: int) -> list[int]:
    """Find the descendants by the parent of each process of the machine."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            parent = _parent(entry)
            if parent is not None:
                children[parent].append(int(entry.name))
    found = [root]
    for process in found:
        found.extend(children[process])
    return found


class ProcessState(NamedTuple):
    """What /proc tells of a process (proc(5)).

    Attributes
    ----------
    state
        One letter.
    parent
        Process that it is a child of.
    start_ticks
        When it started, in clock ticks since the system did.
    """

    state: str
    parent: int
    start_ticks: int

    @property
    def is_dead(self) -> bool:
        """Whether it has ended, and only nobody has taken notice of it yet."""
        return self.state in {"Z", "X"}


def process_state(process: int) -> ProcessState | None:
    """Read how a process stands; None if it is gone."""
    try:
        told = (_PROC / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of a program stands in brackets and may hold anything, blanks and brackets too.
    fields = told.rpartition(")")[2].split()
    return ProcessState(fields[0], int(fields[1]), int(fields[_START_TICKS]))


def memory_mib(root: int, figure: str = "Pss") -> float:
    """Add up the memory of a process tree in MiB.

    Parameters
    ----------
    root
        The first process.
    figure
        ``Pss`` counts shared pages once over all processes, ``Rss`` all that is resident.
    """
    return sum(_memory_kib(process, figure) for process in tree_of(root)) / _MIB_KIB


def send(root: int, number: signal.Signals, *, below: bool = False) -> None:
    """Send a signal to a process tree, or only to what is `below` its first process."""
    for process in tree_of(root)[1 if below else 0 :]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def _parent(entry: Path) -> int | None:
    found = process_state(int(entry.name))
    return None if found is None else found.parent


def _memory_kib(process: int, figure: str) -> int:
    try:
        lines = (_PROC / str(process) / "smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{figure}:")), 0)


class TreeWatch:
    """Kills a process tree that outgrows its limits.

    Parameters
    ----------
    root
        First process; what it started dies with it because it is that of a sandbox.
    memory_limit_mib, process_limit
        Of the whole tree.
    killed
        Is told the reason, before the tree is killed.
    """

    def __init__(
        self,
        root: int,
        memory_limit_mib: int,
        process_limit: int,
        killed: Callable[[str], None],
    ) -> None:
        self._root, self._killed = root, killed
        self._memory_mib, self._processes = memory_limit_mib, process_limit
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sandbox-watch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop watching."""
        self._ended.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_PERIOD_S):
            tree = tree_of(self._root)
            if not tree:
                return
            reason = self._excess(tree)
            if reason and not self._ended.is_set():
                self._killed(reason)
                send(self._root, signal.SIGKILL)
                return

    def _excess(self, tree: list[int]) -> str:
        if len(tree) > self._processes:
            return f"the sandbox had {len(tree)} processes, its limit is {self._processes}"
        used = sum(_memory_kib(process, "Pss") for process in tree) // _MIB_KIB
        if used > self._memory_mib:
            return f"the sandbox used {used} MiB of memory, its limit is {self._memory_mib} MiB"
        return ""

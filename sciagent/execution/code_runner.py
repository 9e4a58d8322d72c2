"""Runs the cells of agents in kernels that stay, and records what really happened."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field

from sciagent.contracts.errors import ResourceError
from sciagent.contracts.events import CellRan, EventBody, KernelChanged, Noted
from sciagent.contracts.model import Contract
from sciagent.contracts.ports import CodeResult, Journal
from sciagent.execution.bubblewrap import prepare_workspace
from sciagent.execution.outputs import CellOutputs, comparable
from sciagent.execution.pausing import PAGE_OUT, Pause, has_swap
from sciagent.execution.record import Cell, CodeRecord, about
from sciagent.execution.sandbox import sandbox_mode
from sciagent.execution.session import CellEnd, KernelSession, KernelSettings, Message
from sciagent.execution.snapshot import (
    Snapshot,
    SnapshotError,
    lost_in_words,
    restore_kernel,
    save_kernel,
)
from sciagent.execution.touched import snapshot, touched

_RESULT = {"interrupted": "error"}
_REPEATED = frozenset({"ok", "error"})


class Repetition(Contract):
    """What executing the recorded cells again in a fresh kernel came to."""

    cells: tuple[str, ...] = Field(description="Cells that were executed again.")
    skipped: tuple[str, ...] = Field(description="Cells that had not come to an end of their own.")
    differs: str = Field(default="", description="First cell with another output; the last one.")
    detail: str = ""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class CodeSettings:
    """How the kernels of a run behave.

    Attributes
    ----------
    kernel
        What each may see and use.
    cancelled
        Whether the run should stop; a running cell is then interrupted.
    pause_after_s
        An idle kernel is paused after so long; none: never.
    keep_alive_s
        How often a long cell says in the journal that it still runs.
    """

    kernel: KernelSettings
    cancelled: Callable[[], bool] = _never
    pause_after_s: float | None = 600.0
    keep_alive_s: float = 60.0


@dataclass(slots=True)
class KernelPool:
    """The kernels of one run: one for each agent, all in one record.

    Attributes
    ----------
    journal
        The run's record of events; safe to write from several threads.
    settings
        How the kernels behave.
    """

    journal: Journal
    settings: CodeSettings
    record: CodeRecord = field(init=False)
    _runners: dict[str, "KernelCode"] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self.record = CodeRecord(self.root)

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.settings.kernel.workspace

    def runner(self, agent: str) -> "KernelCode":
        """Give an agent its kernel; it starts with its first cell."""
        with self._lock:
            return self._runners.setdefault(agent, KernelCode(self, agent))

    def close(self) -> None:
        """End all kernels."""
        with self._lock:
            runners = list(self._runners.values())
        for runner in runners:
            runner.close()


class KernelCode:
    """The kernel of one agent (a `CodeRunner`). Made by `KernelPool.runner`."""

    def __init__(self, pool: KernelPool, agent: str) -> None:
        self._pool, self._agent = pool, agent
        self._session = KernelSession(pool.settings.kernel)
        self._lock = threading.RLock()
        self._paused = self._offloaded = False
        self._snapshot: Snapshot | None = None
        self._timer: threading.Timer | None = None
        self._closed = False

    def for_agent(self, agent: str) -> "KernelCode":
        """Give another agent of the run a kernel of its own."""
        return self._pool.runner(agent)

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Run one cell.

        Parameters
        ----------
        code
            Python.
        timeout_s
            The cell is interrupted after so long; what it has put out until then is kept.

        Raises
        ------
        SandboxError
            If there is no sandbox here and nobody agreed to do without.
        ResourceError
            If no kernel starts.
        """
        with self._lock:
            self._stop_timer()
            said = self._make_ready()
            try:
                result = self._run(code, timeout_s)
            finally:
                self._start_timer()
        parts = [part for part in (said, result.output) if part]
        return result.model_copy(update={"output": "\n".join(parts)})

    def run_all(self) -> Repetition:
        """Make the state of the kernel again, in a fresh one, from the recorded cells.

        The cells of this agent are executed in order, up to the first whose output differs.
        """
        with self._lock:
            self._stop_timer()
            self._end_session("its state is made again from the record")
            self._make_ready()
            done, skipped, differs = self._repeat()
            self._start_timer()
        detail = f"{len(done)} {'cell' if len(done) == 1 else 'cells'} executed again"
        detail += f"; {differs} differs, later ones were not executed" if differs else ""
        self._tell(KernelChanged(change="recreated", detail=detail))
        return Repetition(
            cells=tuple(done), skipped=tuple(skipped), differs=differs, detail=detail
        )  # fmt: skip

    def restart(self) -> None:
        """End the kernel; the next cell starts a new one, without variables."""
        with self._lock:
            self._end_session("a restart was asked for")
            self._forget_snapshot()

    def pause(self) -> Pause | None:
        """Take the memory of an idle kernel; none if there is no kernel, or it is paused."""
        with self._lock:
            if self._paused or not self._session.is_alive:
                return None
            swap = has_swap()
            before, after = self._session.pause(PAGE_OUT if swap else "")
            self._paused = True
            found = Pause(before_mib=before, after_mib=after, has_swap=swap)
            self._tell(
                KernelChanged(
                    change="paused",
                    detail=str(found),
                    resident_before_mib=before,
                    resident_after_mib=after,
                )
            )
            return found

    def offload(self) -> None:
        """End the kernel to free all its memory; its next use brings the state back.

        Its variables are saved to files and read by a fresh kernel; what cannot be saved is said
        to be lost. Where that fails, the recorded cells are executed again, as by `run_all`.
        """
        with self._lock:
            self._stop_timer()
            self._wake()
            if self._session.is_alive:
                self._snapshot = self._saved()
                self._end_session("offloaded; its next use brings the state back")
                self._offloaded = True

    def _saved(self) -> Snapshot | None:
        try:
            snapshot = save_kernel(self._session)
        except SnapshotError as error:
            self._tell(Noted(text=f"{error} Its cells will be executed again.", level="warning"))
            return None
        self._tell(KernelChanged(change="saved", detail=str(snapshot)))
        return snapshot

    def _brought_back(self) -> str:
        """Bring the state of an offloaded kernel back, and say how."""
        snapshot, self._snapshot, self._offloaded = self._snapshot, None, False
        if snapshot is not None:
            self._start()
            try:
                lost = restore_kernel(self._session, snapshot)
            except SnapshotError as error:
                self._tell(Noted(text=str(error), level="warning"))
            else:
                detail = f"; {lost_in_words(lost)}" if lost else ""
                detail = f"{snapshot.names} variables read back{detail}"
                self._tell(KernelChanged(change="restored", detail=detail))
                return f"The kernel was offloaded meanwhile: {detail}."
        return f"The state of the kernel was made again: {self.run_all().detail}."

    def _wake(self) -> None:
        """Let a paused kernel go on."""
        if self._paused:
            self._session.resume()
            self._paused = False
            self._tell(KernelChanged(change="resumed"))

    def close(self) -> None:
        """End the kernel for good."""
        with self._lock:
            self._closed = True
            self._stop_timer()
            self._forget_snapshot()
            self._end_session("")

    def _forget_snapshot(self) -> None:
        self._offloaded = False
        if self._snapshot is not None:
            self._snapshot.remove()
            self._snapshot = None

    def _make_ready(self) -> str:
        """See to a kernel that answers; say so if it is another than the agent knows."""
        self._wake()
        if self._session.is_alive:
            return ""
        if self._offloaded:
            return self._brought_back()
        said = ""
        if self._session.is_started:
            said = f"The kernel had died meanwhile ({self._session.death})."
            self._tell(KernelChanged(change="died", detail=self._session.death))
            self._session.close()
        if self._pool.record.cells_of(self._agent):
            said = f"{said} A new kernel was started: variables of earlier cells are lost.".strip()
        self._start()
        return said

    def _start(self) -> None:
        prepare_workspace(self._pool.root)
        self._session.start()
        mode = self._pool.settings.kernel.sandbox or sandbox_mode()
        self._tell(KernelChanged(change="started", sandbox=str(mode)))

    def _run(self, code: str, timeout_s: float | None) -> CodeResult:
        record, root = self._pool.record, self._pool.root
        cell = record.begin(self._agent, code)
        outputs, before = CellOutputs(root, cell["id"]), snapshot(root)
        start = time.monotonic()
        try:
            end = self._execute(cell, outputs, timeout_s)
        except BaseException:
            outputs.close()
            record.end(cell, outputs.outputs, status="interrupted")
            self._end_session("its owner was interrupted")
            raise
        outputs.close()
        files = touched(before, snapshot(root))
        wall_s = time.monotonic() - start
        self._note(outputs, end, timeout_s)
        record.end(
            cell, outputs.outputs, execution_count=end.execution_count, status=end.status,
            detail=end.detail, files=list(files), connections=list(end.connections),
            wall_s=round(wall_s, 3),
        )  # fmt: skip
        ran = CellRan(
            cell=cell["id"], status=end.status, detail=end.detail,
            code_sha256=about(cell)["code_sha256"], files=files, connections=end.connections,
            wall_s=wall_s,
        )  # fmt: skip
        self._tell(ran)
        self._replace_dead(end)
        return CodeResult(
            status=_RESULT.get(end.status, end.status),  # type: ignore[arg-type]
            output=outputs.text(), images=tuple(outputs.images), cell=cell["id"],
        )  # fmt: skip

    def _execute(self, cell: Cell, outputs: CellOutputs, timeout_s: float | None) -> CellEnd:
        start = time.monotonic()
        said = start

        def heard(message: Message) -> None:
            outputs.hear(message)
            self._pool.record.update(cell, outputs.outputs)

        def ended() -> Literal["", "timeout", "interrupted"]:
            nonlocal said
            now = time.monotonic()
            if now - said > self._pool.settings.keep_alive_s:
                said = now
                self._tell(Noted(text=f"{cell['id']} has run for {now - start:.0f} s."))
            if timeout_s is not None and now - start > timeout_s:
                return "timeout"
            return "interrupted" if self._pool.settings.cancelled() else ""

        return self._session.execute(cell["source"], heard, ended)

    def _note(self, outputs: CellOutputs, end: CellEnd, timeout_s: float | None) -> None:
        if end.status == "timeout":
            outputs.note(f"[ended at its limit of {timeout_s:g} s {end.detail}".rstrip() + "]")
        elif end.status == "interrupted":
            outputs.note(f"[interrupted {end.detail}".rstrip() + "]")
        elif end.status == "kernel_died":
            outputs.note(f"[the kernel died: {end.detail}]")

    def _replace_dead(self, end: CellEnd) -> None:
        """Start a new kernel at once where a cell cost the old one."""
        if self._session.is_alive:
            return
        self._tell(KernelChanged(change="died", detail=end.detail or self._session.death))
        self._session.close()
        try:
            self._start()
        except ResourceError as error:
            self._tell(Noted(text=f"No new kernel yet: {error}", level="warning"))

    def _repeat(self) -> tuple[list[str], list[str], str]:
        done: list[str] = []
        skipped: list[str] = []
        for cell in self._pool.record.cells_of(self._agent):
            if about(cell)["status"] not in _REPEATED:
                skipped.append(cell["id"])
                continue
            outputs = CellOutputs(self._pool.root, cell["id"], keeps_files=False)
            end = self._session.execute(
                cell["source"], outputs.hear,
                lambda: "interrupted" if self._pool.settings.cancelled() else "",
            )  # fmt: skip
            done.append(cell["id"])
            same = comparable(outputs.outputs) == comparable(cell["outputs"])
            if end.status != about(cell)["status"] or not same:
                return done, skipped, str(cell["id"])
        return done, skipped, ""

    def _end_session(self, why: str) -> None:
        if self._session.is_started:
            self._session.close()
            self._paused = False
            self._tell(KernelChanged(change="ended", detail=why))

    def _start_timer(self) -> None:
        after_s = self._pool.settings.pause_after_s
        if after_s is not None and not self._closed:
            self._timer = threading.Timer(after_s, self.pause)
            self._timer.daemon = True
            self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tell(self, body: EventBody) -> None:
        self._pool.journal.append(body, span=self._agent)

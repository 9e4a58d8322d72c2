"""Runs the cells of a notebook one by one, and notes of each what became of it and what it did."""

import time
from typing import Any

from papermill.clientwrap import PapermillNotebookClient

from sciagent.execution.asked_connections import AskedConnections
from sciagent.execution.notebook_sandbox import NotebookSandbox
from sciagent.execution.touched import Snapshot, snapshot, touched
from sciagent.execution.truthful_execution import (
    CellProgress,
    CellStatus,
    Heard,
    sha256_of_outputs,
)
from sciagent.workspace.clock import utc_timestamp


class Observer:
    """Sees what each cell does to the folder where it works, and whom it asks for.

    Parameters
    ----------
    sandbox
        How the kernel is confined, and where it works.
    asked
        Where its connections are told; None for a foreign kernel.
    output
        Path in the folder of what is written by us, not by a cell.
    """

    def __init__(
        self, sandbox: NotebookSandbox, asked: AskedConnections | None, output: str
    ) -> None:
        self.sandbox = sandbox
        self._asked = asked
        self._output = output
        self._begin = 0.0
        self._last: Snapshot | None = None

    def begin(self) -> None:
        """Look at the folder before the first cell; later ones begin where the last one ended."""
        if self._last is None:
            self._last = self._snapshot()
        self._begin = time.monotonic()

    def seen(self, error: str) -> dict[str, Any]:
        """Tell what a cell did, now that it has ended.

        Parameters
        ----------
        error
            Name of the exception that it raised, if any.
        """
        wall_s = round(time.monotonic() - self._begin, 3)
        connections = self._asked.new() if self._asked else ()
        before, self._last = self._last or {}, self._snapshot()
        told: dict[str, Any] = {
            "finished": utc_timestamp(),
            "wall_s": wall_s,
            "files": list(touched(before, self._last)),
        }
        if self._asked:
            told["connections"] = list(connections)
        hint = self.sandbox.hint(error, connections) if error else ""
        return {**told, "hint": hint} if hint else told

    def _snapshot(self) -> Snapshot:
        found = snapshot(self.sandbox.directory)
        found.pop(self._output, None)
        return found


class TruthfulClient(PapermillNotebookClient):  # type: ignore[misc]
    """Runs the cells one by one and notes of each what became of it."""

    heard: Heard | None = None
    observer: Observer
    kernel_id: str = ""

    def papermill_execute_cells(self) -> None:
        """Run the cells up to the first that fails or is cut off."""
        for index, cell in enumerate(self.nb.cells):
            if cell.cell_type == "code":
                self.observer.begin()
            self.nb_man.cell_start(cell, index)
            self._tell(index, "running")
            try:
                error = self._executed(cell, index)
            except BaseException:
                self.nb_man.cell_interrupted(self.nb.cells[index])
                self._note(index, "interrupted", "")
                raise
            self._note(index, "failed" if error else "completed", error)
            self.nb_man.cell_complete(self.nb.cells[index], cell_index=index)
            if error:
                break

    def _executed(self, cell: Any, index: int) -> str:
        """Run a cell; give the name of the exception that it raised."""
        from nbclient.exceptions import CellExecutionError

        try:
            self.execute_cell(cell, index)
        except CellExecutionError as error:
            self.nb_man.cell_exception(self.nb.cells[index], cell_index=index, exception=error)
            return error.ename or "an error"
        return ""

    def _note(self, index: int, status: CellStatus, error: str) -> None:
        cell = self.nb.cells[index]
        told: dict[str, Any] = {"finished": utc_timestamp()}
        if cell.cell_type == "code":
            told = {
                **self.observer.seen(error),
                "execution_count": cell.execution_count,
                "outputs_sha256": sha256_of_outputs(cell),
                "kernel": self.kernel_id,
            }
        if "hint" in told:
            self.log.warning(told["hint"])
        self.nb_man.mark(cell, status, **told)
        self._tell(index, status)

    def _tell(self, index: int, status: CellStatus) -> None:
        if self.heard is not None:
            self.heard(
                CellProgress(
                    cell=index + 1, cells=len(self.nb.cells), status=status, time=utc_timestamp()
                )
            )

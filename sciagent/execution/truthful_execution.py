"""What an executed notebook says of itself while papermill runs it, and of each cell."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from papermill.engines import NotebookExecutionManager
from pydantic import Field

from sciagent.contracts.model import Contract, canonical_json, sha256_text
from sciagent.execution.notebook_file import NotebookFile, local_path
from sciagent.workspace.clock import utc_timestamp

CellStatus = Literal["not run", "running", "completed", "failed", "interrupted"]


class CellProgress(Contract):
    """What just happened to a cell of a notebook that is being run."""

    cell: int = Field(ge=1, description="Its place among all cells, from 1.")
    cells: int
    status: CellStatus
    time: str = Field(description="UTC, ISO 8601.")


Heard = Callable[[CellProgress], None]


class TruthfulExecution(NotebookExecutionManager):  # type: ignore[misc]
    """Keeps the notebook's metadata while it is run, and saves it."""

    def __init__(self, nb: Any, **about: Any) -> None:
        super().__init__(nb, **about)
        path = local_path(nb.metadata.papermill.get("output_path"))
        self._file = NotebookFile(path) if path is not None else None

    def saved_as(self, directory: Path) -> str:
        """Path in a folder of what is saved; empty if it lies elsewhere."""
        path = Path(os.path.realpath(self._file.path)) if self._file else None
        inside = path is not None and path.is_relative_to(directory)
        return path.relative_to(directory).as_posix() if path and inside else ""

    def save(self, **more: Any) -> None:
        """Save the notebook as it is now."""
        if self._file is None:
            super().save(**more)
        elif self.output_path:
            self._file.write(self.nb)
        self.last_save_time = self.now()

    def notebook_start(self, **more: Any) -> None:
        """Note of every cell that it was not run, and forget an earlier execution."""
        self.nb.metadata.get("sciagent", {}).pop("execution", None)
        for cell in self.nb.cells:
            cell.metadata["sciagent"] = {
                "status": "not run",
                "source_sha256": sha256_text(cell.source),
            }
        super().notebook_start(**more)

    def cell_start(self, cell: Any, cell_index: int | None = None, **more: Any) -> None:
        """Note that a cell has begun."""
        self.mark(cell, "running", started=utc_timestamp())
        super().cell_start(cell, cell_index, **more)

    def cell_interrupted(self, cell: Any) -> None:
        """Note that a cell was begun and did not come to its end."""
        self.mark(cell, "interrupted")
        cell.metadata.papermill["status"] = self.FAILED
        cell.metadata.papermill["exception"] = True
        self.nb.metadata.papermill["exception"] = True

    def mark(self, cell: Any, status: CellStatus, **more: Any) -> None:
        """Note what became of a cell."""
        cell.metadata["sciagent"] = {**cell.metadata["sciagent"], "status": status, **more}

    def notebook_complete(self, **_more: Any) -> None:
        """Note the end of the notebook; cells that were not run stay as they are.

        Raises
        ------
        ReplacedFolderError
            If the notebook replaced the folder that it is saved to.
        """
        self.end_time = self.now()
        told = self.nb.metadata.papermill
        told["end_time"] = self.end_time.isoformat()
        told["duration"] = (self.end_time - self.start_time).total_seconds()
        for cell in self.nb.cells:  # a later cell may have changed what an earlier one showed
            if "outputs_sha256" in cell.metadata["sciagent"]:
                cell.metadata["sciagent"]["outputs_sha256"] = sha256_of_outputs(cell)
        self.cleanup_pbar()
        if self._file is None:
            self.save()
            return
        with contextlib.closing(self._file):
            # Also if saving was not asked for: papermill saves next, and must find a file here.
            self._file.write(self.nb)


def sha256_of_outputs(cell: Any) -> str:
    """Hash the outputs of a code cell, as a saved notebook holds them, in canonical JSON."""
    return sha256_text(canonical_json(cell.outputs))

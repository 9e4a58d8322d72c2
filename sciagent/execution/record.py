"""The notebook `record.ipynb`, written while code runs: every cell, in order, as it ended."""

import hashlib
import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.clock import utc_timestamp
from sciagent.workspace.layout import RECORD

BY_KERNEL = "kernel"
"""Marks a cell that a kernel executed, in `metadata.sciagent.executed_by`."""

UNFINISHED = "unfinished"
"""Status of a cell that was started and of whose end nothing is known."""

_PERIOD_S = 1.0
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}

Cell = dict[str, Any]
"""A cell of a notebook (nbformat 4.5), as JSON."""


def executed_cells(root: Path) -> list[Cell]:
    """Read the cells of a workspace that kernels executed, in order."""
    try:
        notebook = json.loads((root / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [cell for cell in notebook["cells"] if about(cell).get("executed_by") == BY_KERNEL]


def about(cell: Cell) -> dict[str, Any]:
    """What is noted about a cell: agent, status, times, files, connections."""
    noted: dict[str, Any] = cell["metadata"].get("sciagent", {})
    return noted


class CodeRecord:
    """Writes the record of a workspace; several kernels may use it at once.

    Parameters
    ----------
    root
        The workspace. Cells of an earlier owner are kept.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._cells = executed_cells(root)
        self._written = 0.0
        self._lock = threading.Lock()

    def begin(self, agent: str, code: str) -> Cell:
        """Add a cell that is about to be executed, and write it down first."""
        with self._lock:
            cell: Cell = {
                "cell_type": "code",
                "id": f"cell-{len(self._cells) + 1:04d}",
                "metadata": {
                    "sciagent": {
                        "executed_by": BY_KERNEL,
                        "agent": agent,
                        "status": UNFINISHED,
                        "started": utc_timestamp(),
                        "code_sha256": hashlib.sha256(code.encode()).hexdigest(),
                    }
                },
                "source": code,
                "outputs": [],
                "execution_count": None,
            }
            self._cells.append(cell)
            self._write()
        return cell

    def update(self, cell: Cell, outputs: Sequence[dict[str, Any]]) -> None:
        """Show the outputs so far; written at most once in a second."""
        with self._lock:
            cell["outputs"] = list(outputs)
            if time.monotonic() - self._written > _PERIOD_S:
                self._write()

    def end(self, cell: Cell, outputs: Sequence[dict[str, Any]], **noted: Any) -> None:
        """Write down how a cell ended."""
        with self._lock:
            cell["outputs"] = list(outputs)
            cell["execution_count"] = noted.pop("execution_count", None)
            about(cell).update(noted, finished=utc_timestamp())
            self._write()

    def cells_of(self, agent: str) -> list[Cell]:
        """Cells of one agent, in order."""
        with self._lock:
            return [cell for cell in self._cells if about(cell)["agent"] == agent]

    def _write(self) -> None:
        notebook = {
            "cells": self._cells,
            "metadata": {
                "kernelspec": _KERNEL,
                "language_info": {"name": "python"},
                "sciagent": {"role": "record"},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
        write_atomic(self._root / RECORD, f"{text}\n")
        self._written = time.monotonic()

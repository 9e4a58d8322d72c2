"""Runs this package's own notebooks in a clean kernel, unsandboxed and labelled so.

What is written about a cell is what happened to it: a cell that did not come to its end is
never called completed, and the notebook is written also when it failed.
"""

import json
import logging
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from sciagent.contracts.errors import InputError, LimitError, ResourceError, SciagentError
from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.clock import utc_timestamp

if TYPE_CHECKING:
    from nbformat import NotebookNode

UNSANDBOXED = "unsandboxed"
PARAMETERS_TAG = "parameters"
INJECTED_TAG = "injected-parameters"
_STARTUP_TIMEOUT_S = 120

_log = logging.getLogger(__name__)


class CellError(InputError):
    """A cell of a notebook raised an exception."""

    kind = "input.cell"


class NotebookRun(Contract):
    """How the execution of a notebook ended."""

    status: Literal["completed", "failed"]
    cells: int = Field(description="Code cells of the notebook.")
    completed: int = Field(description="Code cells that came to their end without an error.")
    started: str = Field(description="UTC, ISO 8601.")
    finished: str = Field(description="UTC, ISO 8601.")
    wall_s: float = measured_in("s", ge=0.0)
    sandbox: str = UNSANDBOXED


def run_notebook(
    source: Path,
    output: Path,
    parameters: Mapping[str, Any],
    *,
    timeout_s: float,
    directory: Path,
    threads: int = 1,
) -> NotebookRun:
    """Run a notebook from its first cell to its last in a kernel of its own.

    Parameters
    ----------
    source
        The notebook; it is not changed.
    output
        Where the executed notebook is written, also when it fails.
    parameters
        Plain values, set in a cell that is put behind the one tagged ``parameters``.
    timeout_s
        Time for the whole notebook.
    directory
        Working directory of the kernel.
    threads
        Threads of the kernel's numerics.

    Raises
    ------
    CellError
        If a cell raises; the message names the cell.
    LimitError
        If the time is over.
    ResourceError
        If the kernel dies or cannot be started.
    InputError
        If the notebook cannot be read.
    """
    notebook = _read(source)
    _inject(notebook, parameters)
    begin, started = time.monotonic(), utc_timestamp()
    error: SciagentError | None = None
    try:
        error = _executed(notebook, begin + timeout_s, directory, threads)
    finally:
        # Also when a person interrupts: what was executed is written as such.
        run = _summary(notebook, started, time.monotonic() - begin)
        _write(notebook, output, run)
    if error is not None:
        raise error
    return run


def kernel_answers() -> str:
    """Start a kernel and let it answer; say what is wrong, or nothing if all is well."""
    source = {
        "cells": [
            {
                "cell_type": "code",
                "id": "question",
                "metadata": {},
                "source": "6 * 7",
                "outputs": [],
                "execution_count": None,
            }
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    with tempfile.TemporaryDirectory(prefix="sciagent-kernel-") as name:
        folder = Path(name)
        (folder / "question.ipynb").write_text(json.dumps(source))
        try:
            run_notebook(
                folder / "question.ipynb", folder / "answer.ipynb", {},
                timeout_s=_STARTUP_TIMEOUT_S, directory=folder,
            )  # fmt: skip
        except SciagentError as error:
            return str(error)
    return ""


def _read(source: Path) -> "NotebookNode":
    import nbformat

    try:
        notebook: NotebookNode = nbformat.read(source, as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
    except (OSError, ValueError, TypeError, AttributeError, nbformat.ValidationError) as error:
        raise InputError(f"{source} is not a notebook: {error}.", "Give an .ipynb file.") from error
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
            cell.metadata["sciagent"] = {"status": "not run"}
    return notebook


def _inject(notebook: "NotebookNode", parameters: Mapping[str, Any]) -> None:
    if not parameters:
        return
    from nbformat.v4 import new_code_cell

    lines = [f"{name} = {value!r}" for name, value in parameters.items()]
    cell = new_code_cell(  # type: ignore[no-untyped-call]
        "\n".join(["# Parameters", *lines]), id="injected-parameters"
    )
    cell.metadata.update({"tags": [INJECTED_TAG], "sciagent": {"status": "not run"}})
    tagged = [
        number
        for number, each in enumerate(notebook.cells)
        if PARAMETERS_TAG in each.metadata.get("tags", [])
    ]
    notebook.cells.insert(tagged[0] + 1 if tagged else 0, cell)


def _executed(
    notebook: "NotebookNode", deadline: float, directory: Path, threads: int
) -> SciagentError | None:
    """Execute all cells; what went wrong is returned, so that the notebook is written first."""
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    try:
        _execute(notebook, deadline, directory, threads)
    except CellTimeoutError:
        return LimitError(f"The time was over in {_unfinished(notebook)}.", "Allow more time.")
    except CellExecutionError as error:
        reason = f"{error.ename}: {error.evalue}".removesuffix(": ")
        return CellError(f"{_unfinished(notebook)} failed. {reason}", "Mend what it names.")
    except DeadKernelError:
        return ResourceError(
            f"The kernel died in {_unfinished(notebook)}.",
            "Give it more memory or a smaller task.",
        )
    except RuntimeError as error:
        return ResourceError(f"The kernel did not start: {error}.", "Install ipykernel.")
    return None


def _execute(notebook: "NotebookNode", deadline: float, directory: Path, threads: int) -> None:
    from nbclient import NotebookClient

    from sciagent.execution.kernel import clean_environment, kernel_manager
    from sciagent.execution.runtime_folder import runtime_folder

    def left(_cell: Any) -> int:
        return max(1, round(deadline - time.monotonic()))

    def on_start(cell: "NotebookNode", **_: Any) -> None:
        _mark(cell, status="interrupted", started=utc_timestamp())

    def on_executed(cell: "NotebookNode", execute_reply: Any, **_: Any) -> None:
        reply = execute_reply["content"]["status"]
        _mark(cell, status="completed" if reply == "ok" else "failed", finished=utc_timestamp())

    with runtime_folder() as folder:
        manager = kernel_manager(folder)
        client = NotebookClient(
            notebook,
            km=manager,
            timeout_func=left,
            startup_timeout=_STARTUP_TIMEOUT_S,
            resources={"metadata": {"path": str(directory)}},
            record_timing=False,
            on_cell_execute=on_start,
            on_cell_executed=on_executed,
        )
        client.execute(cleanup_kc=True, env=clean_environment(folder / "profile", threads))


def _mark(cell: "NotebookNode", **values: str) -> None:
    if cell.cell_type == "code":
        cell.metadata["sciagent"] = {**cell.metadata.get("sciagent", {}), **values}


def _statuses(notebook: "NotebookNode") -> list[tuple[int, str]]:
    return [
        (number, cell.metadata["sciagent"]["status"])
        for number, cell in enumerate(notebook.cells, 1)
        if cell.cell_type == "code"
    ]


def _unfinished(notebook: "NotebookNode") -> str:
    for number, status in _statuses(notebook):
        if status in {"failed", "interrupted"}:
            return f"Cell {number} ({notebook.cells[number - 1].get('id', 'without an id')})"
    return "no cell"


def _summary(notebook: "NotebookNode", started: str, wall_s: float) -> NotebookRun:
    statuses = [
        status
        for number, status in _statuses(notebook)
        if notebook.cells[number - 1].source.strip()
    ]
    done = statuses.count("completed")
    return NotebookRun(
        status="completed" if done == len(statuses) else "failed",
        cells=len(statuses),
        completed=done,
        started=started,
        finished=utc_timestamp(),
        wall_s=wall_s,
    )


def _write(notebook: "NotebookNode", output: Path, run: NotebookRun) -> None:
    import nbformat

    notebook.metadata["sciagent"] = {
        **notebook.metadata.get("sciagent", {}),
        "execution": run.model_dump(mode="json"),
    }
    text = nbformat.writes(notebook, version=4)  # type: ignore[no-untyped-call]
    write_atomic(output, f"{text}\n")
    _log.info("notebook %s: %d of %d cells completed", run.status, run.completed, run.cells)

"""Runs a workflow notebook in a workspace.

The kernel works in `files/` of the workspace. What the notebook found is read from there: from
`results.json` (names with numbers, or with ``{"value", "unit"}``) if the notebook wrote one, else
from the run that it made with sciagent.
"""

import json
import os
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from sciagent.contracts.errors import InputError, SciagentError, error_record
from sciagent.contracts.events import EffectFinished, EffectStarted, Noted
from sciagent.contracts.ports import Journal
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.run import WORKFLOW, Environment, RunRequest
from sciagent.execution.attempts import AttemptTask, Made
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.execution.papermill_engine import CellProgress, run_with_papermill
from sciagent.workspace.activity import NOTEBOOK_TOOL
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.content import sha256_of_file
from sciagent.workspace.journal import read_events
from sciagent.workspace.layout import ENVIRONMENT, JOURNAL, RECORD, RESULTS, Layout
from sciagent.workspace.record import load_studies, summarise
from sciagent.workspace.workspace import input_paths, open_workspace, read_request

FILES = "files"
_PACKAGES = ("ipykernel", "nbclient", "numpy", "papermill", "scipy")
_RESULTS: TypeAdapter[dict[str, float | Quantity]] = TypeAdapter(dict[str, float | Quantity])


def workflow_request(task: AttemptTask) -> RunRequest:
    """What stands in the journal of a run of a notebook."""
    return RunRequest(
        question=f"{WORKFLOW}/{Path(task.source).stem}", settings=task.parameters, seed=task.seed,
        threads=task.threads, readable=task.readable,
    )  # fmt: skip


class Workflow:
    """A notebook while it is run in its workspace.

    Parameters
    ----------
    layout
        The workspace, with copies of the notebook and of the files that it is given.
    task
        What is run.
    journal
        The record of the run.
    heard
        Is told of each cell.
    """

    def __init__(
        self,
        layout: Layout,
        task: AttemptTask,
        journal: Journal,
        heard: Callable[[CellProgress], None],
    ) -> None:
        self._layout = layout
        self._task = task
        self._heard = heard
        self._journal = journal
        self._directory = layout / FILES
        self._directory.mkdir(exist_ok=True)
        self._inputs = input_paths(layout, read_request(layout))
        self._notebook = self._inputs.pop(WORKFLOW)[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the notebook; files are named as they are found from where it works."""
        named: dict[str, Any] = dict(self._task.parameters)
        for name, paths in self._inputs.items():
            relative = [os.path.relpath(path, self._directory) for path in paths]
            named[name] = relative[0] if len(relative) == 1 else relative
        return named

    def run(self) -> Made:
        """Run it; what it found is written to `results.json`, and where it ran to the journal."""
        arguments: dict[str, JsonValue] = {
            "notebook": self._notebook.relative_to(self._layout.root).as_posix(),
            "output": RECORD,
            "parameters": self.parameters,
            "limits": self._task.limits.model_dump(mode="json", exclude_none=True),
        }
        self._journal.append(
            EffectStarted(effect=WORKFLOW, tool=NOTEBOOK_TOOL, read_only=False, arguments=arguments)
        )
        made = self._executed()
        error = made.error
        self._journal.append(
            EffectFinished(
                effect=WORKFLOW,
                status="failed" if error else "ok",
                detail=f"{error.kind}: {error.message}" if error else "",
            )
        )
        write_results(self._layout, made)
        write_atomic(self._layout / ENVIRONMENT, self._environment().model_dump_json(indent=1))
        return made

    def _executed(self) -> Made:
        try:
            run_with_papermill(
                self._notebook, self._layout / RECORD, self.parameters,
                directory=self._directory, limits=self._task.limits, heard=self._hear,
                readable=tuple(map(Path, self._task.readable)),
            )  # fmt: skip
            return found_results(self._directory)
        except SciagentError as error:
            return Made(status="failed", error=error_record(error))

    def _hear(self, progress: CellProgress) -> None:
        self._heard(progress)
        if progress.status != "running":
            text = f"Cell {progress.cell} of {progress.cells}: {progress.status}."
            self._journal.append(Noted(text=text))

    def _environment(self) -> Environment:
        return Environment(
            sciagent=version("sciagent"),
            python=platform.python_version(),
            platform=platform.platform(),
            cpu_count=os.cpu_count() or 1,
            packages=_versions(_PACKAGES),
            code_sha256=sha256_of_file(self._notebook),
            threads=self._task.threads,
            seed=self._task.seed,
            sandbox=_sandbox_of(self._layout / RECORD),
        )


def recorded_limits(layout: Layout) -> NotebookLimits:
    """Bounds that a notebook was run with before, as its journal tells; none if it did not run."""
    for event in read_events(layout.journal):
        body = event.body
        if isinstance(body, EffectStarted) and body.tool == NOTEBOOK_TOOL:
            return NotebookLimits.model_validate(body.arguments.get("limits", {}))
    return NotebookLimits()


def found_results(directory: Path) -> Made:
    """Read what a notebook found, from the folder that it worked in.

    Returns
    -------
    Made
        ``completed``, or the status of the run that it made; and its metrics.

    Raises
    ------
    InputError
        If it wrote a `results.json` that does not hold named numbers.
    """
    if (directory / RESULTS).is_file():
        return Made(status="completed", metrics=_read_results(directory / RESULTS))
    runs = nested_runs(directory)
    if len(runs) != 1:
        return Made(status="completed")
    metrics: dict[str, Quantity] = {}
    for study in load_studies(runs[0])[:1]:
        number = study.conclusion.best if study.conclusion else study.best
        best = next((trial for trial in study.trials if trial.number == number), None)
        metrics = dict(best.outcome.metrics) if best and best.outcome else {}
    summary = summarise(runs[0])
    objective = summary.objective.metric if summary.objective else ""
    return Made(status=summary.status, metrics=metrics, objective=objective)


def nested_runs(directory: Path) -> list[Path]:
    """Find the runs that a notebook made below the folder that it worked in.

    Hidden folders are passed over, and so are journals of other software and the runs that
    such a run made itself.
    """
    found: list[Path] = []
    for journal in sorted(directory.rglob(JOURNAL), key=lambda each: (len(each.parts), each)):
        folder = journal.parent
        hidden = any(part.startswith(".") for part in folder.relative_to(directory).parts)
        if not hidden and not any(run in folder.parents for run in found) and _is_run(folder):
            found.append(folder)
    return found


def _is_run(folder: Path) -> bool:
    try:
        open_workspace(folder)
    except SciagentError:
        return False
    return True


def _read_results(path: Path) -> dict[str, Quantity]:
    try:
        found = _RESULTS.validate_json(path.read_bytes())
        return {
            name: value if isinstance(value, Quantity) else Quantity(value=value, unit="1")
            for name, value in found.items()
        }
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        raise InputError(
            f"The notebook wrote a {RESULTS} that cannot be used: {reason}.",
            'Write names with numbers, or with {"value": 1.5, "unit": "s"}.',
        ) from error


def _versions(names: Sequence[str]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _sandbox_of(record: Path) -> str:
    """How the kernel was confined, as the executed notebook tells."""
    try:
        about = json.loads(record.read_text(encoding="utf-8"))["metadata"]["sciagent"]
        return str(about["execution"]["sandbox"])
    except (OSError, ValueError, KeyError, TypeError):
        return "no kernel was started"


def write_results(layout: Layout, made: Made) -> None:
    """Write the numbers that a notebook found, with their units, where claims read them."""
    found = {
        name: quantity.model_dump(mode="json", exclude_none=True)
        for name, quantity in made.metrics.items()
    }
    write_atomic(layout / RESULTS, json.dumps(found, indent=1) + "\n")

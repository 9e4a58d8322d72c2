"""Runs a workflow notebook in a workspace of its own: a `Carrier` of campaigns.

The kernel works in `files/` of the workspace. What the notebook found is read from there: from
`results.json` (names with numbers, or with ``{"value", "unit"}``) if the notebook wrote one, else
from the run that it made with sciagent.
"""

import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from sciagent.contracts.errors import ErrorRecord, InputError, SciagentError, error_record
from sciagent.contracts.events import EffectFinished, EffectStarted, Noted, OwnerStarted
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.run import Environment, RunRequest
from sciagent.execution.attempts import AttemptTask, Made
from sciagent.execution.ledger import Attempt, AttemptProgress
from sciagent.execution.notebook import UNSANDBOXED
from sciagent.execution.papermill_engine import CellProgress, run_with_papermill
from sciagent.workspace.activity import NOTEBOOK_TOOL
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.content import sha256_of_file
from sciagent.workspace.crate import write_crate
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import ENVIRONMENT, JOURNAL, RECORD, REPORT_MARKDOWN, Layout
from sciagent.workspace.lock import OwnerLock
from sciagent.workspace.record import load_studies, summarise
from sciagent.workspace.seal import seal
from sciagent.workspace.workspace import create_workspace, input_paths, read_request

WORKFLOW = "workflow"
"""Name of the notebook among the inputs, and first word of what stands for its question."""
FILES = "files"
RESULTS = "results.json"
_PACKAGES = ("ipykernel", "nbclient", "numpy", "papermill", "scipy")
_RESULTS: TypeAdapter[dict[str, float | Quantity]] = TypeAdapter(dict[str, float | Quantity])


def run_workflow(task: AttemptTask, attempt: Attempt) -> Made:
    """Run a notebook with the parameters of a row, and seal the workspace, however it ended.

    Parameters
    ----------
    task
        The row; its `source` is the path of the notebook.
    attempt
        Where the workspace is made, and who is told of each cell.
    """
    notebook = Path(task.source)
    files = {name: tuple(map(Path, paths)) for name, paths in task.paths.items()}
    request = RunRequest(
        question=f"{WORKFLOW}/{notebook.stem}", settings=task.parameters, seed=task.seed,
        threads=task.threads,
    )  # fmt: skip
    inputs = {WORKFLOW: (notebook,), **files}
    layout = create_workspace(attempt.directory, request, inputs, slug=notebook.stem)
    with OwnerLock(layout) as lock, JournalFile.open(layout.journal) as journal:
        journal.append(OwnerStarted(owner=lock.owner, recovered=journal.recovered))
        made = _Workflow(layout, task, attempt, journal).run()
        write_crate(layout.root)
        seal(journal, layout.root, made.status)
    return made.model_copy(update={"workspace": layout.root.name})


class _Workflow:
    """A notebook while it is run in its workspace."""

    def __init__(
        self, layout: Layout, task: AttemptTask, attempt: Attempt, journal: JournalFile
    ) -> None:
        self._layout = layout
        self._task = task
        self._attempt = attempt
        self._journal = journal
        self._directory = layout / FILES
        self._directory.mkdir()
        self._inputs = input_paths(layout, read_request(layout))
        self._notebook = self._inputs.pop(WORKFLOW)[0]

    def run(self) -> Made:
        """Run it and write what belongs to its workspace."""
        write_atomic(self._layout / ENVIRONMENT, self._environment().model_dump_json(indent=1))
        arguments: dict[str, JsonValue] = {
            "notebook": self._notebook.relative_to(self._layout.root).as_posix(),
            "output": RECORD,
            "parameters": self._parameters(),
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
        report = _report(self._notebook.name, self._parameters(), made)
        write_atomic(self._layout / REPORT_MARKDOWN, report)
        return made

    def _executed(self) -> Made:
        try:
            run_with_papermill(
                self._notebook, self._layout / RECORD, self._parameters(),
                directory=self._directory, limits=self._task.limits, heard=self._hear,
            )  # fmt: skip
            return found_results(self._directory)
        except SciagentError as error:
            return Made(status="failed", error=error_record(error))

    def _hear(self, progress: CellProgress) -> None:
        self._attempt.tell(AttemptProgress(cell=progress.cell, cells=progress.cells))
        if progress.status != "running":
            text = f"Cell {progress.cell} of {progress.cells}: {progress.status}."
            self._journal.append_unwaited(Noted(text=text))

    def _parameters(self) -> dict[str, Any]:
        """Parameters of the notebook; files are named as they are found from where it works."""
        named: dict[str, Any] = dict(self._task.parameters)
        for name, paths in self._inputs.items():
            relative = [os.path.relpath(path, self._directory) for path in paths]
            named[name] = relative[0] if len(relative) == 1 else relative
        return named

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
            sandbox=UNSANDBOXED,
        )


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
    runs = sorted(path.parent for path in directory.rglob(JOURNAL))
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


def _report(name: str, parameters: dict[str, Any], made: Made) -> str:
    lines = [f"# {name}", "", f"Status: {made.status}.", ""]
    lines += _error_lines(made.error)
    lines += ["## Parameters", "", "```json", json.dumps(parameters, indent=1), "```", ""]
    if made.metrics:
        lines += ["## Results", "", "| quantity | value | unit |", "| --- | --- | --- |"]
        lines += [
            f"| {key} | {each.value:.6g} | {each.unit} |" for key, each in made.metrics.items()
        ]
        lines.append("")
    return "\n".join([*lines, f"All cells with their outputs stand in `{RECORD}`.", ""])


def _error_lines(error: ErrorRecord | None) -> list[str]:
    if error is None:
        return []
    return [f"It failed ({error.kind}). {error.message} {error.remedy}".rstrip(), ""]

"""Runs of workflow notebooks: of their own, as rows of campaigns, and again."""

import ast
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.events import Noted
from sciagent.contracts.ports import Observer
from sciagent.contracts.run import WORKFLOW
from sciagent.execution.attempts import AttemptTask, Made
from sciagent.execution.ledger import Attempt, AttemptProgress
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.execution.papermill_engine import CellProgress, run_with_papermill
from sciagent.execution.workflow import (
    FILES,
    Workflow,
    found_results,
    recorded_limits,
    workflow_request,
    write_results,
)
from sciagent.runs.given import Files, listed_files
from sciagent.runs.opened import Run, open_run
from sciagent.runs.ownership import owned, tell_beginning
from sciagent.runs.workflow_report import publish_workflow
from sciagent.workspace.layout import DATA, RECORD, Layout
from sciagent.workspace.seal import is_sealed
from sciagent.workspace.workspace import create_workspace, input_paths, open_workspace, read_request


def run_workflow(task: AttemptTask, attempt: Attempt) -> Made:
    """Run a notebook with the parameters of a row: a `Carrier` of campaigns.

    The workspace is published and sealed, however the notebook ended.

    Parameters
    ----------
    task
        The row; its `source` is the path of the notebook.
    attempt
        Where the workspace is made, and who is told of each cell.
    """

    def heard(progress: CellProgress) -> None:
        attempt.tell(AttemptProgress(cell=progress.cell, cells=progress.cells))

    layout = _made(task, attempt.directory)
    return _executed(layout, task, heard, None)


def run_notebook(  # noqa: PLR0913 - all that a notebook can be asked, by keyword
    path: str | Path,
    *,
    parameters: Mapping[str, JsonValue] | None = None,
    inputs: Files | None = None,
    out: str | Path = "artifacts",
    limits: NotebookLimits | None = None,
    readable: Sequence[str | Path] = (),
    observer: Observer | None = None,
) -> Run:
    """Run a workflow notebook and leave a workspace with a verified report.

    The kernel works in the sandbox, in `files/` of the workspace.

    Parameters
    ----------
    path
        The notebook.
    parameters
        Values for its cell tagged ``parameters``.
    inputs
        Files by the parameter that names them; they are copied into `data/`.
    out
        Folder in which the workspace is made.
    limits
        Bounds of time and memory.
    readable
        Folders and files that it may read besides.
    observer
        Is told each event of the journal.

    Raises
    ------
    InputError
        If there is no such notebook, it has no such parameter, or a file cannot be used; no
        workspace is made then.
    """
    notebook = Path(path)
    given, files = dict(parameters or {}), listed_files(inputs or {})
    _check_parameters(notebook, (*given, *files))
    task = AttemptTask(
        campaign=str(out), row="", carrier="", source=str(notebook), parameters=given,
        paths={name: tuple(map(str, paths)) for name, paths in files.items()},
        limits=limits or NotebookLimits(),
        readable=tuple(str(Path(each).resolve()) for each in readable),
    )  # fmt: skip
    layout = _made(task, Path(out))
    tell_beginning(layout, observer)
    _executed(layout, task, _nobody, observer)
    return open_run(layout.root)


def resume_workflow(path: str | Path, observer: Observer | None = None) -> Run:
    """Run the notebook of an interrupted run again, from its beginning.

    A kernel's variables die with it, so that a notebook cannot go on where it was.
    """
    layout = open_workspace(Path(path))
    if is_sealed(layout.root):
        return open_run(layout.root)
    task = _task_of(layout)
    shutil.rmtree(layout / FILES, ignore_errors=True)
    _executed(layout, task, _nobody, observer, again=True)
    return open_run(layout.root)


def execute_again(workspace: Layout, output: Layout) -> None:
    """Execute the notebook of a finished run again, into a folder laid out as its workspace.

    Raises
    ------
    InputError
        If a cell fails.
    LimitError, ResourceError
        If it takes too long, or too much memory.
    """
    task = _task_of(workspace)
    output.root.mkdir(parents=True, exist_ok=True)
    shutil.copytree(workspace.root / DATA, output.root / DATA, dirs_exist_ok=True)
    directory = output / FILES
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    inputs = input_paths(output, read_request(workspace))
    notebook = inputs.pop(WORKFLOW)[0]
    relative = {name: [f"../{p.relative_to(output.root)}" for p in paths]
                for name, paths in inputs.items()}  # fmt: skip
    named = {name: paths[0] if len(paths) == 1 else paths for name, paths in relative.items()}
    run_with_papermill(
        notebook, output / RECORD, {**task.parameters, **named}, directory=directory,
        limits=task.limits, readable=tuple(map(Path, task.readable)),
    )  # fmt: skip
    write_results(output, found_results(directory))


def _made(task: AttemptTask, out: Path) -> Layout:
    notebook = Path(task.source)
    files = {name: tuple(map(Path, paths)) for name, paths in task.paths.items()}
    inputs = {WORKFLOW: (notebook,), **files}
    return create_workspace(out, workflow_request(task), inputs, slug=notebook.stem)


def _executed(
    layout: Layout,
    task: AttemptTask,
    heard: Callable[[CellProgress], None],
    observer: Observer | None,
    *,
    again: bool = False,
) -> Made:
    request = read_request(layout)
    with owned(layout, request, observer) as mine:
        if again:
            text = "A notebook cannot go on in its middle: it is run again from its beginning."
            mine.journal.append(Noted(text=text))
        workflow = Workflow(layout, task, mine.journal, heard)
        made = workflow.run()
        publish_workflow(layout, task, made, workflow.parameters, mine.journal)
    return made.model_copy(update={"workspace": layout.root.name})


def _task_of(layout: Layout) -> AttemptTask:
    request = read_request(layout)
    if not request.is_workflow:
        raise InputError(f"{layout.root.name} is no run of a notebook.", "Name one that is.")
    notebook = input_paths(layout, request)[WORKFLOW][0]
    return AttemptTask(
        campaign=str(layout.root), row="", carrier="", source=str(notebook),
        parameters=request.settings, seed=request.seed, threads=request.threads,
        limits=recorded_limits(layout), readable=request.readable,
    )  # fmt: skip


def _check_parameters(notebook: Path, names: Sequence[str]) -> None:
    if not notebook.is_file():
        raise InputError(f"There is no notebook {notebook}.", "Check its path.")
    known = _parameters_of(notebook)
    for name in names:
        if known is not None and name not in known:
            raise UnknownNameError.among("parameter", name, known)


def _parameters_of(notebook: Path) -> set[str] | None:
    """Names that the cell tagged ``parameters`` sets; None if that cell is no plain Python."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        sources = [
            "".join(cell["source"])
            for cell in cells
            if "parameters" in cell["metadata"].get("tags", ())
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{notebook} is no notebook.", "Give an .ipynb file.") from error
    try:
        statements = [each for source in sources for each in ast.parse(source).body]
    except SyntaxError:
        return None
    targets = [
        target
        for each in statements
        if isinstance(each, ast.Assign | ast.AnnAssign)
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
    ]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _nobody(_progress: CellProgress) -> None:
    """Hear of a cell; the journal tells it."""

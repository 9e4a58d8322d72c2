"""Makes and opens the folder of a run."""

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.contracts.events import RunStarted
from sciagent.contracts.run import RunRequest
from sciagent.workspace.atomic import storage_error, sync_folder
from sciagent.workspace.content import artifact_of, copy_file
from sciagent.workspace.identity import new_run_name
from sciagent.workspace.journal import JournalFile, read_start
from sciagent.workspace.layout import CLAIMS, ENVIRONMENT, STUDY, VERIFICATION, Layout
from sciagent.workspace.schema import refuse_newer

BEING_MADE = ".being-made-"
"""A folder whose name begins with this was left by a process that died while making it."""

_VERSIONED = (STUDY, CLAIMS, VERIFICATION, ENVIRONMENT)


def create_workspace(
    out: Path, request: RunRequest, inputs: Mapping[str, Sequence[Path]], *, slug: str = ""
) -> Layout:
    """Make the folder of a run below `out`, with copies of its inputs and a begun journal.

    All is made in a hidden folder beside it, which is renamed at the end: the workspace is
    there whole or not at all.

    Parameters
    ----------
    out
        Folder in which the workspace is made; it is made too if it is missing.
    request
        What is asked; its `inputs` are replaced by the copies.
    inputs
        Files by the name of the input.
    slug
        Middle of the folder's name; the dataset or the question if empty.

    Returns
    -------
    Layout
        The new workspace. Take its lock, then open its journal.

    Raises
    ------
    InputError
        If an input is no readable file, or `out` cannot be written.
    ResourceError
        If the disk is full.
    """
    for name, paths in inputs.items():
        for path in paths:
            _require_file(name, path)
    now = datetime.now(UTC)
    name = new_run_name(slug or request.dataset or request.question.partition("/")[2], now)
    hidden = out / f"{BEING_MADE}{name}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        hidden.mkdir()
    except OSError as error:
        raise storage_error(error, f"no workspace can be made in {out}") from error
    try:
        _fill(Layout(hidden), name, request, inputs)
        hidden.rename(out / name)
        sync_folder(out)
    except OSError as error:
        raise storage_error(error, f"no workspace can be made in {out}") from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return Layout(out / name)


def _require_file(name: str, path: Path) -> None:
    if not path.exists():
        raise InputError(f"The file given as {name!r} does not exist: {path}.", "Check its path.")
    if not path.is_file():
        raise InputError(f"What is given as {name!r} is no file: {path}.", "Give a file.")
    if not os.access(path, os.R_OK):
        raise InputError(
            f"The file given as {name!r} cannot be read: {path}.", "Check its permissions."
        )


def _fill(
    layout: Layout, name: str, request: RunRequest, inputs: Mapping[str, Sequence[Path]]
) -> None:
    layout.inbox.mkdir()
    copies = {
        input_: tuple(_copied(layout, input_, path) for path in paths)
        for input_, paths in inputs.items()
    }
    body = RunStarted(run=name, request=request.model_copy(update={"inputs": copies}))
    with JournalFile.create(layout.journal) as journal:
        journal.append(body)


def _copied(layout: Layout, input_: str, path: Path) -> Artifact:
    target = _free_path(layout.data / input_ / path.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_file(path, target)
    return artifact_of(target, layout.root)


def _free_path(path: Path) -> Path:
    """Give a path that is not taken: `name-2.cif`, `name-3.cif` and so on if `name.cif` is."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate


def open_workspace(path: Path) -> Layout:
    """Open a workspace for reading.

    Raises
    ------
    WorkspaceError
        If the folder is no workspace, or a newer version wrote any of its files.
    """
    layout = Layout(path)
    if not path.is_dir() or not layout.journal.is_file():
        raise WorkspaceError(
            f"{path} is not the folder of a run: it holds no journal.",
            "Give a folder that `sciagent run` made; `sciagent list` names them.",
        )
    read_start(layout.journal)
    for name in _VERSIONED:
        if (path / name).is_file():
            refuse_newer(path / name, (path / name).read_bytes())
    return layout


def read_request(layout: Layout) -> RunRequest:
    """Read what the run was asked for, from the first event of its journal."""
    return read_start(layout.journal).body.request


def input_paths(layout: Layout, request: RunRequest) -> dict[str, tuple[Path, ...]]:
    """Tell where the copies of the inputs lie, by the name of the input."""
    return {
        name: tuple(layout.root / artifact.path for artifact in artifacts)
        for name, artifacts in request.inputs.items()
    }

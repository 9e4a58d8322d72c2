"""A finished workspace as one file to hand on."""

import zipfile
from pathlib import Path

from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.workspace.layout import INBOX, LOCK
from sciagent.workspace.seal import is_sealed
from sciagent.workspace.workspace import open_workspace


def export(path: str | Path, target: str | Path | None = None) -> Path:
    """Pack a finished run as a zip archive that is an RO-Crate.

    Parameters
    ----------
    path
        The run.
    target
        The archive to write; beside the run, under its name, if none is given.

    Raises
    ------
    WorkspaceError
        If the run is not finished.
    InputError
        If the archive exists already.
    """
    root = open_workspace(Path(path)).root
    if not is_sealed(root):
        raise WorkspaceError(
            f"The run {root.name} is not finished.", f"Finish it with `sciagent resume {path}`."
        )
    archive = Path(target) if target is not None else root.with_name(f"{root.name}.zip")
    if archive.exists():
        raise InputError(f"{archive} exists already.", "Remove it or name another file.")
    temporary = archive.with_name(f".{archive.name}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as pack:
            for file in sorted(root.rglob("*")):
                relative = file.relative_to(root)
                if file.is_file() and relative.parts[0] not in {LOCK, INBOX}:
                    pack.write(file, f"{root.name}/{relative.as_posix()}")
        temporary.replace(archive)
    finally:
        temporary.unlink(missing_ok=True)
    return archive

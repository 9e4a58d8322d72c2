"""A finished workspace as one file to hand on, and the works that its report cites."""

import zipfile
from pathlib import Path

from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.literature.bibliography.bibtex import bibtex
from sciagent.literature.bibliography.csl import csl_json
from sciagent.literature.bibliography.styles import formatted_references
from sciagent.reports.assemble import read_claims
from sciagent.reports.references import References
from sciagent.workspace.atomic import write_atomic
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
    _require_new(archive)
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


def export_bibliography(path: str | Path, form: str, target: str | Path | None = None) -> str:
    """Write the works that the report of a run cites, in the order in which it cites them.

    Parameters
    ----------
    path
        The run.
    form
        ``bibtex``, ``csl-json``, the name of a style, or path of a ``.csl`` file. A style may sort
        the works otherwise.
    target
        The file to write; none if none is given.

    Returns
    -------
    str
        The bibliography.

    Raises
    ------
    InputError
        If there is no report, it cites nothing, there is no such style, or the file exists
        already.
    """
    root = open_workspace(Path(path)).root
    works = [entry.work for entry in References(read_claims(root)).entries]
    if not works:
        raise InputError(f"The report of {root.name} cites no works.")
    if form == "bibtex":
        text = bibtex(works)
    elif form == "csl-json":
        text = csl_json(works)
    else:
        text = "\n\n".join(formatted_references(works, form)) + "\n"
    if target is not None:
        _require_new(Path(target))
        write_atomic(Path(target), text)
    return text


def _require_new(file: Path) -> None:
    if file.exists():
        raise InputError(f"{file} exists already.", "Remove it or name another file.")

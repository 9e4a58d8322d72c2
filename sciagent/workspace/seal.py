"""The seal: the last event of a finished run lists every file, and the check against it."""

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.claim import Finding
from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.events import Event, Sealed
from sciagent.contracts.run import RunStatus
from sciagent.workspace.atomic import is_leftover, storage_error
from sciagent.workspace.chain import verify_chain
from sciagent.workspace.content import artifact_of
from sciagent.workspace.journal import JournalFile, tail
from sciagent.workspace.layout import INBOX, JOURNAL, LOCK, MUTABLE_AFTER_SEAL

_NOT_LISTED = MUTABLE_AFTER_SEAL | {JOURNAL, LOCK}


def _paths(root: Path, folder: Path, apart: Sequence[str] = ()) -> Iterator[tuple[str, Path]]:
    """Walk all that is no folder, in order of the relative path; links are not followed."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if path.relative_to(root).as_posix() not in apart:
                yield from _paths(root, path, apart)
        else:
            yield path.relative_to(root).as_posix(), path


def _is_listed(name: str, path: Path) -> bool:
    """Whether the seal answers for a file; commands in the inbox come and go."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return True
    folder, _, rest = name.partition("/")
    return name not in _NOT_LISTED and not (folder == INBOX and rest and "/" not in rest)


def files_of(root: Path, apart: Sequence[str] = ()) -> tuple[Artifact, ...]:
    """List every file that a seal answers for, with its hash, in order of path.

    Raises
    ------
    WorkspaceError
        If there is a symbolic link, socket or other thing that is no file: what it holds cannot
        be sealed.
    """
    listed = [(name, path) for name, path in _paths(root, root, apart) if _is_listed(name, path)]
    strange = [name for name, path in listed if not stat.S_ISREG(path.lstat().st_mode)]
    if strange:
        raise WorkspaceError(
            f"The workspace {root} holds what is no plain file: {', '.join(strange)}.",
            "Replace links by copies of what they point at.",
        )
    return tuple(artifact_of(path, root) for _, path in sorted(listed))


def seal(journal: JournalFile, root: Path, status: RunStatus, apart: tuple[str, ...] = ()) -> Event:
    """Finish a run: its last event lists every file.

    What killed writers left under temporary names is removed first. Folders named in `apart` are
    left out.

    Raises
    ------
    WorkspaceError
        If the workspace holds a symbolic link.
    ResourceError
        If the disk is full; the run is then not sealed.
    """
    try:
        for _, path in list(_paths(root, root, apart)):
            if is_leftover(path) and not path.is_symlink():
                path.unlink()
        files = files_of(root, apart)
    except OSError as error:
        raise storage_error(error, f"the files of {root} cannot be listed") from error
    return journal.append(Sealed(status=status, files=files, apart=apart))


def is_sealed(root: Path) -> bool:
    """Whether the last event of a workspace's journal is a seal."""
    last = tail(root / JOURNAL, 1)
    return bool(last) and isinstance(last[0].body, Sealed)


def check_seal(root: Path) -> list[Finding]:
    """Compare a workspace with its latest seal.

    Returns
    -------
    list of Finding
        Every changed, missing or added file by its path, and every wrong line of the journal by
        its number; empty if nothing was touched since the seal.
    """
    journal = root / JOURNAL
    if journal.is_symlink() or not journal.is_file():
        return [Finding(path=JOURNAL, problem="missing", detail="There is no journal file.")]
    findings = verify_chain(journal)
    try:
        last = tail(journal, 1)
    except WorkspaceError as error:
        unreadable = Finding(path=JOURNAL, problem="unsealed", detail=error.message)
        return [*findings, unreadable]
    if not last or not isinstance(last[0].body, Sealed):
        return [*findings, _unsealed(last)]
    return findings + _compare(root, last[0].body)


def _unsealed(last: list[Event]) -> Finding:
    ending = f"event {last[0].sequence} ({last[0].kind})" if last else "nothing"
    return Finding(
        path=JOURNAL, problem="unsealed",
        detail=f"The journal does not end with a seal: its last event is {ending}.",
    )  # fmt: skip


def _compare(root: Path, seal: Sealed) -> list[Finding]:
    findings = []
    sealed = {each.path: each for each in seal.files}
    paths = _paths(root, root, seal.apart)
    present = {name: path for name, path in paths if _is_listed(name, path)}
    for name in sorted(sealed.keys() | present.keys()):
        if name not in present:
            findings.append(
                Finding(path=name, problem="missing", detail="The seal lists it; it is gone.")
            )
        elif not stat.S_ISREG(present[name].lstat().st_mode):
            findings.append(
                Finding(path=name, problem="added", detail="It is a link or no plain file.")
            )
        elif name not in sealed:
            findings.append(
                Finding(path=name, problem="added", detail="The seal does not list it.")
            )
        elif (found := artifact_of(present[name], root)).sha256 != sealed[name].sha256:
            detail = f"Its SHA-256 is {found.sha256[:12]}…, sealed was {sealed[name].sha256[:12]}…."
            findings.append(Finding(path=name, problem="changed", detail=detail))
    return findings

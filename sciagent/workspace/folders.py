"""Folders of the user that a run may change: it works on copies, and people accept file by file."""

import difflib
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.contracts.events import Event, FolderCopied
from sciagent.workspace.atomic import storage_error, write_atomic
from sciagent.workspace.content import copy_file, sha256_of_file
from sciagent.workspace.layout import DATA, Layout

FOLDERS = f"{DATA}/folders"
"""Where the copies lie."""

_LARGEST_BYTES = 500_000_000
_SKIPPED = frozenset({".git", "__pycache__", ".ipynb_checkpoints"})
_LONGEST_TEXT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a run did to a file of the user's, in its copy.

    Attributes
    ----------
    path
        Of the copy, relative to the workspace.
    source
        The user's file.
    change
        What was done.
    original_sha256
        Of the file when it was copied; empty if it was not there.
    sha256
        Of the copy as it is now; empty if it was removed.
    """

    path: str
    source: Path
    change: Literal["added", "changed", "removed"]
    original_sha256: str
    sha256: str

    @property
    def is_untouched_by_user(self) -> bool:
        """Whether the user's own file still is as it was when it was copied."""
        return _sha256(self.source) == self.original_sha256

    @property
    def is_taken_over(self) -> bool:
        """Whether the user's own file is as the copy is."""
        return _sha256(self.source) == self.sha256


def copy_folder(layout: Layout, source: Path) -> FolderCopied:
    """Copy a folder of the user into the workspace.

    Links and what version control and caches keep are left out.

    Raises
    ------
    InputError
        If it is no folder, is too large or too much to hand over, or was copied already.
    ResourceError
        If the disk is full.
    """
    require_folder(source, layout.root)
    source = source.resolve()
    target = layout / FOLDERS / source.name
    if target.exists():
        raise InputError(
            f"There is a copy of a folder {source.name} in the run already.",
            "Rename the folder, or leave the option out.",
        )
    files = list(files_below(source))
    try:
        hashes = dict(_copied(source, target, files))
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise storage_error(error, f"the folder {source} cannot be copied") from error
    place = target.relative_to(layout.root).as_posix()
    return FolderCopied(source=str(source), path=place, files=hashes)


def copied_folders(events: Iterable[Event]) -> Iterator[FolderCopied]:
    """Folders of the user that were copied, as a journal tells."""
    return (event.body for event in events if isinstance(event.body, FolderCopied))


def require_folder(source: Path, workspace: Path) -> None:
    """Refuse a folder that cannot be handed to a run.

    Parameters
    ----------
    source
        The user's folder.
    workspace
        Where the run is, or will be made.

    Raises
    ------
    InputError
        If it is no folder, holds the home folder or the run, or is too large.
    """
    if not source.is_dir():
        raise InputError(f"There is no folder {source}.", "Give a folder that exists.")
    resolved, root = source.resolve(), workspace.resolve()
    home = Path.home().resolve()
    if resolved == home or resolved in (*home.parents, root, *root.parents):
        raise InputError(
            f"The folder {source} is too much to hand to an agent: it holds your home or the run.",
            "Give the folder of one project.",
        )
    size_bytes = sum(path.stat().st_size for path in files_below(resolved))
    if size_bytes > _LARGEST_BYTES:
        raise InputError(
            f"The folder {source} holds {size_bytes / 1e6:.0f} MB, more than "
            f"{_LARGEST_BYTES / 1e6:.0f} MB.",
            "Let it be read only with --read, or give a smaller folder.",
        )


def files_below(folder: Path) -> Iterator[Path]:
    """All regular files below a folder, in order; links are not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _copied(source: Path, target: Path, files: list[Path]) -> Iterator[tuple[str, str]]:
    target.mkdir(parents=True)
    for path in files:
        relative = path.relative_to(source)
        copy = target / relative
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy_file(path, copy)
        yield relative.as_posix(), sha256_of_file(copy)


def changes_of(root: Path, copied: FolderCopied) -> Iterator[FileChange]:
    """Compare the copy of a folder with what was copied, file by file in order of their names."""
    target, source = root / copied.path, Path(copied.source)
    now = {path.relative_to(target).as_posix(): path for path in files_below(target)}
    for name in sorted({*now, *copied.files}):
        before = copied.files.get(name, "")
        after = sha256_of_file(now[name]) if name in now else ""
        if before != after:
            yield FileChange(
                path=f"{copied.path}/{name}", source=source / name,
                change="changed" if before and after else "added" if after else "removed",
                original_sha256=before, sha256=after,
            )  # fmt: skip


def text_difference(root: Path, change: FileChange) -> str:
    """Write a change line by line; empty for files that are no text, are large, or are gone."""
    before = _text(change.source) if change.original_sha256 else ""
    after = _text(root / change.path) if change.sha256 else ""
    if before is None or after is None or not change.is_untouched_by_user:
        return ""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True),
        fromfile=str(change.source), tofile=change.path,
    )  # fmt: skip
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _text(path: Path) -> str | None:
    try:
        if path.stat().st_size > _LONGEST_TEXT_BYTES:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def accept(root: Path, change: FileChange, *, force: bool = False) -> None:
    """Do to the user's file what the run did to its copy.

    Raises
    ------
    WorkspaceError
        If the user has changed the file meanwhile, and `force` is not given.
    ResourceError
        If the disk is full; the user's file is then as it was.
    """
    if not force and not change.is_untouched_by_user:
        raise WorkspaceError(
            f"{change.source} was changed since it was copied, and is left as it is.",
            "Look at both, then accept with --force, or revert.",
        )
    try:
        if change.sha256:
            write_atomic(change.source, (root / change.path).read_bytes())
        else:
            change.source.unlink(missing_ok=True)
    except OSError as error:
        raise storage_error(error, f"{change.source} cannot be written") from error


def revert(root: Path, change: FileChange) -> None:
    """Make the copy of a file again as it was.

    Raises
    ------
    WorkspaceError
        If the user's file is not as it was, so that there is nothing to restore it from.
    """
    copy = root / change.path
    if not change.original_sha256:
        copy.unlink(missing_ok=True)
        return
    if not change.is_untouched_by_user:
        raise WorkspaceError(
            f"{change.source} was changed since it was copied, so that {change.path} cannot be "
            "restored from it.",
            "Restore your file first.",
        )
    write_atomic(copy, change.source.read_bytes())


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""

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
from sciagent.workspace.atomic import storage_error
from sciagent.workspace.beneath import (
    opened_beneath,
    read_beneath,
    remove_beneath,
    write_beneath,
)
from sciagent.workspace.content import copy_file, sha256_of_file
from sciagent.workspace.layout import DATA, Layout

FOLDERS = f"{DATA}/folders"
"""Where the copies lie."""

_LARGEST_BYTES = 500_000_000
_SKIPPED = frozenset({".git", "__pycache__", ".ipynb_checkpoints"})
_LONGEST_TEXT_BYTES = 1_000_000
_MOST_LINES = 5_000
_MOST_LINES_SHOWN = 400
_UNREADABLE = "unreadable"
"""In place of a hash: what is there is no regular file, lies behind a link, or is denied."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a run did to a file of the user's, in its copy.

    Attributes
    ----------
    path
        Of the copy, relative to the workspace.
    folder
        The user's folder.
    name
        Of the user's file in it.
    change
        What was done.
    original_sha256
        Of the file when it was copied; empty if it was not there.
    sha256
        Of the copy as it is now; empty if it was removed.
    """

    path: str
    folder: Path
    name: str
    change: Literal["added", "changed", "removed"]
    original_sha256: str
    sha256: str

    @property
    def source(self) -> Path:
        """The user's file."""
        return self.folder / self.name

    @property
    def is_untouched_by_user(self) -> bool:
        """Whether the user's own file still is as it was when it was copied."""
        return _sha256(self.folder, self.name) == self.original_sha256

    @property
    def is_taken_over(self) -> bool:
        """Whether the user's own file is as the copy is."""
        return _sha256(self.folder, self.name) == self.sha256


def copy_folder(layout: Layout, source: Path) -> FolderCopied:
    """Copy a folder of the user into the workspace.

    Links and what version control and caches keep are left out.

    Raises
    ------
    InputError
        If it is no folder, is too large or too much to hand over, or was copied already.
    WorkspaceError
        If code has put a link where the copies lie.
    ResourceError
        If the disk is full.
    """
    require_folder(source, layout.root)
    source = source.resolve()
    target = layout / FOLDERS / source.name
    if _is_behind_link(layout.root, FOLDERS):
        raise WorkspaceError(
            f"{FOLDERS} is a link, so that nothing is copied there.", "Remove the link."
        )
    if os.path.lexists(target):
        raise InputError(
            f"There is a copy of a folder {source.name} in the run already.",
            "Rename the folder, or leave the option out.",
        )
    # Under another name until it is whole, so that a copy that was cut off is no obstacle.
    beginning = target.with_name(f".{source.name}.copying")
    shutil.rmtree(beginning, ignore_errors=True)
    try:
        hashes = dict(_copied(source, beginning, list(files_below(source))))
        beginning.rename(target)
    except OSError as error:
        shutil.rmtree(beginning, ignore_errors=True)
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
    """All regular files below a folder, in order; links are not followed.

    What version control and caches keep is left out, under any spelling of its name: nothing
    that an agent writes there could be accepted by mistake.
    """
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name.lower() not in _SKIPPED)
        for name in sorted(names):
            path = Path(place) / name
            is_kept = name.lower() not in _SKIPPED
            if is_kept and path.is_file() and not path.is_symlink():
                yield path


def _copied(source: Path, target: Path, files: list[Path]) -> Iterator[tuple[str, str]]:
    target.mkdir(parents=True)
    for path in files:
        relative = path.relative_to(source)
        copy = target / relative
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy_file(path, copy)
        copy.chmod(_mode(path))
        yield relative.as_posix(), sha256_of_file(copy)


def _mode(path: Path) -> int:
    """Who may read, write and execute a file that is made after another one."""
    return 0o755 if path.stat().st_mode & 0o100 else 0o644


def _is_behind_link(root: Path, path: str) -> bool:
    """Whether a folder below another one, or a folder between them, is a link."""
    parts = Path(path).parts
    return any((root / Path(*parts[: end + 1])).is_symlink() for end in range(len(parts)))


def changes_of(root: Path, copied: FolderCopied) -> Iterator[FileChange]:
    """Compare the copy of a folder with what was copied, file by file in order of their names.

    What code has put behind a link is not there.
    """
    target = root / copied.path
    found = () if _is_behind_link(root, copied.path) else files_below(target)
    now = {path.relative_to(target).as_posix() for path in found}
    for name in sorted({*now, *copied.files}):
        before = copied.files.get(name, "")
        path = f"{copied.path}/{name}"
        after = _sha256(root, path) if name in now else ""
        if before != after:
            yield FileChange(
                path=path, folder=Path(copied.source), name=name,
                change="changed" if before and after else "added" if after else "removed",
                original_sha256=before, sha256=after,
            )  # fmt: skip


def text_difference(root: Path, change: FileChange) -> str:
    """Write a change line by line; empty for files that are no text, are large, or are gone."""
    before = _lines(change.folder, change.name) if change.original_sha256 else []
    after = _lines(root, change.path) if change.sha256 else []
    if before is None or after is None or not change.is_untouched_by_user:
        return ""
    lines = list(
        difflib.unified_diff(before, after, fromfile=str(change.source), tofile=change.path)
    )
    left_out = len(lines) - _MOST_LINES_SHOWN
    if left_out > 0:
        lines[_MOST_LINES_SHOWN:] = [f"\\ and {left_out} lines more"]
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _lines(folder: Path, name: str) -> list[str] | None:
    try:
        with opened_beneath(folder, name) as descriptor:
            if os.fstat(descriptor).st_size > _LONGEST_TEXT_BYTES:
                return None
        text = read_beneath(folder, name).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    # Finding what changed takes a time that grows with the square of the lines.
    return text.splitlines(keepends=True) if text.count("\n") <= _MOST_LINES else None


def require_acceptable(change: FileChange, *, force: bool = False) -> None:
    """Refuse to accept a change that would harm what is the user's.

    Raises
    ------
    WorkspaceError
        If the user has changed the file meanwhile, and `force` is not given; or if the file lies
        behind a link or is none.
    """
    mine = _sha256(change.folder, change.name)
    if _UNREADABLE in (mine, change.sha256):
        raise WorkspaceError(
            f"{change.source} cannot be replaced: it, or what the run made of it, cannot be read, "
            "is no regular file or lies behind a link.",
            f"Look at {change.path}, and copy by hand what you want of it.",
        )
    if not force and mine != change.original_sha256:
        raise WorkspaceError(
            f"{change.source} was changed since it was copied, and is left as it is.",
            "Look at both, then accept with --force.",
        )


def accept(root: Path, change: FileChange, *, force: bool = False) -> None:
    """Do to the user's file what the run did to its copy; who may execute it stays as it is.

    Raises
    ------
    WorkspaceError
        If the user has changed the file meanwhile, and `force` is not given; or if the file lies
        behind a link; or if code has just changed the copy once more.
    ResourceError
        If the disk is full; the user's file is then as it was.
    """
    require_acceptable(change, force=force)
    try:
        if not change.sha256:
            remove_beneath(change.folder, change.name)
            return
        content = _expected(root, change.path, change.sha256)
        mode = change.source.stat().st_mode & 0o777 if change.source.exists() else 0o644
        write_beneath(change.folder, change.name, content, mode)
    except OSError as error:
        raise storage_error(error, f"{change.source} cannot be written") from error


def revert(root: Path, change: FileChange) -> None:
    """Make the copy of a file again as it was.

    Raises
    ------
    WorkspaceError
        If the user's file is not as it was, so that there is nothing to restore it from; or if
        code has put a link in the way.
    ResourceError
        If the disk is full.
    """
    require_revertible(root, change)
    try:
        if not change.original_sha256:
            remove_beneath(root, change.path)
            return
        content = _expected(change.folder, change.name, change.original_sha256)
        write_beneath(root, change.path, content, _mode(change.source))
    except OSError as error:
        raise storage_error(error, f"{change.path} cannot be restored") from error


def require_revertible(root: Path, change: FileChange) -> None:
    """Refuse to revert a change where that is not possible.

    Raises
    ------
    WorkspaceError
        If the user's file is not as it was, so that there is nothing to restore the copy from; or
        if code has put a link in the way.
    """
    if _is_behind_link(root, str(Path(change.path).parent)):
        raise WorkspaceError(
            f"{change.path} lies behind a link now, and is left as it is.", "Remove the link first."
        )
    if change.original_sha256 and not change.is_untouched_by_user:
        raise WorkspaceError(
            f"{change.source} was changed since it was copied, so that {change.path} cannot be "
            "restored from it.",
            "Restore your file first.",
        )


def _expected(folder: Path, name: str, sha256: str) -> bytes:
    """Read a file that is as it was when it was looked at; others may write it meanwhile."""
    content = read_beneath(folder, name)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise WorkspaceError(
            f"{folder / name} was changed while it was taken over; nothing was done with it.",
            "Look at the change again.",
        )
    return content


def _sha256(folder: Path, name: str) -> str:
    try:
        with (
            opened_beneath(folder, name) as descriptor,
            open(descriptor, "rb", closefd=False) as stream,
        ):
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        return _UNREADABLE

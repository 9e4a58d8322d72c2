"""Paths that a model names, kept inside the workspace."""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from sciagent.contracts.errors import InputError

WRITABLE = "data/files"
"""The one folder that a model writes into; everything else has an owner."""

_NO_LINKS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_LONGEST_PATH = 1_000


def parts_of(path: str) -> tuple[str, ...]:
    """Split a relative path into its parts.

    Raises
    ------
    InputError
        If it is absolute, leads upwards, or is no path.
    """
    remedy = "Give a path relative to the workspace, such as trials/0001/outcome.json."
    if len(path) > _LONGEST_PATH or any(ord(each) < 32 for each in path):
        raise InputError("The path is too long or holds control characters.", remedy)
    if path.startswith(("/", "~", "\\")) or "\\" in path or ":" in path.partition("/")[0]:
        raise InputError(f"{path!r} is not inside the workspace.", remedy)
    parts = PurePosixPath(path).parts
    if ".." in parts:
        raise InputError(f"{path!r} leads out of its folder.", remedy)
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise InputError("The path is not valid Unicode.", remedy) from error
    return parts


@contextmanager
def opened_below(root: Path, path: str) -> Iterator[BinaryIO]:
    """Open a regular file below a folder for reading; no link on the way is followed.

    Each folder is opened from the one above it, so that nothing can be exchanged meanwhile.

    Raises
    ------
    InputError
        If there is no such file, or it or a folder on the way is a link or no regular file.
    """
    with ExitStack() as stack:
        descriptor = _descended(root, parts_of(path), path, stack)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError(f"{path!r} is not a file.", "List its folder with list_files.")
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            yield stream


@contextmanager
def folder_below(root: Path, path: str) -> Iterator[int]:
    """Open a folder below a folder; no link on the way is followed."""
    with ExitStack() as stack:
        descriptor = _descended(root, parts_of(path), path, stack)
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise InputError(f"{path!r} is not a folder.", "Read it with read_file.")
        yield descriptor


def _descended(root: Path, parts: tuple[str, ...], path: str, stack: ExitStack) -> int:
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack.callback(os.close, descriptor)
    for part in parts:
        try:
            descriptor = os.open(part, os.O_RDONLY | _NO_LINKS, dir_fd=descriptor)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(
                f"{path!r} cannot be opened: {part!r}: {reason}.", "Links are not followed."
            ) from error
        stack.callback(os.close, descriptor)
    return descriptor


def writable_path(root: Path, path: str) -> Path:
    """Check a path that a model wants to write.

    Raises
    ------
    InputError
        If it is not below `WRITABLE`, or a folder on the way or the file itself is a link.
    """
    parts = parts_of(path)
    inside = PurePosixPath(*parts).is_relative_to(WRITABLE)
    if not inside or len(parts) <= len(PurePosixPath(WRITABLE).parts):
        raise InputError(
            f"{path!r} cannot be written.", f"Write below {WRITABLE}/, such as {WRITABLE}/a.md."
        )
    place = root
    for part in parts:
        place /= part
        if place.is_symlink() or (place.exists() and not (place.is_dir() or place.is_file())):
            raise InputError(f"{path!r} cannot be written: {part!r} is a link or no file.")
    if place.is_dir():
        raise InputError(f"{path!r} is a folder.", "Name a file in it.")
    return place

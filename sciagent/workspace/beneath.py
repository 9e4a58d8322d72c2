"""Files below a folder in which others write: no link in it leads anywhere else.

Each part of a path is opened by itself and without following links, so that nobody who may write
in the folder can swap a part for a link between a check and its use.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from sciagent.workspace.atomic import write_all

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without blocking, as opening a pipe would wait for its writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened_beneath(root: Path, path: str) -> Iterator[int]:
    """Open a regular file below a folder for reading, and give its descriptor.

    Parameters
    ----------
    root
        The folder; links on the way to it are followed.
    path
        Relative to it, with forward slashes.

    Raises
    ------
    OSError
        If it is not there, is no regular file, or a part of the path is a link.
    """
    with _parent(root, path) as (folder, name):
        descriptor = os.open(name, _FILE, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def read_beneath(root: Path, path: str) -> bytes:
    """Read a regular file below a folder; raises as `opened_beneath` does."""
    with opened_beneath(root, path) as descriptor, open(descriptor, "rb", closefd=False) as stream:
        return stream.read()


def write_beneath(root: Path, path: str, content: bytes, mode: int = 0o644) -> None:
    """Write a file below a folder, whole or not at all, and make its folders.

    Raises
    ------
    OSError
        If it cannot be written, or a part of the path is a link; the file is then as it was.
    """
    with _parent(root, path, make=True) as (folder, name):
        temporary = f".{name}.{os.getpid()}.tmp"
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        descriptor = os.open(temporary, _NEW, 0o600, dir_fd=folder)
        try:
            write_all(descriptor, content)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        finally:
            os.close(descriptor)
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)


def remove_beneath(root: Path, path: str) -> None:
    """Remove a file below a folder, if it is there.

    Raises
    ------
    OSError
        If it cannot be removed, or a part of the path is a link.
    """
    with suppress(FileNotFoundError), _parent(root, path) as (folder, name):
        os.unlink(name, dir_fd=folder)


@contextmanager
def _parent(root: Path, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """Open the folder that holds a file, part by part, and give it with the file's name."""
    *folders, name = PurePosixPath(path).parts
    if ".." in folders or name == ".." or path.startswith("/"):
        raise OSError(f"{path} is not below {root}")
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor, name
    finally:
        os.close(descriptor)

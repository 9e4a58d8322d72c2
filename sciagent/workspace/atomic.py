"""Files that are there whole or not at all, also after a power cut."""

import errno
import os
import re
from pathlib import Path

from sciagent.contracts.errors import InputError, ResourceError, SciagentError

_LEFTOVER = re.compile(r"\..+\.\d+\.tmp")
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name, wait for the disk, and rename it into place.

    Parameters
    ----------
    path
        The file; its folder is made if it is missing.
    content
        Text is written as UTF-8.

    Raises
    ------
    OSError
        If the disk is full or the folder cannot be written; `path` is then as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        # Never through a link that code in the workspace put under this name.
        temporary.unlink(missing_ok=True)
        with temporary.open("xb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_all(descriptor: int, content: bytes) -> None:
    """Write bytes to an open file, however many calls the system needs for it."""
    written = 0
    while written < len(content):
        written += os.write(descriptor, content[written:])


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_leftover(path: Path) -> bool:
    """Whether a file is the temporary one of a `write_atomic` that was killed."""
    return _LEFTOVER.fullmatch(path.name) is not None


def storage_error(error: OSError, what: str) -> SciagentError:
    """Sort a failure of the file system by what can be done about it.

    Parameters
    ----------
    error
        As the operating system reported it.
    what
        What could not be done, such as ``the journal cannot be written``.
    """
    if error.errno in _DISK_FULL:
        return ResourceError(
            f"The disk is full or a file size limit is reached: {what}.",
            "Free some space and go on with `sciagent resume`.",
        )
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return InputError(
            f"Writing is not allowed: {what}.", "Choose a folder that you may write to."
        )
    reason = error.strerror or type(error).__name__
    return ResourceError(
        f"The file system reports {reason!r}: {what}.", "Check the disk and try again."
    )

"""Folders for the sockets of kernels, removed later where their owner was killed.

The name of a folder tells its owner: a process by its identifier and its start, in the
namespace where that identifier counts.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sciagent.execution.process_tree import process_state

PREFIX = "sciagent-kernel-"
_OWNER_PARTS = 3
_LONGEST_BASE = 40
"""Paths of sockets end at 107 characters; the name and what lies in the folder take the rest."""
_SHORT_BASE = "/tmp"  # noqa: S108 - the folder made there can be entered by this user only


@contextlib.contextmanager
def runtime_folder() -> Iterator[Path]:
    """Have a folder that only this user can enter, while the ``with`` block runs."""
    folder = make_runtime_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_runtime_folder() -> Path:
    """Make a folder that only this user can enter, and remove those of dead owners.

    Its path is short enough for sockets to lie in it.
    """
    base = tempfile.gettempdir()
    if len(base) > _LONGEST_BASE and os.access(_SHORT_BASE, os.W_OK):
        base = _SHORT_BASE
    remove_abandoned_folders(Path(base))
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{_owner()}-", dir=base))


def remove_abandoned_folders(base: Path) -> None:
    """Remove the folders of this user whose owner has died.

    Folders that do not tell their owner, or one of another namespace, are left.
    """
    namespace = _namespace()
    for folder in base.glob(f"{PREFIX}*-*-*-*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[:_OWNER_PARTS]
        if owner[0] != namespace or not all(part.isdigit() for part in owner):
            continue
        with contextlib.suppress(OSError):  # another process removes it as well
            if folder.lstat().st_uid == os.geteuid() and _start(int(owner[1])) != owner[2]:
                shutil.rmtree(folder, ignore_errors=True)


def _owner() -> str:
    return f"{_namespace()}-{os.getpid()}-{_start(os.getpid())}"


def _namespace() -> str:
    """Number of the namespace in which process identifiers count; empty where none is told."""
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _start(process: int) -> str:
    """When a process started, in ticks since the system did; empty if it does not run."""
    found = process_state(process)
    return "" if found is None else str(found.start_ticks)

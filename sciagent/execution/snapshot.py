"""Saving the variables of a kernel, so that it can be ended and another go on in its place."""

import errno
import os
import shutil
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from sciagent.contracts.errors import ResourceError
from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in, written
from sciagent.execution.runtime_folder import make_runtime_folder
from sciagent.execution.saved_state import LOADED, MANIFEST
from sciagent.execution.session import KernelSession, Message

_FOLDER = "saved"
_LIMIT_S = 600.0
_MOST_BYTES = 10_000_000
_BYTES_PER_MIB = 1024 * 1024
_SHOWN = 20
_MODULE = "sciagent.execution.saved_state"
_SAVE = f"""
import {_MODULE} as _sciagent_state
_sciagent_state.save(get_ipython().user_ns, {{folder!r}}, get_ipython().execution_count)
del _sciagent_state
"""
_LOAD = f"""
import {_MODULE} as _sciagent_state
get_ipython().execution_count = _sciagent_state.load(get_ipython().user_ns, {{folder!r}})
del _sciagent_state
"""
_LOST: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])


class SnapshotError(ResourceError):
    """The variables of a kernel could not be saved, or not be read back."""

    kind = "resource.snapshot"


class SnapshotManifest(Contract):
    """What the kernel said that it wrote; only what is shown to people is read from it."""

    model_config = ConfigDict(extra="ignore")

    names: int = Field(ge=0)
    size: int = measured_in("B", ge=0)
    lost: dict[str, str]


@dataclass(frozen=True)
class Snapshot:
    """The saved variables of a kernel.

    Attributes
    ----------
    folder
        Where they lie, outside of the workspace.
    names
        How many there are.
    size_mib
        What they take on disk, in MiB.
    lost
        Those that could not be saved, with the reason.
    """

    folder: Path
    names: int
    size_mib: float
    lost: dict[str, str]

    def __str__(self) -> str:
        kept = f"{self.names} {'variable' if self.names == 1 else 'variables'}"
        text = f"{kept} saved ({written(self.size_mib, 'MiBy', 1)})"
        return f"{text}; {lost_in_words(self.lost)}" if self.lost else text

    def remove(self) -> None:
        """Remove its files."""
        shutil.rmtree(self.folder, ignore_errors=True)


def lost_in_words(lost: dict[str, str]) -> str:
    """Name what was lost, each with its reason."""
    named = [f"{name} ({why})" for name, why in sorted(lost.items())[:_SHOWN]]
    more = f" and {len(lost) - _SHOWN} others" if len(lost) > _SHOWN else ""
    return f"lost: {', '.join(named)}{more}"


def save_kernel(session: KernelSession) -> Snapshot:
    """Let a kernel write its variables to files, and take the files.

    Raises
    ------
    SnapshotError
        If it cannot, for example because a disk is full.
    """
    folder = session.runtime_folder / _FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    _executed(session, _SAVE.format(folder=str(folder)), "saved")
    try:
        manifest = SnapshotManifest.model_validate_json(_read(folder / MANIFEST))
        taken = make_runtime_folder()
        folder.rename(taken / _FOLDER)
    except (OSError, ValidationError) as error:
        reason = getattr(error, "strerror", None) or "its list cannot be read"
        raise SnapshotError(f"The variables of the kernel were not saved: {reason}.") from None
    size_mib = manifest.size / _BYTES_PER_MIB
    return Snapshot(taken, manifest.names, size_mib, manifest.lost)


def restore_kernel(session: KernelSession, snapshot: Snapshot) -> dict[str, str]:
    """Let a fresh kernel read saved variables; their files are removed.

    Returns
    -------
    dict
        What is lost, by its name with the reason.

    Raises
    ------
    SnapshotError
        If they cannot be read.
    """
    folder = session.runtime_folder / _FOLDER
    try:
        (snapshot.folder / _FOLDER).rename(folder)
        _executed(session, _LOAD.format(folder=str(folder)), "read back")
        loaded = _LOST.validate_json(_read(folder / LOADED))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the answer cannot be read"
        raise SnapshotError(f"The variables of the kernel were not read back: {reason}.") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        snapshot.remove()
    return {**snapshot.lost, **loaded}


def _read(path: Path) -> bytes:
    """Read what a kernel wrote: its code can put anything in the place of a file."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "what should be a file is none")
        return stream.read(_MOST_BYTES)


def _executed(session: KernelSession, code: str, done: str) -> None:
    said: list[str] = []

    def heard(message: Message) -> None:
        if message["msg_type"] == "error":
            said.append(str(message["content"]["evalue"]))

    limit = time.monotonic() + _LIMIT_S

    def ended() -> Literal["", "timeout"]:
        return "timeout" if time.monotonic() > limit else ""

    end = session.execute(code, heard, ended, silent=True)
    if end.status != "ok" or said:
        why = said[-1] if said else end.detail or end.status
        raise SnapshotError(f"The variables of the kernel were not {done}: {why}.")

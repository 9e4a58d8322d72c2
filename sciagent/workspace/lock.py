"""One writer per workspace, known by name; an owner that died is no obstacle."""

import fcntl
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import Field, ValidationError

from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.model import SCHEMA_VERSION, Contract
from sciagent.workspace.atomic import storage_error
from sciagent.workspace.clock import utc_timestamp
from sciagent.workspace.layout import Layout

# A reader that asks for the owner holds a shared lock for some microseconds.
_ATTEMPTS = 20
_PAUSE_S = 0.01


class Owner(Contract):
    """Who holds a workspace: the content of its lock file."""

    schema_version: int = SCHEMA_VERSION
    process: int = Field(description="Process identifier on `host`.")
    host: str
    start: str = Field(description="When it took the workspace; UTC, ISO 8601.")

    def __str__(self) -> str:
        return f"process {self.process} on {self.host} since {self.start}"


class LockedError(WorkspaceError):
    """Another process owns the workspace."""

    kind = "input.workspace.locked"


class OwnerLock:
    """Holds a workspace while the ``with`` block runs.

    The operating system keeps the lock (`flock`), so it ends with its owner, however that ends.
    The file's content only names the owner.

    Attributes
    ----------
    owner
        How this process is named to others.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._descriptor = -1
        self._me = Owner(process=os.getpid(), host=socket.gethostname(), start=utc_timestamp())

    @property
    def owner(self) -> str:
        """How this process is named to others."""
        return str(self._me)

    def __enter__(self) -> Self:
        for _ in range(_ATTEMPTS):
            if self._take():
                return self
            time.sleep(_PAUSE_S)
        holder = owner(self._layout) or "another process"
        raise LockedError(
            f"The workspace {self._layout.root} is in use by {holder}.",
            f"Wait for it, or end it with `sciagent stop {self._layout.root}`.",
        )

    def _take(self) -> bool:
        path = self._layout.lock
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise storage_error(error, f"the lock {path} cannot be taken") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        if not _is_still_there(path, descriptor):
            # The owner before us removed the file between our opening and locking it.
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, self._me.model_dump_json().encode(), 0)
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Removed while it is still held, so that nobody else's file can be removed.
        self._layout.lock.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1


def _is_still_there(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def owner(layout: Layout) -> str | None:
    """Name the living owner of a workspace, or give None if there is none.

    Anyone may ask; the answer may be out of date when it arrives.
    """
    try:
        descriptor = os.open(layout.lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        content = os.pread(descriptor, 4096, 0)
    else:
        return None
    finally:
        os.close(descriptor)
    try:
        return str(Owner.model_validate_json(content))
    except ValidationError:
        return "another process"

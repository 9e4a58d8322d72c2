"""The ledger of a campaign: files that say which rows were run, by whom, and what came of it.

::

    runs/<row>/attempt-1/claim.json      who runs it
                         progress.json   the cell it is at; touched every second while it runs
                         result.json     what came of it: written last
                         <workspace>/    what was made

Making the folder of an attempt is the claim, so that no two processes can share one. Whoever
drives the runs, and whether it still lives, does not matter to what is read here.
"""

import contextlib
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError

from sciagent.contracts.errors import ErrorRecord, InputError, WorkspaceError
from sciagent.contracts.model import SCHEMA_VERSION, Contract
from sciagent.contracts.quantity import Quantity, measured_in
from sciagent.contracts.run import RunStatus
from sciagent.execution.process_tree import process_state
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.clock import utc_timestamp
from sciagent.workspace.identity import new_ulid
from sciagent.workspace.layout import JOURNAL

RUNS = "runs"
CLAIM = "claim.json"
PROGRESS = "progress.json"
RESULT = "result.json"
RELEASED = "released"
STALE_S = 30.0
"""A claim of another machine that was not touched for so long is void."""

_BEAT_S = 1.0
_UNSIGNED_S = 10.0
"""An attempt whose owner has not signed for so long was given up."""
_ATTEMPT = re.compile(r"attempt-(\d+)")

RowStatus = Literal["waiting", "running", "interrupted", "finished", "failed"]


class TakenError(WorkspaceError):
    """Another process runs the row, or has finished it."""

    kind = "input.workspace.taken"


class Claim(Contract):
    """Who runs an attempt."""

    schema_version: int = SCHEMA_VERSION
    token: str = Field(description="ULID; no two claims share one.")
    host: str
    boot: str = Field(description="Identifies the start of that machine.")
    process: int
    process_start: int = Field(description="In clock ticks since the machine was started.")
    time: str = Field(description="UTC, ISO 8601.")


class AttemptProgress(Contract):
    """How far an attempt has come."""

    cell: int = Field(default=0, ge=0, description="Cell it is at, from 1; 0 before the first.")
    cells: int = Field(default=0, ge=0)


class AttemptResult(Contract):
    """What came of an attempt."""

    schema_version: int = SCHEMA_VERSION
    row: str
    attempt: int = Field(ge=1)
    token: str
    status: RunStatus
    succeeded: bool
    error: ErrorRecord | None = None
    metrics: dict[str, Quantity] = Field(default_factory=dict)
    objective: str = Field(default="", description="The metric that decides, where one does.")
    workspace: str = Field(default="", description="Relative to the folder of the attempt.")
    started: str = Field(description="UTC, ISO 8601.")
    finished: str = Field(description="UTC, ISO 8601.")
    wall_s: float = measured_in("s", ge=0.0)


@dataclass(frozen=True, slots=True)
class RowState:
    """How a row stands.

    Attributes
    ----------
    status
        Of its last attempt; ``waiting`` if there is none.
    attempts
        How many there are.
    result
        Of the last attempt that has one.
    progress
        Of a running attempt.
    running_s
        For how long it has been running.
    """

    status: RowStatus
    attempts: int = 0
    result: AttemptResult | None = None
    progress: AttemptProgress | None = None
    running_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Ledger:
    """The rows of a campaign.

    Attributes
    ----------
    root
        Folder of the campaign.
    """

    root: Path

    def attempts(self, row: str) -> list[Path]:
        """Folders of a row's attempts, in order."""
        folder = self.root / RUNS / row
        if not folder.is_dir():
            return []
        found = (path for path in folder.iterdir() if _ATTEMPT.fullmatch(path.name))
        return sorted(found, key=number_of)

    def results(self, row: str) -> Iterator[AttemptResult]:
        """What came of each attempt that ended, in order."""
        for attempt in self.attempts(row):
            result = read_result(attempt)
            if result is not None:
                yield result

    def state(self, row: str) -> RowState:
        """Tell how a row stands, from its files alone."""
        attempts = self.attempts(row)
        if not attempts:
            return RowState("waiting")
        finished = [result for result in map(read_result, attempts) if result is not None]
        good = next((result for result in finished if result.succeeded), None)
        if good is not None:
            return RowState("finished", len(attempts), good)
        last = attempts[-1]
        result = finished[-1] if finished else None
        if result is not None and result.attempt == number_of(last):
            return RowState("failed", len(attempts), result)
        if not is_alive(last):
            return RowState("interrupted", len(attempts), result)
        progress, since_s = _progress(last), time.time() - _modified(last / CLAIM)
        return RowState("running", len(attempts), result, progress, max(since_s, 0.0))

    def claim(self, row: str, *, after_failure: bool = True) -> "Attempt":
        """Claim a row for this process: make the folder of its next attempt.

        Parameters
        ----------
        row
            Its identifier.
        after_failure
            Whether a failed row may be claimed.

        Raises
        ------
        TakenError
            If it is finished, or another process runs it.
        InputError
            If the folder cannot be written.
        """
        state = self.state(row)
        open_states = {"waiting", "interrupted"} | ({"failed"} if after_failure else set())
        if state.status not in open_states:
            raise TakenError(f"The row {row} is {state.status}.", "Leave it to whoever runs it.")
        folder = self.root / RUNS / row / f"attempt-{state.attempts + 1}"
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()
        except FileExistsError:
            raise TakenError(f"The row {row} was just claimed.", "Leave it to its owner.") from None
        except OSError as error:
            raise InputError(
                f"The folder {folder} cannot be made: {error.strerror}.", "Choose another --out."
            ) from error
        return Attempt(self, row, folder)

    def close_interrupted(self, row: str, error: ErrorRecord) -> None:
        """Call the last, interrupted attempt of a row failed, so that it is not repeated."""
        last = self.attempts(row)[-1]
        claim, now = read_claim(last), utc_timestamp()
        if read_result(last) is None and not is_alive(last):
            result = AttemptResult(
                row=row, attempt=number_of(last), token=claim.token if claim else "",
                status="failed", succeeded=False, error=error,
                started=claim.time if claim else now, finished=now, wall_s=0.0,
            )  # fmt: skip
            write_atomic(last / RESULT, result.model_dump_json(indent=1) + "\n")


class Attempt:
    """An attempt of this process; its claim is kept fresh while the ``with`` block runs.

    Attributes
    ----------
    directory
        Its folder.
    row, number, token
        What it is an attempt at, which one it is, and the token of its claim.
    """

    def __init__(self, ledger: Ledger, row: str, directory: Path) -> None:
        self.directory = directory
        self.row = row
        self.number = number_of(directory)
        self._ledger = ledger
        self._claim = Claim(
            token=new_ulid(), host=socket.gethostname(), boot=_boot(), process=os.getpid(),
            process_start=_process_start(os.getpid()), time=utc_timestamp(),
        )  # fmt: skip
        self.token = self._claim.token
        self._ended = threading.Event()
        self._beat = threading.Thread(target=self._beating, daemon=True)
        write_atomic(directory / CLAIM, self._claim.model_dump_json(indent=1) + "\n")
        self.tell(AttemptProgress())

    def __enter__(self) -> Self:
        self._beat.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._beat.join()
        if not (self.directory / RESULT).exists():
            (self.directory / RELEASED).touch()

    def adopt(self) -> Path | None:
        """Take the workspace of the attempt before this one over, if that was interrupted.

        Its owner must be known to be dead: a process of this machine, or one that let go of it.

        Returns
        -------
        Path or None
            The workspace, now in the folder of this attempt; None if there is none to go on with.
        """
        attempts = self._ledger.attempts(self.row)
        earlier = attempts[-2] if len(attempts) > 1 and attempts[-1] == self.directory else None
        if earlier is None or read_result(earlier) is not None:
            return None
        claim = read_claim(earlier)
        is_here = claim is not None and (claim.host, claim.boot) == (self._claim.host, _boot())
        found = [path.parent for path in earlier.glob(f"[!.]*/{JOURNAL}")]
        if not (is_here or (earlier / RELEASED).exists()) or len(found) != 1:
            return None
        return found[0].rename(self.directory / found[0].name)

    def tell(self, progress: AttemptProgress) -> None:
        """Say how far it has come; nothing is waited for, for it may be lost."""
        path = self.directory / PROGRESS
        temporary = path.with_name(f".{PROGRESS}.{os.getpid()}.tmp")
        temporary.write_text(progress.model_dump_json(), encoding="utf-8")
        temporary.replace(path)

    def finish(self, result: AttemptResult) -> bool:
        """Write the result: the last act. False if a later attempt has taken the row over."""
        if self._ledger.attempts(self.row)[-1] != self.directory:
            return False
        write_atomic(self.directory / RESULT, result.model_dump_json(indent=1) + "\n")
        return True

    def _beating(self) -> None:
        while not self._ended.wait(_BEAT_S):
            with contextlib.suppress(OSError):
                os.utime(self.directory / PROGRESS)


def number_of(attempt: Path) -> int:
    """Number of an attempt from the name of its folder."""
    return int(attempt.name.rpartition("-")[2])


def read_result(attempt: Path) -> AttemptResult | None:
    """Read what came of an attempt; None while it has not ended."""
    try:
        return AttemptResult.model_validate_json((attempt / RESULT).read_bytes())
    except FileNotFoundError:
        return None


def read_claim(attempt: Path) -> Claim | None:
    """Read who runs an attempt; None if its process died before it could say so."""
    try:
        return Claim.model_validate_json((attempt / CLAIM).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def is_alive(attempt: Path) -> bool:
    """Whether somebody still works on an attempt that has no result.

    On this machine the process is looked up; of others, the last touch of the files counts.
    """
    if (attempt / RELEASED).exists():
        return False
    claim = read_claim(attempt)
    if claim is None or (claim.host, claim.boot) != (socket.gethostname(), _boot()):
        touched = max(_modified(attempt / PROGRESS), _modified(attempt))
        return time.time() - touched < (STALE_S if claim else _UNSIGNED_S)
    return claim.process_start == _process_start(claim.process)


def _progress(attempt: Path) -> AttemptProgress:
    try:
        return AttemptProgress.model_validate_json((attempt / PROGRESS).read_bytes())
    except (FileNotFoundError, ValidationError):
        return AttemptProgress()


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _boot() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def _process_start(process: int) -> int:
    """Clock ticks at the start of a living process; -1 if it is dead."""
    found = process_state(process)
    return -1 if found is None or found.is_dead else found.start_ticks

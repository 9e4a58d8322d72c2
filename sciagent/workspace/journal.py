"""The append-only journal of a run: one event a line, each chained to the one before it."""

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from pydantic import TypeAdapter, ValidationError

from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.contracts.events import GENESIS, Event, EventBody, RunStarted
from sciagent.contracts.model import canonical_json
from sciagent.contracts.ports import Observer
from sciagent.workspace.atomic import storage_error, sync_folder, write_all
from sciagent.workspace.chain import (
    chained_hash,
    last_lines,
    line_from_canonical,
    links,
)
from sciagent.workspace.clock import utc_timestamp
from sciagent.workspace.collector import collector_paused
from sciagent.workspace.schema import refuse_newer

_EVENTS: TypeAdapter[list[Event]] = TypeAdapter(list[Event])
_REPLAY_LINES = 256


class _End(NamedTuple):
    """Where a journal ends: what the next line follows."""

    size_bytes: int
    last_hash: str
    sequence: int


class JournalFile:
    """The journal as its one writer holds it open.

    Make one with `create` or `open`. Whoever holds it must also hold the workspace's lock.

    Attributes
    ----------
    path
        The file.
    recovered
        What had to be mended when the file was opened; empty if nothing.
    observer
        Is told each event after it was written.
    """

    def __init__(self, path: Path, *, observer: Observer | None = None) -> None:
        self.path = path
        self.observer = observer
        self.clock: Callable[[], str] = utc_timestamp
        self._end = _End(0, GENESIS, 0)
        self.recovered = ""
        self._writing = threading.RLock()  # the agents of one owner write from several threads
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    @property
    def last_hash(self) -> str:
        """Hash of the last line."""
        return self._end.last_hash

    @property
    def sequence(self) -> int:
        """Number of the last event."""
        return self._end.sequence

    @classmethod
    def create(cls, path: Path, *, observer: Observer | None = None) -> Self:
        """Begin an empty journal.

        Raises
        ------
        WorkspaceError
            If there is one already.
        """
        if path.exists():
            raise WorkspaceError(
                f"There is a journal already: {path}.", "Continue that run with `sciagent resume`."
            )
        journal = cls(path, observer=observer)
        sync_folder(path.parent)
        return journal

    @classmethod
    def open(cls, path: Path, *, observer: Observer | None = None) -> Self:
        """Open a journal to append to it, after its whole chain was checked.

        A last line that was cut off by a crash is removed, since its writer never learned that
        it was written; `recovered` then says so.

        Raises
        ------
        WorkspaceError
            If there is no journal, if the chain is broken anywhere else, or if a newer version
            wrote it.
        """
        check_journal(path)
        journal = cls(path, observer=observer)
        try:
            journal._take_position()
        except BaseException:
            journal.close()
            raise
        return journal

    def _take_position(self) -> None:
        with self.path.open("rb") as stream:
            for link in links(stream):
                if not link.fault:
                    self._end = _End(link.end_byte, link.hash, link.number)
                elif link.cut_off:
                    self._cut_after(link.end_byte)
                else:
                    raise WorkspaceError(
                        f"The journal {self.path} is damaged: in line {link.number} {link.fault}.",
                        "`sciagent verify` names all that was changed; restore the file from a "
                        "copy.",
                    )

    def _cut_after(self, end_byte: int) -> None:
        lost = end_byte - self._end.size_bytes
        os.ftruncate(self._descriptor, self._end.size_bytes)
        os.fsync(self._descriptor)
        self.recovered = (
            f"The last line of the journal had been cut off in the middle; its {lost} bytes were "
            f"removed and the run goes on after event {self.sequence}."
        )

    def append(
        self, body: EventBody, *, study: str = "", span: str = "", parent: str = ""
    ) -> Event:
        """Write an event and wait for the disk: when this returns, it survives a crash.

        Raises
        ------
        ResourceError
            If the disk is full; the journal is then as it was before.
        InputError
            If the event holds what JSON cannot, such as a number that is not finite.
        """
        return self._write([(body, study, span, parent)])[0]

    def append_many(
        self, bodies: Sequence[EventBody], *, study: str = "", span: str = "", parent: str = ""
    ) -> list[Event]:
        """Write several events of one study or span with one wait for the disk; all or none."""
        return self._write([(body, study, span, parent) for body in bodies])

    def append_unwaited(self, body: EventBody, *, study: str = "") -> Event:
        """Write an event without waiting for the disk; it is there with the next waited one.

        It survives the end of this process but perhaps not a power cut: for what another file
        says too.
        """
        return self._write([(body, study, "", "")], wait=False)[0]

    def _write(
        self, entries: list[tuple[EventBody, str, str, str]], *, wait: bool = True
    ) -> list[Event]:
        with self._writing:
            return self._write_alone(entries, wait=wait)

    def _write_alone(
        self, entries: list[tuple[EventBody, str, str, str]], *, wait: bool
    ) -> list[Event]:
        events, lines, previous = [], [], self.last_hash
        for number, (body, study, span, parent) in enumerate(entries, start=self.sequence + 1):
            event, line = _chained(
                Event(
                    sequence=number, time=self.clock(), span=span, parent=parent, study=study,
                    body=body, hash="",
                ),
                previous,
            )  # fmt: skip
            previous = event.hash
            events.append(event)
            lines.append(line)
        if not events:
            return []
        self._write_bytes(b"".join(lines), wait=wait)
        size_bytes = self._end.size_bytes + sum(map(len, lines))
        # One assignment: an interrupt falls before it, and the write is undone by the next one,
        # or behind it.
        self._end = _End(size_bytes, previous, events[-1].sequence)
        if self.observer is not None:
            for event in events:
                self.observer(event)
        return events

    def _write_bytes(self, content: bytes, *, wait: bool) -> None:
        try:
            self._undo_interrupted_write()
            write_all(self._descriptor, content)
            if wait:
                os.fdatasync(self._descriptor)
        except OSError as error:
            # Back to the last whole line, so that what is there stays a valid journal.
            os.ftruncate(self._descriptor, self._end.size_bytes)
            raise storage_error(error, f"the journal {self.path} cannot be written") from error

    def _undo_interrupted_write(self) -> None:
        """Cut off what an interrupted write left: nobody was told of it."""
        if os.fstat(self._descriptor).st_size > self._end.size_bytes:
            os.ftruncate(self._descriptor, self._end.size_bytes)

    def events(self) -> Iterator[Event]:
        """Read all events from the first."""
        return read_events(self.path)

    def close(self) -> None:
        """Let go of the file; more than once does no harm."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _chained(event: Event, previous: str) -> tuple[Event, bytes]:
    """Give an event its hash and write its line."""
    try:
        content = event.model_dump(mode="json", exclude={"hash"})
        canonical = canonical_json(content).encode()
    except ValueError as error:
        raise InputError(
            f"An event {event.kind!r} holds what JSON cannot hold: {error}.",
            "Only finite numbers and valid Unicode text can be journaled.",
        ) from error
    hash_ = chained_hash(previous, canonical)
    return event.model_copy(update={"hash": hash_}), line_from_canonical(canonical, hash_)


def read_events(path: Path) -> Iterator[Event]:
    """Read a journal's events in order; a line that is still being written is left out.

    The chain is not checked here; `verify_chain` does that.

    Raises
    ------
    WorkspaceError
        If a line is no event that this version knows.
    """
    with path.open("rb") as stream:
        first = 1
        while lines := list(itertools.islice(stream, _REPLAY_LINES)):
            if not lines[-1].endswith(b"\n"):
                lines.pop()
            yield from _events_from_lines(path, first, lines)
            first += len(lines)


def load_events(path: Path) -> list[Event]:
    """Read all events at once; for a long journal several times faster than ``list(...)``."""
    with collector_paused():
        return list(read_events(path))


def tail(path: Path, count: int) -> list[Event]:
    """Read the last events, at most `count`, from the end of the file only."""
    return _events_from_lines(path, None, last_lines(path, count))


def events_after(path: Path, sequence: int) -> list[Event]:
    """Read the events behind one, from the end of the file only, also while it grows."""
    wanted = 1
    while True:
        events = tail(path, wanted)
        if not events or events[0].sequence <= sequence + 1 or len(events) < wanted:
            return [event for event in events if event.sequence > sequence]
        wanted = events[-1].sequence - sequence


class RunStart(NamedTuple):
    """The first event of a run: when it was started, and with what."""

    time: str
    body: RunStarted


def read_start(path: Path) -> RunStart:
    """Read what a run was started with.

    Raises
    ------
    WorkspaceError
        If the journal does not begin with it, or a newer version wrote it.
    """
    check_journal(path)
    with path.open("rb") as stream:
        line = stream.readline()
    events = _events_from_lines(path, 1, [line]) if line.endswith(b"\n") else []
    if not events or not isinstance(events[0].body, RunStarted):
        raise WorkspaceError(
            f"The journal {path} does not begin with the start of a run.",
            "Give the folder of a run, such as one below artifacts/.",
        )
    return RunStart(events[0].time, events[0].body)


def check_journal(path: Path) -> None:
    """Refuse a file that is no journal, or the journal of a newer version."""
    try:
        with path.open("rb") as stream:
            line = stream.readline()
    except OSError as error:
        raise WorkspaceError(
            f"There is no journal {path} that can be read ({error.strerror}).",
            "Give the folder of a run, such as one below artifacts/.",
        ) from error
    refuse_newer(path, line)


def _events_from_lines(path: Path, first: int | None, lines: list[bytes]) -> list[Event]:
    """Parse lines at once, and one by one only to find the one that is wrong."""
    try:
        return _EVENTS.validate_json(b"[" + b",".join(lines) + b"]")
    except ValidationError:
        pass
    for number, line in enumerate(lines, start=first or 1):
        try:
            Event.model_validate_json(line)
        except ValidationError as error:
            place = f"Line {number}" if first else f"Line {len(lines) - number + 1} from the end"
            raise WorkspaceError(
                f"{place} of {path} is no event of this version: "
                f"{error.errors(include_url=False)[0]['msg']}.",
                "`sciagent verify` names all that was changed; restore the file from a copy, or "
                "update sciagent if a newer version wrote it.",
            ) from error
    raise AssertionError("lines that parse one by one parse together")

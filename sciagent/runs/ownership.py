"""Owning a workspace: one process at a time, everything it does in the journal."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sciagent.contracts.events import Event, OwnerStarted, OwnerStopped
from sciagent.contracts.ports import Observer
from sciagent.contracts.run import RunRequest
from sciagent.study.loop import StudyStopped
from sciagent.workspace.effects import settle_interrupted
from sciagent.workspace.journal import JournalFile, read_events
from sciagent.workspace.layout import Layout
from sciagent.workspace.lock import OwnerLock
from sciagent.workspace.record import checkpoint_is_due, load_tree, write_study_file
from sciagent.workspace.tree import TreeBuilder


@dataclass(slots=True)
class _Record:
    """Keeps the tree and its checkpoint up to date with the journal."""

    layout: Layout
    builder: TreeBuilder
    observer: Observer | None
    checkpoint: int = 0

    def __call__(self, event: Event) -> None:
        self.builder.apply(event)
        if checkpoint_is_due(self.builder, self.checkpoint):
            write_study_file(self.layout.root, self.builder)
            self.checkpoint = self.builder.sequence
        if self.observer is not None:
            self.observer(event)


@dataclass(frozen=True, slots=True)
class Owned:
    """A workspace while this process owns it."""

    layout: Layout
    request: RunRequest
    journal: JournalFile
    builder: TreeBuilder
    wall_used_s: float


@contextmanager
def owned(layout: Layout, request: RunRequest, observer: Observer | None = None) -> Iterator[Owned]:
    """Own a workspace while the ``with`` block runs; a stop or interrupt in it is journaled.

    Raises
    ------
    WorkspaceError
        If another process owns the workspace, or its journal is damaged.
    KeyboardInterrupt
        If interrupted; the run is resumable.
    """
    with OwnerLock(layout) as lock, JournalFile.open(layout.journal) as journal:
        used_s = wall_used_s(layout)
        record = _Record(layout, load_tree(layout.root), observer)
        journal.observer = record
        journal.append(OwnerStarted(owner=lock.owner, recovered=journal.recovered))
        settle_interrupted(journal)
        try:
            yield Owned(layout, request, journal, record.builder, used_s)
        except StudyStopped:
            journal.append(OwnerStopped(reason="A stop command came."))
        except KeyboardInterrupt:
            # The interrupt may have come between an event and its place in the tree.
            journal.observer = observer
            journal.append(OwnerStopped(reason="It was interrupted."))
            raise


def tell_beginning(layout: Layout, observer: Observer | None) -> None:
    """Tell an observer what stands in the journal before there is an owner."""
    if observer is not None:
        for event in read_events(layout.journal):
            observer(event)


def wall_used_s(layout: Layout) -> float:
    """Add up the time that earlier owners spent, from the times of their events."""
    total = 0.0
    first: str | None = None
    last = ""
    for event in read_events(layout.journal):
        if event.kind == "owner_started":
            total += _seconds_between(first, last)
            first = event.time
        last = event.time
    return total + _seconds_between(first, last)


def _seconds_between(first: str | None, last: str) -> float:
    if first is None:
        return 0.0
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()

"""What a run changed: in the copies of the user's folders, and among its own files."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from sciagent.contracts.errors import InputError, UnknownNameError, WorkspaceError
from sciagent.contracts.events import CellRan, ChangeDecided, Event
from sciagent.workspace.folders import (
    FileChange,
    accept,
    changes_of,
    copied_folders,
    revert,
    text_difference,
)
from sciagent.workspace.inbox import CommandName, send_command
from sciagent.workspace.journal import JournalFile, read_events
from sciagent.workspace.layout import REPORT_HTML, Layout
from sciagent.workspace.lock import LockedError, OwnerLock
from sciagent.workspace.reviews import add_review
from sciagent.workspace.seal import is_sealed
from sciagent.workspace.workspace import open_workspace

_REMOVED = " (removed)"


@dataclass(frozen=True, slots=True)
class UserChange:
    """A change to a file of the user's.

    Attributes
    ----------
    file
        What was done, in the copy.
    cells
        Cells that touched it, by their identifiers.
    text
        The change line by line; empty where it is no text.
    decision
        What a person decided: ``accepted``, ``reverted``, or nothing yet.
    """

    file: FileChange
    cells: tuple[str, ...]
    text: str
    decision: str


@dataclass(frozen=True, slots=True)
class OwnChange:
    """A file of the workspace that code made, changed or removed.

    Attributes
    ----------
    path
        Relative to the workspace.
    cells
        Cells that touched it, in order.
    size_bytes
        Its size now; None if it is not there.
    """

    path: str
    cells: tuple[str, ...]
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class Differences:
    """All that a run changed.

    Attributes
    ----------
    user
        Changes to copies of the user's files.
    own
        Files of the workspace that cells touched.
    """

    user: tuple[UserChange, ...]
    own: tuple[OwnChange, ...]


def differences(path: str | Path) -> Differences:
    """Compare what a run was given with what it made of it.

    Parameters
    ----------
    path
        Folder of a run, whether it is live, interrupted or sealed.
    """
    layout = open_workspace(Path(path))
    events = tuple(read_events(layout.journal))
    cells = _cells_by_file(events)
    user = tuple(
        UserChange(
            change, tuple(cells.get(change.path, ())), text_difference(layout.root, change), said
        )
        for change, said in _user_changes(layout, events)
    )
    copied = tuple(f"{each.path}/" for each in copied_folders(events))
    own = tuple(
        OwnChange(name, tuple(by), _size(layout.root / name))
        for name, by in sorted(cells.items())
        if not name.startswith(copied or ("\0",))
    )
    return Differences(user, own)


def _cells_by_file(events: Collection[Event]) -> dict[str, list[str]]:
    cells: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event.body, CellRan):
            for name in event.body.files:
                cells.setdefault(name.removesuffix(_REMOVED), []).append(event.body.cell)
    return cells


def _user_changes(layout: Layout, events: Collection[Event]) -> Iterator[tuple[FileChange, str]]:
    """Changes with what was decided of each as it is now; an older decision does not count."""
    decided = {
        event.body.path: event.body for event in events if isinstance(event.body, ChangeDecided)
    }
    for copied in copied_folders(events):
        for change in changes_of(layout.root, copied):
            said = decided.get(change.path)
            is_current = said is not None and said.sha256 == change.sha256
            decision = said.decision if said is not None and is_current else ""
            yield change, "accepted" if change.is_taken_over else decision


def _size(path: Path) -> int | None:
    try:
        return path.lstat().st_size
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a person decides of the changes of a run.

    Attributes
    ----------
    accept, revert
        Paths of copies, relative to the workspace.
    author
        Name of the person.
    force
        Whether to accept also where the user's own file was changed meanwhile.
    """

    accept: tuple[str, ...] = ()
    revert: tuple[str, ...] = ()
    author: str = ""
    force: bool = False


def decide(path: str | Path, decisions: Decisions) -> None:
    """Accept changes into the user's folders, or revert them in the run.

    All paths are checked before anything is done.

    Raises
    ------
    UnknownNameError
        If nothing was changed at a path.
    InputError
        If a path is to be both accepted and reverted, or is to be reverted in a sealed run.
    WorkspaceError
        If the user has changed a file meanwhile.
    """
    layout = open_workspace(Path(path))
    events = tuple(read_events(layout.journal))
    known = {each.path: each for each, _ in _user_changes(layout, events)}
    for each in (*decisions.accept, *decisions.revert):
        if each not in known:
            raise UnknownNameError.among("changed file", each, known)
    _refuse_contradictions(layout, decisions, known)
    for each in decisions.accept:
        accept(layout.root, known[each], force=decisions.force)
    for each in decisions.revert:
        revert(layout.root, known[each])
    made = [
        ChangeDecided(
            path=each, decision="accepted", sha256=known[each].sha256, author=decisions.author
        )
        for each in decisions.accept
    ]
    made += [
        ChangeDecided(
            path=each,
            decision="reverted",
            sha256=known[each].original_sha256,
            author=decisions.author,
        )
        for each in decisions.revert
    ]
    _note(layout, made)


def _refuse_contradictions(
    layout: Layout, decisions: Decisions, known: dict[str, FileChange]
) -> None:
    both = set(decisions.accept) & set(decisions.revert)
    if both:
        raise InputError(f"{min(both)} is to be both accepted and reverted.", "Choose one.")
    if decisions.revert and is_sealed(layout.root):
        raise InputError(
            "The run is sealed: its files are not changed any more.",
            "Leave the change unaccepted, which changes nothing of yours.",
        )
    for each in decisions.accept:
        if not decisions.force and not known[each].is_untouched_by_user:
            raise WorkspaceError(
                f"{known[each].source} was changed since it was copied; nothing was accepted.",
                "Look at both, then accept with --force.",
            )


def _note(layout: Layout, decided: list[ChangeDecided]) -> None:
    """Write decisions down: in the journal, through a living owner, or beside the seal."""
    if is_sealed(layout.root):
        listed = ", ".join(each.path for each in decided)
        author = next((each.author for each in decided if each.author), "somebody")
        if (layout / REPORT_HTML).exists():
            add_review(layout, author, "", f"Accepted into the user's folder: {listed}.")
        return
    try:
        with OwnerLock(layout), JournalFile.open(layout.journal) as journal:
            for each in decided:
                journal.append(each)
    except LockedError:
        for each in decided:
            name: CommandName = "accept" if each.decision == "accepted" else "revert"
            arguments = {"path": each.path, "sha256": each.sha256}
            send_command(layout, name, arguments, each.author)

"""What a run changed: in the copies of the user's folders, and among its own files."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.events import CellRan, ChangeDecided, Event, TrialFinished
from sciagent.workspace.folders import (
    FileChange,
    accept,
    changes_of,
    copied_folders,
    require_acceptable,
    require_revertible,
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
    size_bytes, user_size_bytes
        Sizes now of the copy and of the user's file; None where there is none.
    """

    file: FileChange
    cells: tuple[str, ...]
    text: str
    decision: str
    size_bytes: int | None
    user_size_bytes: int | None


@dataclass(frozen=True, slots=True)
class OwnChange:
    """A file of the workspace that code or a trial made, changed or removed.

    Attributes
    ----------
    path
        Relative to the workspace.
    by
        Cells that touched it, by their identifiers, in order; or the trial that left it.
    size_bytes
        Its size now; None if it was removed.
    """

    path: str
    by: tuple[str, ...]
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class Differences:
    """All that a run changed.

    Attributes
    ----------
    user
        Changes to copies of the user's files.
    own
        Files of the workspace that cells touched or trials left.
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
            change, tuple(cells.get(change.path, ())), text_difference(layout.root, change), said,
            _size(layout.root / change.path), _size(change.source),
        )
        for change, said in _user_changes(layout, events)
    )  # fmt: skip
    copied = tuple(f"{each.path}/" for each in copied_folders(events))
    by = {name: each for name, each in cells.items() if not name.startswith(copied)}
    by.update(_trials_by_file(layout, events))
    own = tuple(
        OwnChange(name, tuple(each), _size(layout.root / name)) for name, each in sorted(by.items())
    )
    return Differences(user, own)


def _cells_by_file(events: Collection[Event]) -> dict[str, list[str]]:
    cells: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event.body, CellRan):
            for name in event.body.files:
                cells.setdefault(name.removesuffix(_REMOVED), []).append(event.body.cell)
    return cells


def _trials_by_file(layout: Layout, events: Collection[Event]) -> dict[str, list[str]]:
    trials: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event.body, TrialFinished):
            number = event.body.trial
            folder = layout.trial(number).relative_to(layout.root)
            for file in event.body.outcome.files:
                trials[(folder / file.path).as_posix()] = [f"trial {number}"]
    return trials


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
        If the user has changed a file meanwhile, or one lies behind a link.
    """
    layout = open_workspace(Path(path))
    events = tuple(read_events(layout.journal))
    known = {each.path: each for each, _ in _user_changes(layout, events)}
    for each in (*decisions.accept, *decisions.revert):
        if each not in known:
            raise UnknownNameError.among("changed file", each, known)
    _refuse_contradictions(layout, decisions, known)
    done: list[ChangeDecided] = []
    try:
        for each in decisions.accept:
            accept(layout.root, known[each], force=decisions.force)
            done.append(_decided(known[each], "accepted", decisions.author))
        for each in decisions.revert:
            revert(layout.root, known[each])
            done.append(_decided(known[each], "reverted", decisions.author))
    finally:
        # What was done before a disk was full is done, and must not be forgotten.
        if done:
            _note(layout, done)


def _decided(
    change: FileChange, decision: Literal["accepted", "reverted"], author: str
) -> ChangeDecided:
    sha256 = change.sha256 if decision == "accepted" else change.original_sha256
    return ChangeDecided(path=change.path, decision=decision, sha256=sha256, author=author)


def _refuse_contradictions(
    layout: Layout, decisions: Decisions, known: dict[str, FileChange]
) -> None:
    both = set(decisions.accept) & set(decisions.revert)
    if both:
        raise InputError(f"{min(both)} is to be both accepted and reverted.", "Choose one.")
    if decisions.revert and is_sealed(layout.root):
        raise InputError(
            "The run is sealed: its files are not changed any more.",
            "Leave the change unaccepted, which changes nothing of yours, or ask again.",
        )
    for each in decisions.accept:
        require_acceptable(known[each], force=decisions.force)
    for each in decisions.revert:
        require_revertible(layout.root, known[each])


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

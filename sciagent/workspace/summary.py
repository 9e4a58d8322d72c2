"""A run in one row, from the head of its checkpoint and the end of its journal only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from sciagent.contracts.events import (
    Event,
    OwnerStopped,
    Sealed,
    SegmentOpened,
    StudyConcluded,
    StudyOpened,
    TrialDecided,
    TrialFinished,
    TrialInvalidated,
)
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.run import RunStatus, RunSummary
from sciagent.contracts.study import Conclusion, Objective
from sciagent.contracts.tree import Tally
from sciagent.workspace.collector import collector_paused
from sciagent.workspace.journal import events_after, load_events, read_start, tail
from sciagent.workspace.layout import JOURNAL, STUDY, Layout
from sciagent.workspace.lock import owner
from sciagent.workspace.schema import refuse_newer
from sciagent.workspace.tree import TreeBuilder, is_better, objective_of


class _StudyHead(BaseModel):
    """What a row needs of a `StudyRecord`; its trials are passed over."""

    model_config = ConfigDict(extra="ignore")
    study: str
    objective: Objective
    conclusion: Conclusion | None
    tally: Tally


class _FileHead(BaseModel):
    """What a row needs of a `StudyFile`."""

    model_config = ConfigDict(extra="ignore")
    sequence: int
    studies: tuple[_StudyHead, ...]


class _MustReplayError(Exception):
    """The end of the journal concerns trials before it, so only a full replay can tell."""

    kind = "unexpected.must_replay"


@dataclass(slots=True)
class _Count:
    """One study, counted on from its checkpoint."""

    objective: Objective
    trials: int = 0
    accepted: int = 0
    rejected: int = 0
    best: Quantity | None = None
    conclusion: Conclusion | None = None
    values: dict[int, Quantity | None] = field(default_factory=dict)

    @classmethod
    def from_head(cls, head: _StudyHead) -> Self:
        tally = head.tally
        return cls(
            head.objective, tally.trials, tally.accepted, tally.rejected, tally.best,
            head.conclusion,
        )  # fmt: skip

    def decide(self, body: TrialDecided) -> None:
        self.trials += body.decision.verdict != "superseded"
        if body.trial not in self.values:
            raise _MustReplayError
        self.rejected += body.decision.verdict == "rejected"
        if body.decision.accepted:
            self.accepted += 1
            value = self.values[body.trial]
            if is_better(self.objective, value, self.best):
                self.best = value


class _Counter:
    """Counts the events behind a checkpoint."""

    def __init__(self, heads: Iterable[_StudyHead]) -> None:
        self.studies = {head.study: _Count.from_head(head) for head in heads}

    def take_in(self, event: Event) -> None:
        match body := event.body:
            case StudyOpened():
                self.studies[event.study] = _Count(body.objective)
            case TrialFinished():
                count = self.studies[event.study]
                count.values[body.trial] = objective_of(body.outcome, count.objective)
            case TrialDecided():
                self.studies[event.study].decide(body)
            case TrialInvalidated() | SegmentOpened():
                raise _MustReplayError
            case StudyConcluded():
                self.studies[event.study].conclusion = body.conclusion
            case _:
                pass


def summarise(root: Path) -> RunSummary:
    """Describe a run in one row.

    Raises
    ------
    WorkspaceError
        If the folder is no workspace that this version can read.
    """
    start = read_start(root / JOURNAL)
    last, counts = _last_and_counts(root)
    main = counts[0] if counts else None
    status, reason = _status(root, last, counts)
    return RunSummary(
        run=root.resolve().name, path=str(root), question=start.body.request.question,
        dataset=start.body.request.dataset, status=status, reason=reason,
        objective=main.objective if main else None, best=main.best if main else None,
        trials=sum(count.trials for count in counts),
        accepted=sum(count.accepted for count in counts),
        rejected=sum(count.rejected for count in counts),
        sealed=isinstance(last.body, Sealed), started=start.time, events=last.sequence,
    )  # fmt: skip


def _last_and_counts(root: Path) -> tuple[Event, list[_Count]]:
    """Give the last event and the counts of the studies up to it."""
    checkpoint = _checkpoint(root)
    if checkpoint is not None:
        events = events_after(root / JOURNAL, checkpoint.sequence)
        last = events or tail(root / JOURNAL, 1)
        counter = _Counter(checkpoint.studies)
        try:
            for event in events:
                counter.take_in(event)
        except (_MustReplayError, KeyError):
            pass
        else:
            # A checkpoint that is ahead of the journal is not of this journal.
            if last[-1].sequence >= checkpoint.sequence:
                return last[-1], list(counter.studies.values())
    with collector_paused():
        events = load_events(root / JOURNAL)
        records = TreeBuilder().apply_all(events).records()
    heads = [_StudyHead.model_validate(dict(record)) for record in records]
    return events[-1], [_Count.from_head(head) for head in heads]


def _checkpoint(root: Path) -> _FileHead | None:
    """Read the head of the checkpoint; it is only a view, so one that is damaged is passed over."""
    try:
        content = (root / STUDY).read_bytes()
    except FileNotFoundError:
        return None
    refuse_newer(root / STUDY, content)
    try:
        return _FileHead.model_validate_json(content)
    except ValidationError:
        return None


def _status(root: Path, last: Event, counts: Sequence[_Count]) -> tuple[RunStatus, str]:
    concluded = [count.conclusion for count in counts if count.conclusion is not None]
    reason = concluded[0].reason if concluded else ""
    if isinstance(last.body, Sealed):
        for status in get_args(RunStatus):
            if status == last.body.status:
                return status, reason
        return "failed", reason
    if owner(Layout(root)) is not None:
        return "running", ""
    if isinstance(last.body, OwnerStopped):
        return "stopped", last.body.reason
    return "stopped", "Its process ended before the run was finished."

"""The trees of trials, grown event by event."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Self

from pydantic import JsonValue

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.events import (
    Event,
    SealedOpened,
    SegmentOpened,
    StudyConcluded,
    StudyOpened,
    TrialDecided,
    TrialFinished,
    TrialInvalidated,
    TrialProposed,
    TrialStarted,
)
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import Action, Budget, Conclusion, Decision, Objective, Outcome
from sciagent.contracts.tree import StudyFile, StudyRecord, Tally, Trial


@dataclass(slots=True)
class StudyTree:
    """One study as it stands after the events so far.

    Attributes
    ----------
    study, question, objective, budget
        As the study was opened; a continued run brings a new budget.
    trials
        All trials in order of number.
    shown
        The same trials without selection values: what whoever proposes may see.
    undecided
        Numbers of the trials that have been proposed and not decided, in order.
    batch, batch_size, rule
        First trial, size and rule of the batch that was proposed last.
    decided
        Trials that were accepted or rejected; superseded ones do not count.
    rejected
        Trials that were rejected.
    head, best
        Latest accepted trial, and the accepted one with the best objective (the earlier of two
        equals); invalidated trials are neither.
    conclusion
        How the study ended; None while it has not, or is continued.
    sealed
        The sealed evaluation, once it was opened.
    cpu_s
        CPU time of all its trials and of the sealed evaluation.
    inputs, settings
        Its own files and settings; None where they are those of the run.
    """

    study: str
    question: str
    objective: Objective
    budget: Budget
    trials: list[Trial] = field(default_factory=list)
    shown: list[Trial] = field(default_factory=list)
    undecided: dict[int, None] = field(default_factory=dict)
    batch: int = 0
    batch_size: int = 0
    decided: int = 0
    rejected: int = 0
    rule: Literal["first", "best", "all"] = "first"
    head: int | None = None
    best: int | None = None
    conclusion: Conclusion | None = None
    sealed: Outcome | None = None
    cpu_s: float = 0.0
    inputs: dict[str, tuple[Artifact, ...]] | None = None
    settings: dict[str, JsonValue] | None = None
    _place: dict[int, int] = field(default_factory=dict)
    _children: dict[int, list[int]] = field(default_factory=dict)
    _accepted: list[int] = field(default_factory=list)
    _actions: set[str] = field(default_factory=set)

    def has(self, number: int) -> bool:
        """Whether the study has a trial of this number."""
        return number in self._place

    def was_tried(self, action: Action) -> bool:
        """Whether an action was decided, from whatever trial; superseded ones were not."""
        return action.key in self._actions

    def trial(self, number: int) -> Trial:
        """Look a trial up by its number (KeyError if it is not of this study)."""
        return self.trials[self._place[number]]

    def shown_trial(self, number: int | None) -> Trial | None:
        """Look a trial up as whoever proposes may see it; None for None."""
        return None if number is None else self.shown[self._place[number]]

    def record(self) -> StudyRecord:
        """Write the study down as `study.json` keeps it."""
        return StudyRecord(
            study=self.study, question=self.question, objective=self.objective,
            budget=self.budget, trials=tuple(self.trials), head=self.head, best=self.best,
            conclusion=self.conclusion, sealed=self.sealed, cpu_s=self.cpu_s, tally=self.tally(),
            inputs=self.inputs, settings=self.settings,
        )  # fmt: skip

    def tally(self) -> Tally:
        """Count trials and name the best objective."""
        return Tally(
            trials=self.decided,
            accepted=len(self._accepted),
            rejected=self.rejected,
            best=None if self.best is None else self.objective_of(self.best),
        )

    @classmethod
    def from_record(cls, record: StudyRecord) -> Self:
        """Go on from a record. The order of acceptance is that of the numbers."""
        tree = cls(record.study, record.question, record.objective, record.budget)
        tree.inputs, tree.settings = record.inputs, record.settings
        for trial in record.trials:
            tree._add(trial)
            if trial.decision is not None:
                del tree.undecided[trial.number]
                tree._count(trial.decision)
            if trial.accepted:
                tree._accepted.append(trial.number)
        tree.head, tree.best = record.head, record.best
        tree.conclusion, tree.sealed, tree.cpu_s = record.conclusion, record.sealed, record.cpu_s
        return tree

    def _add(self, trial: Trial) -> None:
        self._place[trial.number] = len(self.trials)
        self.trials.append(trial)
        self.shown.append(_without_selection(trial))
        self.undecided[trial.number] = None
        if trial.proposal.parent is not None:
            self._children.setdefault(trial.proposal.parent, []).append(trial.number)

    def _replace(self, trial: Trial) -> None:
        place = self._place[trial.number]
        self.trials[place] = trial
        self.shown[place] = _without_selection(trial)

    def propose(self, body: TrialProposed) -> None:
        """Add a trial; one that starts from an invalidated trial does not count either."""
        trial = Trial(number=body.trial, proposal=body.proposal)
        parent = body.proposal.parent
        if parent is not None and (reason := self.trial(parent).invalidated) is not None:
            trial = trial.model_copy(update={"invalidated": _inherited(parent, reason)})
        self._add(trial)
        self.batch, self.batch_size, self.rule = body.batch, body.batch_size, body.rule

    def finish(self, number: int, outcome: Outcome) -> None:
        """Take in a trial's outcome."""
        self._replace(self.trial(number).model_copy(update={"outcome": outcome}))
        self.cpu_s += outcome.cpu_s

    def decide(self, body: TrialDecided) -> None:
        """Take in a decision and move head and best."""
        trial = self.trial(body.trial).model_copy(update={"decision": body.decision})
        self._replace(trial)
        self.undecided.pop(trial.number, None)
        self._count(body.decision)
        if body.decision.verdict != "superseded":
            self._actions.add(trial.proposal.action.key)
        if trial.accepted:
            self._accepted.append(trial.number)
            self._advance(trial.number)

    def _count(self, decision: Decision) -> None:
        self.decided += decision.verdict != "superseded"
        self.rejected += decision.verdict == "rejected"

    def _advance(self, number: int) -> None:
        self.head = number
        before = None if self.best is None else self.objective_of(self.best)
        if is_better(self.objective, self.objective_of(number), before):
            self.best = number

    def objective_of(self, number: int) -> Quantity | None:
        """Objective of a trial; None if its outcome has none in the objective's unit."""
        return objective_of(self.trial(number).outcome, self.objective)

    def invalidate(self, number: int, reason: str) -> None:
        """Let a trial and all that descends from it no longer count."""
        pending = [(number, reason)]
        while pending:
            each, why = pending.pop()
            trial = self.trial(each)
            if trial.invalidated is None:
                self._replace(trial.model_copy(update={"invalidated": why}))
            inherited = _inherited(number, reason)
            pending += [(child, inherited) for child in self._children.get(each, ())]
        remaining = [each for each in self._accepted if self.trial(each).accepted]
        self._accepted, self.head, self.best = remaining, None, None
        for each in remaining:
            self._advance(each)


def _inherited(ancestor: int, reason: str) -> str:
    return f"It descends from trial {ancestor}: {reason}"


def _without_selection(trial: Trial) -> Trial:
    if trial.outcome is None or not trial.outcome.selection:
        return trial
    outcome = trial.outcome.model_copy(update={"selection": {}})
    return trial.model_copy(update={"outcome": outcome})


class TreeBuilder:
    """Grows the trees of a run; each event costs the same, however long the run is.

    Attributes
    ----------
    sequence
        The last event taken in.
    studies
        The trees by name of the study, in the order they were opened.
    next_trial
        Number of the next trial of the run.
    """

    def __init__(self) -> None:
        self.sequence = 0
        self.studies: dict[str, StudyTree] = {}
        self.next_trial = 1

    @classmethod
    def from_file(cls, file: StudyFile) -> Self:
        """Go on from a checkpoint."""
        builder = cls()
        builder.sequence = file.sequence
        for record in file.studies:
            builder.studies[record.study] = StudyTree.from_record(record)
            last = record.trials[-1].number if record.trials else 0
            builder.next_trial = max(builder.next_trial, last + 1)
        return builder

    def apply(self, event: Event) -> None:
        """Take in the next event.

        Raises
        ------
        WorkspaceError
            If it does not follow the one before it, or names a study or trial there is not.
        """
        if event.sequence != self.sequence + 1:
            raise _contradiction(event, f"it follows event {self.sequence}")
        try:
            self._apply_body(event)
        except KeyError as error:
            raise _contradiction(event, f"it names {error.args[0]!r}, which is not there") from None
        self.sequence = event.sequence

    def apply_all(self, events: Iterable[Event]) -> Self:
        """Take in events in order."""
        for event in events:
            self.apply(event)
        return self

    def _apply_body(self, event: Event) -> None:
        body = event.body
        match body:
            case StudyOpened():
                if event.study in self.studies:
                    raise _contradiction(event, "the study has been opened before")
                self.studies[event.study] = StudyTree(
                    event.study, body.question, body.objective, body.budget,
                    inputs=body.inputs, settings=body.settings,
                )  # fmt: skip
            case TrialProposed():
                if body.trial < self.next_trial:
                    raise _contradiction(event, f"trial {body.trial} has been proposed before")
                self.studies[event.study].propose(body)
                self.next_trial = body.trial + 1
            case TrialFinished():
                self.studies[event.study].finish(body.trial, body.outcome)
            case TrialDecided():
                self.studies[event.study].decide(body)
            case TrialInvalidated():
                self.studies[event.study].invalidate(body.trial, body.reason)
            case TrialStarted():
                self.studies[event.study].trial(body.trial)
            case _:
                self._apply_ending(event)

    def _apply_ending(self, event: Event) -> None:
        body = event.body
        if isinstance(body, SealedOpened):
            tree = self.studies[event.study]
            tree.sealed = body.outcome
            tree.cpu_s += body.outcome.cpu_s
        elif isinstance(body, StudyConcluded):
            self.studies[event.study].conclusion = body.conclusion
        elif isinstance(body, SegmentOpened):
            continued = [self.studies[event.study]] if event.study else self.studies.values()
            for tree in continued:
                tree.budget, tree.conclusion = body.budget, None

    def records(self) -> tuple[StudyRecord, ...]:
        """Write all studies down, in the order they were opened."""
        return tuple(tree.record() for tree in self.studies.values())

    def file(self) -> StudyFile:
        """Write the checkpoint down."""
        return StudyFile(sequence=self.sequence, studies=self.records())


def _contradiction(event: Event, why: str) -> WorkspaceError:
    return WorkspaceError(
        f"Event {event.sequence} ({event.kind}) contradicts the journal before it: {why}.",
        "Restore the journal from a copy.",
    )


def objective_of(outcome: Outcome | None, objective: Objective) -> Quantity | None:
    """Read the objective from an outcome; None if it is not there in the objective's unit."""
    quantity = outcome.metrics.get(objective.metric) if outcome else None
    return quantity if quantity is not None and quantity.unit == objective.unit else None


def is_better(objective: Objective, value: Quantity | None, before: Quantity | None) -> bool:
    """Whether a value beats the best one before it; of two equals the earlier stays."""
    if value is None:
        return False
    return before is None or objective.gain(before.value, value.value) > 0.0

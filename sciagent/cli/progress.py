"""What is known of a run while it goes on, gathered from its events."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import singledispatchmethod
from typing import Literal

from sciagent.contracts.events import (
    Event,
    Noted,
    OwnerStarted,
    OwnerStopped,
    RunStarted,
    Sealed,
    SegmentOpened,
    StudyConcluded,
    StudyOpened,
    TrialDecided,
    TrialFinished,
    TrialInvalidated,
    TrialProposed,
    TrialStarted,
)
from sciagent.contracts.study import Action, Budget, Objective
from sciagent.contracts.units import symbol

State = Literal["proposed", "running", "finished", "accepted", "rejected", "superseded", "invalid"]


@dataclass(slots=True)
class TrialRow:
    """A trial in one line."""

    number: int
    study: str
    parent: int | None
    action: Action
    state: State = "proposed"
    value: float | None = None
    change: float | None = None
    reason: str = ""


@dataclass(slots=True)
class Progress:
    """A run so far. `apply` takes each event once, in order."""

    run: str = ""
    question: str = ""
    objectives: dict[str, Objective] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    trials: dict[int, TrialRow] = field(default_factory=dict)
    best: TrialRow | None = None
    conclusion: str = ""
    sealed: bool = False
    warnings: list[str] = field(default_factory=list)
    cpu_s: float = 0.0
    earlier_wall_s: float = 0.0
    started: datetime | None = None
    _study: str = ""
    _last: datetime | None = None

    def apply(self, event: Event) -> None:
        """Take an event in."""
        self._study = event.study
        now = datetime.fromisoformat(event.time)
        if isinstance(event.body, OwnerStarted):
            self.earlier_wall_s = self.elapsed_s(self._last or now)  # the last one was killed
            self.started = now
        elif isinstance(event.body, OwnerStopped):
            self.earlier_wall_s, self.started = self.elapsed_s(now), None
        self._last = now
        self._take(event.body)

    def elapsed_s(self, now: datetime) -> float:
        """Seconds that the run has been worked on, in all sessions until `now`."""
        here = (now - self.started).total_seconds() if self.started else 0.0
        return self.earlier_wall_s + max(here, 0.0)

    def count(self, *states: State) -> int:
        """How many trials are in one of these states."""
        return sum(row.state in states for row in self.trials.values())

    @property
    def trials_left(self) -> int | None:
        """Trials that the budget still allows."""
        if self.budget.trials is None:
            return None
        used = len(self.trials) - self.count("superseded")
        return max(self.budget.trials - used, 0)

    def objective_text(self, row: TrialRow) -> str:
        """Name, value and unit of a trial's objective, such as ``r_wp 8.442 %``."""
        objective = self.objectives.get(row.study)
        if objective is None or row.value is None:
            return ""
        return f"{objective.metric} {row.value:.4g} {symbol(objective.unit)}".rstrip()

    @singledispatchmethod
    def _take(self, body: object) -> None:
        """Events that change nothing of what is shown."""

    @_take.register
    def _(self, body: RunStarted) -> None:
        self.run, self.question = body.run, body.request.question
        self.budget = body.request.budget

    @_take.register
    def _(self, body: OwnerStarted) -> None:
        if body.recovered:
            self.warnings.append(body.recovered)

    @_take.register
    def _(self, body: StudyOpened) -> None:
        self.objectives[self._study] = body.objective
        self.question, self.budget, self.best = body.question, body.budget, None

    @_take.register
    def _(self, body: SegmentOpened) -> None:
        self.budget, self.conclusion, self.sealed = body.budget, "", False

    @_take.register
    def _(self, _body: Sealed) -> None:
        self.sealed = True

    @_take.register
    def _(self, body: TrialProposed) -> None:
        proposal = body.proposal
        self.trials[body.trial] = TrialRow(
            body.trial, self._study, proposal.parent, proposal.action
        )

    @_take.register
    def _(self, body: TrialStarted) -> None:
        self.trials[body.trial].state = "running"

    @_take.register
    def _(self, body: TrialFinished) -> None:
        row = self.trials[body.trial]
        row.state = "finished"
        self.cpu_s += body.outcome.cpu_s
        objective = self.objectives.get(row.study)
        measured = body.outcome.metrics.get(objective.metric) if objective else None
        row.value = measured.value if measured else None
        parent = self.trials.get(row.parent) if row.parent is not None else None
        if row.value is not None and parent is not None and parent.value is not None:
            row.change = row.value - parent.value
        if body.outcome.error is not None:
            row.reason = body.outcome.error.message

    @_take.register
    def _(self, body: TrialDecided) -> None:
        row = self.trials[body.trial]
        row.state = body.decision.verdict
        if not body.decision.accepted:
            row.reason = "; ".join(body.decision.reasons) or row.reason
        elif self._beats_best(row):
            self.best = row

    @_take.register
    def _(self, body: TrialInvalidated) -> None:
        gone = {body.trial}
        for row in self.trials.values():  # a trial comes after its parent
            if row.number in gone or row.parent in gone:
                gone.add(row.number)
                row.state, row.reason = "invalid", body.reason
        self.best = None
        for row in self.trials.values():
            if row.state == "accepted" and row.study == self._study and self._beats_best(row):
                self.best = row

    @_take.register
    def _(self, body: StudyConcluded) -> None:
        self.conclusion = f"{body.conclusion.status}: {body.conclusion.reason}"

    @_take.register
    def _(self, body: Noted) -> None:
        if body.level == "warning":
            self.warnings.append(body.text)

    def _beats_best(self, row: TrialRow) -> bool:
        objective = self.objectives.get(row.study)
        if objective is None or row.value is None:
            return False
        if self.best is None or self.best.value is None:
            return True
        return objective.gain(self.best.value, row.value) > 0.0


def action_text(action: Action) -> str:
    """Write an action in one line, such as ``release parameters=scale,zero``."""
    words = [action.name]
    for key, value in action.arguments.items():
        written = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        words.append(f"{key}={written}")
    return " ".join(words)

"""The tree of trials, as policies, reports and views read it."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field, JsonValue

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.model import SCHEMA_VERSION, Contract
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import (
    Action,
    Budget,
    Conclusion,
    Decision,
    Objective,
    Outcome,
    Proposal,
)


class Trial(Contract):
    """One proposal with what came of it."""

    number: int = Field(ge=1, description="Unique within a run.")
    proposal: Proposal
    outcome: Outcome | None = None
    decision: Decision | None = None
    invalidated: str | None = Field(default=None, description="Why it no longer counts.")

    @property
    def accepted(self) -> bool:
        """Whether it was accepted and still counts."""
        return bool(self.decision and self.decision.accepted and self.invalidated is None)

    def metric(self, name: str) -> float:
        """Value of a metric of the outcome, in the metric's own unit."""
        if self.outcome is None:
            raise KeyError(name)
        return self.outcome.metrics[name].value


@dataclass(frozen=True, slots=True)
class StudyView:
    """What whoever proposes may see: the tree without selection values, and what is left.

    `trials` are in order of number. `head` is the accepted trial that the next proposals start
    from by default; `best` the accepted one with the best objective.
    """

    study: str
    objective: Objective
    trials: Sequence[Trial]
    head: Trial | None
    best: Trial | None
    trials_left: int | None
    cpu_left_s: float | None
    wall_left_s: float | None
    seed: int
    directory: str = "."

    def trial(self, number: int) -> Trial:
        """Look a trial up by its number."""
        for trial in self.trials:
            if trial.number == number:
                return trial
        raise KeyError(number)

    def path(self, trial: Trial) -> tuple[Trial, ...]:
        """Trials from the first to `trial`, each the parent of the next."""
        by_number = {each.number: each for each in self.trials}
        path = [trial]
        while path[-1].proposal.parent is not None:
            path.append(by_number[path[-1].proposal.parent])
        return tuple(reversed(path))

    def tried(self, parent: int | None, action: Action) -> bool:
        """Whether this action was already decided from this parent (superseded ones were not)."""
        return any(
            each.proposal.parent == parent
            and each.decision is not None
            and each.decision.verdict != "superseded"
            and each.proposal.action == action
            for each in reversed(self.trials)
        )


class Tally(Contract):
    """A study in numbers, so that a list of runs needs not read every trial."""

    trials: int = 0
    accepted: int = Field(default=0, description="Accepted trials that still count.")
    rejected: int = 0
    best: Quantity | None = Field(default=None, description="Objective of the best trial.")


class StudyRecord(Contract):
    """A study as `study.json` keeps it."""

    study: str
    question: str
    objective: Objective
    budget: Budget
    inputs: dict[str, tuple[Artifact, ...]] | None = Field(
        default=None, description="Its own files; none: those of the run's request."
    )
    settings: dict[str, JsonValue] | None = Field(
        default=None, description="Its own settings; none: those of the run's request."
    )
    trials: tuple[Trial, ...]
    head: int | None
    best: int | None
    conclusion: Conclusion | None = None
    sealed: Outcome | None = Field(
        default=None, description="The sealed evaluation, once it was opened."
    )
    cpu_s: float = Field(default=0.0, ge=0.0, json_schema_extra={"unit": "s"})
    tally: Tally = Tally()


class StudyFile(Contract):
    """The file `study.json`: a view of the journal up to an event."""

    schema_version: int = SCHEMA_VERSION
    sequence: int = Field(description="Last event that the view takes in.")
    studies: tuple[StudyRecord, ...]

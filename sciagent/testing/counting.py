"""The least that can be studied: each trial counts one further. Measures what the loop costs."""

from dataclasses import dataclass

from sciagent.contracts.ports import Context
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import (
    Abstain,
    Action,
    ActionSpec,
    Batch,
    Check,
    Conclusion,
    Finish,
    Objective,
    Outcome,
    Proposal,
)
from sciagent.contracts.tree import StudyView, Trial


@dataclass(frozen=True)
class Counting:
    """Each trial's metric is its number, and higher is better (a `Problem`)."""

    objective = Objective(metric="count", unit="{count}", direction="maximise", noise=0.0)
    selection = None
    repeatable = True

    def actions(self, _trial: Trial | None) -> tuple[ActionSpec, ...]:
        """Offer to count."""
        return (ActionSpec(name="count", summary="Count one further."),)

    def run(self, _proposal: Proposal, context: Context) -> Outcome:
        """Count."""
        number = float(context.directory.name)
        return Outcome(status="ok", metrics={"count": Quantity(value=number, unit="{count}")})

    def checks(self, _outcome: Outcome) -> tuple[Check, ...]:
        """Find nothing wrong."""
        return (Check(name="counts", passed=True, detail="it counts"),)

    def conclude(self, view: StudyView) -> Conclusion:
        """Stand behind the count."""
        best = None if view.best is None else view.best.number
        return Conclusion(status="completed", reason="Counted.", best=best)


@dataclass(frozen=True)
class CountTo:
    """Proposes to count until the budget ends (a `Policy`)."""

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        """Count one further from where the count stands."""
        parent = None if view.head is None else view.head.number
        return Batch(proposals=(Proposal(parent=parent, action=Action(name="count")),))


def counting() -> Counting:
    """Make the problem; worker processes call this by name."""
    return Counting()

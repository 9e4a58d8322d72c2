"""Turns the outcomes of a batch into decisions, by the rule of the batch."""

from collections.abc import Sequence
from dataclasses import dataclass

from sciagent.contracts.events import TrialDecided
from sciagent.contracts.ports import Problem
from sciagent.contracts.study import ActionSpec, Decision, Proposal
from sciagent.contracts.tree import Trial
from sciagent.study.acceptance import decide
from sciagent.workspace.tree import StudyTree


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges trials of a tree. The same tree gives the same decisions."""

    problem: Problem
    tree: StudyTree

    def decision(self, number: int) -> Decision:
        """Judge one trial against its parent."""
        trial = self.tree.trial(number)
        if trial.outcome is None:
            raise ValueError(f"Trial {number} has no outcome to be judged by.")
        parent = trial.proposal.parent
        before = None if parent is None else self.tree.trial(parent)
        sound = trial.outcome.status == "ok"
        return decide(
            trial.outcome,
            None if before is None else before.outcome,
            self.problem.checks(trial.outcome) if sound else (),
            action=self._declared(trial.proposal, before),
            objective=self.problem.objective,
            selection=self.problem.selection,
        )

    def rivals(self, numbers: Sequence[int]) -> list[TrialDecided]:
        """Judge trials against each other: of those that are sound only the best is accepted."""
        decisions = {number: self.decision(number) for number in numbers}
        winner = self._best_of([n for n, decision in decisions.items() if decision.accepted])
        for number, decision in decisions.items():
            if decision.accepted and number != winner:
                reasons = (f"Its rival, trial {winner}, was better.", *decision.reasons)
                decisions[number] = decision.model_copy(
                    update={"verdict": "rejected", "reasons": reasons}
                )
        return [TrialDecided(trial=n, decision=decision) for n, decision in decisions.items()]

    def _best_of(self, numbers: Sequence[int]) -> int | None:
        objective = self.problem.objective
        sign = 1.0 if objective.direction == "minimise" else -1.0
        return min(
            numbers,
            key=lambda number: sign * self.tree.trial(number).metric(objective.metric),
            default=None,
        )

    def _declared(self, proposal: Proposal, parent: Trial | None) -> ActionSpec | None:
        offered = self.problem.actions(parent)
        return next((spec for spec in offered if spec.name == proposal.action.name), None)


def superseded(numbers: Sequence[int], reason: str) -> list[TrialDecided]:
    """Decide that trials are not needed any more, whatever came or would have come of them."""
    decision = Decision(verdict="superseded", reasons=(reason,))
    return [TrialDecided(trial=number, decision=decision) for number in numbers]

"""A person as the one who proposes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sciagent.contracts.ports import Problem
from sciagent.contracts.study import Abstain, ActionSpec, Batch, Finish
from sciagent.contracts.tree import StudyView


class Prompter(Protocol):
    """Asks a person what to try next: in a terminal, a notebook or a chat."""

    def choose(self, view: StudyView, actions: tuple[ActionSpec, ...]) -> Batch | Finish | Abstain:
        """Show the tree and the offered actions, and return the person's choice."""
        ...


@dataclass(frozen=True, slots=True)
class HumanPolicy:
    """Hands every decision on what to try to a prompter (a `Policy`)."""

    problem: Problem
    prompter: Prompter

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        """Ask the person."""
        return self.prompter.choose(view, self.problem.actions(view.head))


def human_policy(prompter: Prompter) -> Callable[[Problem], HumanPolicy]:
    """Make the function that gives a problem to a person."""
    return lambda problem: HumanPolicy(problem, prompter)

"""What tools need of a run; `runs` implements it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from pydantic import JsonValue

from sciagent.contracts.study import ActionSpec, Conclusion, Proposal
from sciagent.contracts.tree import StudyView, Trial


class Studies(Protocol):
    """The studies of a run, as an agent may drive them."""

    def names(self) -> Sequence[str]:
        """Name the studies of the run, in the order they were opened."""
        ...

    def start(
        self,
        question: str,
        *,
        dataset: str,
        inputs: Mapping[str, Sequence[str]],
        settings: Mapping[str, JsonValue],
    ) -> str:
        """Open a study of ``domain/question`` and name it.

        Its files are those of a dataset, or of the workspace by the name of the input.
        """
        ...

    def view(self, study: str) -> StudyView:
        """Look at a study; selection values are not in it."""
        ...

    def actions(self, study: str, parent: int | None) -> Sequence[ActionSpec]:
        """List the actions that may be proposed from a trial."""
        ...

    def propose(self, study: str, proposal: Proposal) -> Trial:
        """Run one proposal and return the trial once it is decided."""
        ...

    def hand_back(self, study: str, trials: int | None) -> StudyView:
        """Let the built-in policy go on with the same tree, for at most so many trials."""
        ...

    def finish(self, study: str, reason: str, *, abstain: bool) -> Conclusion:
        """End a study: with its best trial, or without an answer."""
        ...

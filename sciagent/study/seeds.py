"""Seeds of trials, which depend on what was done and not on when or how many side by side."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from sciagent.contracts.study import Proposal


@dataclass(slots=True)
class TrialSeeds:
    """Gives each trial a seed from the run's seed and the actions that lead to it.

    The number of a trial does not enter: with several workers it depends on how many trials
    were superseded. The same action from the same parent has the same seed; repetitions of a
    measurement differ by an argument of their action.

    Attributes
    ----------
    run_seed
        Seed of the run.
    proposal_of
        Looks the proposal of a trial up.
    """

    run_seed: int
    proposal_of: Callable[[int], Proposal]
    _known: dict[int, int] = field(default_factory=dict)

    def seed(self, trial: int) -> int:
        """Seed of a trial, below 2**32."""
        path: list[tuple[int, Proposal]] = []
        number: int | None = trial
        while number is not None and number not in self._known:
            proposal = self.proposal_of(number)
            path.append((number, proposal))
            number = proposal.parent
        above = self.run_seed if number is None else self._known[number]
        for each, proposal in reversed(path):
            digest = hashlib.sha256(f"{above}/{proposal.action.key}".encode()).digest()
            above = self._known[each] = int.from_bytes(digest[:4], "big")
        return above

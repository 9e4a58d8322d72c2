"""Seeds follow what was done, not the order in which workers happened to do it."""

from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.study import Action, Proposal
from sciagent.study.seeds import TrialSeeds


def _proposal(parent: int | None, name: str) -> Proposal:
    return Proposal(parent=parent, action=Action(name=name))


@given(run_seed=st.integers(0, 2**31), shift=st.integers(0, 50))
def test_a_trial_has_the_same_seed_whatever_its_number(run_seed: int, shift: int) -> None:
    one = {1: _proposal(None, "start"), 2: _proposal(1, "east")}
    other = {1: _proposal(None, "start"), 2 + shift: _proposal(1, "east")}
    first = TrialSeeds(run_seed, one.__getitem__).seed(2)
    second = TrialSeeds(run_seed, other.__getitem__).seed(2 + shift)
    assert first == second


def test_different_actions_parents_and_runs_have_different_seeds() -> None:
    tree = {1: _proposal(None, "start"), 2: _proposal(1, "east"), 3: _proposal(1, "west"),
            4: _proposal(2, "east")}  # fmt: skip
    seeds = {TrialSeeds(0, tree.__getitem__).seed(number) for number in tree}
    seeds |= {TrialSeeds(1, tree.__getitem__).seed(number) for number in tree}
    assert len(seeds) == 2 * len(tree)


def test_a_path_of_thousands_of_trials_needs_no_recursion() -> None:
    tree = {n: _proposal(n - 1 or None, "on") for n in range(1, 20_001)}
    assert 0 <= TrialSeeds(0, tree.__getitem__).seed(20_000) < 2**32

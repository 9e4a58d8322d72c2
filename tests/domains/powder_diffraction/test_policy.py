from collections.abc import Sequence

import pytest

from sciagent.contracts.errors import InputError, error_record
from sciagent.contracts.study import Abstain, Action, Batch, Finish, Outcome
from sciagent.contracts.tree import Trial
from sciagent.domains.powder_diffraction.actions import (
    EXCHANGE,
    FINAL_REFIT,
    LE_BAIL,
    add_phase,
    exchange,
    groups_in,
    release,
)
from sciagent.domains.powder_diffraction.policy import MethodPolicy
from tests.domains.powder_diffraction.samples import problem, trial, view

START = Action(name="start")
POSITIONS = release("cell.salt", "displacement", "width")


def proposed(trials: Sequence[Trial], seed: int = 0) -> list[Action]:
    """Actions that the policy proposes after these trials."""
    asked = problem(seed)
    answer = MethodPolicy(asked).propose(view(asked, trials))
    assert isinstance(answer, Batch)
    return [each.action for each in answer.proposals]


def round_after(trials: list[Trial], failed: Sequence[str] = ("information",)) -> list[Trial]:
    """All ordinary steps from the last accepted trial, rejected one by one."""
    head = [each for each in trials if each.accepted][-1].number
    policy = MethodPolicy(problem())
    while (step := proposed(trials)[0]) in policy.order:
        trials = [*trials, trial(len(trials) + 1, head, step, failed=failed)]
    return trials


def test_the_first_proposal_is_the_scale_alone() -> None:
    assert proposed([]) == [START]


def test_a_start_that_failed_ends_the_study() -> None:
    asked = problem()
    broken = trial(1, None, START, failed=["converged"])
    assert isinstance(MethodPolicy(asked).propose(view(asked, [broken])), Finish)


def test_the_background_comes_first_and_intensities_wait_until_lines_are_in_place() -> None:
    lost = trial(1, None, START, values={"lines_beyond_chance": 10.0, "unexplained_lines": 9.0})
    found = trial(1, None, START)
    assert proposed([lost])[0] == release("background")
    kinds = {name.partition(".")[0] for step in proposed([lost]) for name in groups_in(step)}
    assert kinds & {"biso", "coordinates", "occupancies", "polarization"} == set()
    assert release("biso.salt") in proposed([found])


def test_cell_displacement_and_width_are_proposed_in_one_step() -> None:
    assert POSITIONS in proposed([trial(1, None, START)])


def test_what_was_rejected_is_proposed_again_after_an_acceptance_behind_the_accepted_step() -> None:
    trials = [
        trial(1, None, START),
        trial(2, 1, release("background"), failed=["information"]),
        trial(3, 1, release("width")),
    ]
    steps = proposed(trials)
    assert steps[0] == release("lorentzian_width")
    assert release("background") in steps
    assert release("width") not in steps


def test_what_is_left_of_a_round_keeps_its_order() -> None:
    first = proposed([trial(1, None, START)])
    rejected = trial(2, 1, first[0], failed=["information"])
    assert proposed([trial(1, None, START), rejected]) == first[1:]


def test_steps_that_come_to_the_same_are_proposed_once() -> None:
    trials = [trial(1, None, START), trial(2, 1, release("cell.salt", "width"))]
    steps = proposed(trials)
    assert [step for step in steps if "displacement" in groups_in(step)] == [POSITIONS]


def test_a_group_that_was_found_empty_is_not_proposed_again() -> None:
    empty = trial(2, 1, release("coordinates.salt"), failed=["x"]).model_copy(
        update={"outcome": Outcome(status="failed", error=error_record(InputError("Empty.")))}
    )
    trials = [trial(1, None, START), empty, trial(3, 1, release("width"))]
    assert release("coordinates.salt") not in proposed(trials)


def test_freeing_the_occupancies_is_among_what_is_proposed() -> None:
    assert release("occupancies.salt") in proposed([trial(1, None, START)])


def test_a_phase_is_added_only_for_lines_that_nothing_explains() -> None:
    explained = trial(1, None, START)
    left = trial(1, None, START, values={"unexplained_lines": 3.0})
    assert add_phase("scau2") not in proposed([explained])
    assert add_phase("scau2") in proposed([left])


def test_groups_of_a_candidate_are_proposed_once_it_is_in_the_model() -> None:
    start = trial(1, None, START, values={"unexplained_lines": 3.0})
    assert release("cell.scau2") not in proposed([start])
    assert release("cell.scau2") in proposed([start, trial(2, 1, add_phase("scau2"))])


def test_the_zero_shift_is_proposed_instead_of_the_displacement_when_all_else_is_settled() -> None:
    trials = [trial(1, None, START), trial(2, 1, POSITIONS)]
    rival = exchange("zero_shift", instead_of="displacement")
    assert rival not in proposed(trials)
    assert release("zero_shift") not in proposed(trials)
    assert proposed(round_after(trials)) == [rival]


def test_the_polarization_waits_until_vibrations_have_explained_what_they_can() -> None:
    trials = [trial(1, None, START)]
    assert release("polarization") not in proposed(trials)
    assert release("polarization") in proposed([*trials, trial(2, 1, release("biso.salt"))])


def test_rivals_that_correlate_are_exchanged_when_a_round_is_over_and_decided_side_by_side() -> (
    None
):
    trials = [trial(1, None, START), trial(2, 1, POSITIONS)]
    trials = round_after(trials)
    axial = release("axial_divergence")
    values = {"correlation_with.displacement": 0.99}
    trials = [
        each
        if each.proposal.action != axial or each.proposal.parent != 2
        else trial(each.number, 2, axial, failed=["correlation"], values=values)
        for each in trials
    ]
    asked = problem()
    answer = MethodPolicy(asked).propose(view(asked, trials))
    assert isinstance(answer, Batch)
    assert answer.rule == "best"
    assert [each.action for each in answer.proposals] == [
        exchange("zero_shift", instead_of="displacement"),
        exchange("axial_divergence", instead_of="displacement"),
    ]


def test_an_older_group_that_leaves_its_bounds_is_put_back() -> None:
    trials = [trial(1, None, START), trial(2, 1, release("doublet_ratio"))]
    trials = round_after(trials, failed=["doublet_ratio"])
    steps = proposed(trials)
    assert {step.name for step in steps} == {EXCHANGE}
    assert exchange("background", instead_of="doublet_ratio") in steps


def test_evidence_is_collected_before_the_refit_that_ends_the_study() -> None:
    trials = round_after([trial(1, None, START)])
    (evidence,) = proposed(trials)
    assert evidence.name == LE_BAIL
    trials.append(trial(len(trials) + 1, 1, evidence, failed=["structure"]))
    (refit,) = proposed(trials)
    assert refit.name == FINAL_REFIT
    asked = problem()
    rejected = [*trials, trial(len(trials) + 1, 1, refit, failed=["converged"])]
    assert isinstance(MethodPolicy(asked).propose(view(asked, rejected)), Finish)
    accepted = [*trials, trial(len(trials) + 1, 1, refit)]
    assert isinstance(MethodPolicy(asked).propose(view(asked, accepted)), Finish)


def test_a_model_that_describes_nothing_ends_in_abstention_with_its_evidence() -> None:
    values = {"r_wp_background_subtracted": 95.0, "lines_beyond_chance": 5.0}
    trials = round_after([trial(1, None, START, values=values)], failed=["width"])
    (evidence,) = proposed(trials)
    assert evidence.name == LE_BAIL
    le_bail = trial(len(trials) + 1, 1, evidence, failed=["structure"], values=values)
    asked = problem()
    answer = MethodPolicy(asked).propose(view(asked, [*trials, le_bail]))
    assert isinstance(answer, Abstain)
    assert "the phase or the wavelength is wrong" in answer.reason
    assert "Le Bail" in answer.reason


def test_atoms_are_blamed_when_free_intensities_would_fit() -> None:
    values = {"r_wp_background_subtracted": 60.0, "lines_beyond_chance": 5.0}
    trials = round_after([trial(1, None, START, values=values)], failed=["width"])
    le_bail = trial(len(trials) + 1, 1, Action(name=LE_BAIL), failed=["structure"])
    asked = problem()
    answer = MethodPolicy(asked).propose(view(asked, [*trials, le_bail]))
    assert isinstance(answer, Abstain)
    assert "the atoms do not explain their intensities" in answer.reason


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_seed_shuffles_the_order_and_loses_nothing(seed: int) -> None:
    ordered, shuffled = proposed([trial(1, None, START)]), proposed([trial(1, None, START)], seed)
    assert ordered != shuffled
    assert sorted(a.key for a in ordered) == sorted(a.key for a in shuffled)
    assert shuffled == proposed([trial(1, None, START)], seed)


def test_every_proposal_says_why_and_what_is_expected() -> None:
    asked = problem()
    answer = MethodPolicy(asked).propose(view(asked, [trial(1, None, START)]))
    assert isinstance(answer, Batch)
    for each in answer.proposals:
        assert each.rationale
        assert each.expected

"""Acceptance: better by more than the noise, sound, and held out agrees."""

from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.errors import ErrorRecord
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import ActionSpec, Check, Decision, Objective, Outcome
from sciagent.study.acceptance import decide

OBJECTIVE = Objective(metric="r_wp", unit="%", direction="minimise", noise=0.01)
SELECTION = Objective(metric="held_out", unit="%", direction="minimise", noise=0.05)
RELEASE = ActionSpec(name="release", summary="Release parameters.")
REFIT = ActionSpec(name="refit", summary="Fit once more.", acceptance="not_worse")
SOUND = (Check(name="bounds", passed=True, detail="all in bounds"),)


def outcome(r_wp: float, held_out: float = 10.0) -> Outcome:
    return Outcome(
        status="ok",
        metrics={"r_wp": Quantity(value=r_wp, unit="%")},
        selection={"held_out": Quantity(value=held_out, unit="%")},
    )


def judged(
    after: Outcome,
    before: Outcome | None = None,
    checks: tuple[Check, ...] = SOUND,
    action: ActionSpec | None = RELEASE,
) -> Decision:
    return decide(after, before, checks, action=action, objective=OBJECTIVE, selection=SELECTION)


def test_a_first_trial_only_has_to_be_sound() -> None:
    assert judged(outcome(90.0)).accepted
    unsound = (Check(name="bounds", passed=False, detail="Biso -1 Å²"),)
    assert not judged(outcome(90.0), checks=unsound).accepted


@given(before=st.floats(1.0, 90.0), gain=st.floats(-5.0, 5.0))
def test_only_an_improvement_beyond_the_noise_is_accepted(before: float, gain: float) -> None:
    decision = judged(outcome(before - gain), outcome(before))
    assert decision.accepted == (before - (before - gain) > OBJECTIVE.noise)


def test_a_confirming_refit_is_accepted_when_it_is_not_worse() -> None:
    assert judged(outcome(9.005), outcome(9.0), action=REFIT).accepted
    assert not judged(outcome(9.1), outcome(9.0), action=REFIT).accepted


def test_a_soft_check_that_fails_does_not_reject() -> None:
    soft = (Check(name="durbin_watson", passed=False, hard=False, detail="0.4 < 1"),)
    assert judged(outcome(8.0), outcome(9.0), checks=soft).accepted


def test_held_out_values_gate_acceptance_without_being_told() -> None:
    decision = judged(outcome(8.0, held_out=11.2345), outcome(9.0, held_out=10.0))
    assert not decision.accepted
    assert decision.selection_passed is False
    assert "11.2345" not in decision.model_dump_json()


def test_held_out_values_within_their_noise_do_not_reject() -> None:
    assert judged(outcome(8.0, held_out=10.04), outcome(9.0, held_out=10.0)).selection_passed


def test_every_reason_to_reject_is_given() -> None:
    unsound = (Check(name="bounds", passed=False, detail="Biso -1 Å²"),)
    decision = judged(outcome(9.5, held_out=12.0), outcome(9.0), checks=unsound)
    assert len(decision.reasons) == 3


def test_a_failure_is_rejected_with_its_message() -> None:
    failed = Outcome(status="failed", error=ErrorRecord(kind="convergence", message="No minimum."))
    assert judged(failed, outcome(9.0)).reasons == ("Failed: No minimum.",)


def test_an_action_that_is_not_offered_is_rejected() -> None:
    assert not judged(outcome(1.0), outcome(9.0), action=None).accepted


def test_an_outcome_without_the_objective_is_rejected() -> None:
    assert not judged(Outcome(status="ok"), outcome(9.0)).accepted

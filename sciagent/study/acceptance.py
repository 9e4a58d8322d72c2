"""Whether an outcome is accepted: a pure function of what was measured before and after."""

from collections.abc import Sequence

from sciagent.contracts.quantity import written
from sciagent.contracts.study import ActionSpec, Check, Decision, Objective, Outcome
from sciagent.contracts.units import symbol

_DECIMALS = 4


def decide(
    outcome: Outcome,
    before: Outcome | None,
    checks: Sequence[Check],
    *,
    action: ActionSpec | None,
    objective: Objective,
    selection: Objective | None,
) -> Decision:
    """Accept an outcome when it is sound, better than its parent, and selection agrees.

    Parameters
    ----------
    outcome, before
        Of the trial and of its parent; a trial without parent only has to be sound.
    checks
        Judgements of the problem; each failed hard check is a reason to reject.
    action
        Declaration of the proposed action; none if the problem does not declare it.
    objective
        Must improve by more than its noise, or not get worse by more than it where the action
        asks for no more than that.
    selection
        Value of `Outcome.selection` that must not get worse by more than its noise. Its values
        never appear in the reasons.
    """
    if action is None:
        return _rejected(["The action is not offered from this trial."], checks, None)
    if outcome.status == "failed":
        message = outcome.error.message if outcome.error else "no outcome"
        return _rejected([f"Failed: {message}"], checks, None)
    if objective.metric not in outcome.metrics:
        return _rejected([f"The outcome lacks {objective.metric!r}."], checks, None)
    failed = [f"Check {c.name}: {c.detail}" for c in checks if c.hard and not c.passed]
    agrees = _selection_agrees(outcome, before, selection)
    better, reason = _improvement(outcome, before, objective, action)
    reasons = [*failed, *([] if better else [reason])]
    if agrees is False:
        reasons.append("The held-out evaluation got worse.")
    if reasons:
        return _rejected(reasons, checks, agrees)
    return Decision(
        verdict="accepted", reasons=(reason,), checks=tuple(checks), selection_passed=agrees
    )


def _rejected(reasons: Sequence[str], checks: Sequence[Check], selection: bool | None) -> Decision:
    return Decision(
        verdict="rejected",
        reasons=tuple(reasons),
        checks=tuple(checks),
        selection_passed=selection,
    )


def _selection_agrees(
    outcome: Outcome, before: Outcome | None, selection: Objective | None
) -> bool | None:
    if selection is None or before is None:
        return None
    after, reference = (each.selection.get(selection.metric) for each in (outcome, before))
    if after is None or reference is None:
        return None
    return selection.gain(reference.value, after.value) >= -selection.noise


def _improvement(
    outcome: Outcome, before: Outcome | None, objective: Objective, action: ActionSpec
) -> tuple[bool, str]:
    after = outcome.metrics[objective.metric].value
    unit = objective.unit
    if before is None or objective.metric not in before.metrics:
        return True, f"First value of {objective.metric}: {written(after, unit, _DECIMALS)}."
    reference = before.metrics[objective.metric].value
    gain = objective.gain(reference, after)
    enough = gain > objective.noise if action.acceptance == "improve" else gain >= -objective.noise
    change = (
        f"{objective.metric} {written(reference, unit, _DECIMALS)} → "
        f"{written(after, unit, _DECIMALS)}"
    )
    if enough:
        return True, f"{change}."
    noise = f"{objective.noise:g} {symbol(unit)}".strip()
    return False, f"{change}: not better by more than its noise of {noise}."

"""Proposals that a model writes: read, and checked against the actions that are offered."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from sciagent.contracts.errors import UnknownNameError
from sciagent.contracts.study import Action, ActionSpec, Proposal
from sciagent.contracts.tree import Trial

_FAULTS = 3


def action_fault(action: Action, offered: Sequence[ActionSpec]) -> str:
    """Say why an action cannot be taken; empty if it can."""
    spec = next((each for each in offered if each.name == action.name), None)
    if spec is None:
        return str(UnknownNameError.among("action", action.name, [each.name for each in offered]))
    schema = spec.arguments_schema
    if not schema:
        return f"{action.name} takes no arguments." if action.arguments else ""
    errors = Draft202012Validator(schema).iter_errors(action.arguments)
    faults = sorted(f"{error.json_path}: {error.message}" for error in errors)
    return f"The arguments do not fit: {'; '.join(faults[:_FAULTS])}." if faults else ""


def proposal_from(content: Mapping[str, Any], default_parent: int | None) -> Proposal:
    """Read a proposal from a JSON object.

    Raises
    ------
    ValueError
        If it is none.
    """
    parent = content.get("parent", default_parent)
    action = Action(name=content.get("action") or "", arguments=content.get("arguments") or {})
    texts = {name: str(content.get(name) or "") for name in ("rationale", "hypothesis", "expected")}
    return Proposal(parent=parent, action=action, **texts)


def trial_line(trial: Trial) -> dict[str, Any]:
    """What is told of a trial: what was done, what came of it, and why it was decided so."""
    outcome, decision = trial.outcome, trial.decision
    told: dict[str, Any] = {
        "trial": trial.number,
        "parent": trial.proposal.parent,
        "action": trial.proposal.action.name,
        "arguments": trial.proposal.action.arguments,
    }
    if outcome is not None:
        told["metrics"] = {
            name: f"{each.value:.6g} {each.unit}" for name, each in outcome.metrics.items()
        }
        told["notes"] = list(outcome.notes)
    if outcome is not None and outcome.error is not None:
        told["error"] = f"{outcome.error.kind}: {outcome.error.message} {outcome.error.remedy}"
    if decision is not None:
        told["decision"] = decision.verdict
        told["reasons"] = list(decision.reasons)
        told["failed_checks"] = [each.detail for each in decision.checks if not each.passed]
    return {name: value for name, value in told.items() if value not in ([], {})}

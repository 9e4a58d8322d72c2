"""Events as a run writes them, for tests of what reads them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sciagent.contracts.errors import ErrorRecord
from sciagent.contracts.events import (
    Event,
    EventBody,
    OwnerStarted,
    RunStarted,
    StudyConcluded,
    StudyOpened,
    TrialDecided,
    TrialFinished,
    TrialProposed,
    TrialStarted,
)
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.run import RunRequest
from sciagent.contracts.study import (
    Action,
    Budget,
    Conclusion,
    Decision,
    Objective,
    Outcome,
    Proposal,
)

BEGIN = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
OBJECTIVE = Objective(metric="r_wp", unit="%", direction="minimise", noise=0.01)


def journal(bodies: Sequence[EventBody], study: str = "main") -> list[Event]:
    """Number and date the bodies: one event a second."""
    return [
        Event(
            sequence=number,
            time=(BEGIN + timedelta(seconds=number)).isoformat(timespec="milliseconds"),
            study=study,
            body=body,
            hash="0" * 64,
        )
        for number, body in enumerate(bodies, start=1)
    ]


def opening(budget: Budget | None = None) -> list[EventBody]:
    budget = budget or Budget(trials=20, cpu_s=60.0)
    request = RunRequest(question="powder_diffraction/refine", budget=budget)
    return [
        RunStarted(run="20260101-apatite-1a2b3c", request=request),
        OwnerStarted(owner="process 1 on here"),
        StudyOpened(question="powder_diffraction/refine", objective=OBJECTIVE, budget=budget),
    ]


def proposed(number: int, parent: int | None, action: str) -> list[EventBody]:
    proposal = Proposal(parent=parent, action=Action(name=action))
    return [
        TrialProposed(trial=number, proposal=proposal, batch=number, batch_size=1),
        TrialStarted(trial=number),
    ]


def finished(number: int, r_wp: float | None, cpu_s: float = 1.5) -> EventBody:
    if r_wp is None:
        error = ErrorRecord(kind="convergence", message="The fit diverged.")
        return TrialFinished(
            trial=number, outcome=Outcome(status="failed", error=error, cpu_s=cpu_s)
        )
    metrics = {"r_wp": Quantity(value=r_wp, unit="%")}
    return TrialFinished(trial=number, outcome=Outcome(status="ok", metrics=metrics, cpu_s=cpu_s))


def decided(number: int, reason: str = "", *, superseded: bool = False) -> EventBody:
    if superseded:
        return TrialDecided(
            trial=number, decision=Decision(verdict="superseded", reasons=(reason,))
        )
    verdict = "rejected" if reason else "accepted"
    decision = Decision.model_validate(
        {"verdict": verdict, "reasons": (reason,) if reason else ("better",)}
    )
    return TrialDecided(trial=number, decision=decision)


def trial(
    number: int, parent: int | None, action: str, r_wp: float | None, reason: str = ""
) -> list[EventBody]:
    return [*proposed(number, parent, action), finished(number, r_wp), decided(number, reason)]


def concluded(status: str = "completed", best: int | None = None) -> EventBody:
    conclusion = Conclusion.model_validate(
        {"status": status, "reason": "Nothing more to gain.", "best": best}
    )
    return StudyConcluded(conclusion=conclusion)


def refinement() -> list[EventBody]:
    """Three accepted trials, one that a check rejects, one that fails."""
    return [
        *opening(),
        *trial(1, None, "scale", 83.12),
        *trial(2, 1, "background", 41.2),
        *trial(3, 2, "occupancies", 30.0, "check b_iso failed: -0.4 is below 0"),
        *trial(4, 2, "profile", None, "The fit diverged."),
        *trial(5, 2, "cell", 12.34),
    ]

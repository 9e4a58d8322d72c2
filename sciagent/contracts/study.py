"""Propose, run, check, decide: the words of the one loop that every science shares."""

from typing import Literal

from pydantic import Field, JsonValue

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.errors import ErrorRecord
from sciagent.contracts.model import Contract, canonical_model, sha256_text
from sciagent.contracts.quantity import Quantity, measured_in
from sciagent.contracts.units import Unit


class Action(Contract):
    """What a proposal does: one of the actions a problem declares, with its arguments."""

    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def key(self) -> str:
        """Text that is equal exactly for equal actions."""
        return canonical_model(self)


class ActionSpec(Contract):
    """An action that may be proposed, as it is shown to whoever proposes."""

    name: str
    summary: str = Field(description="One line that says what it does and when it helps.")
    arguments_schema: dict[str, JsonValue] = Field(
        default_factory=dict, description="JSON schema of the arguments, with units."
    )
    acceptance: Literal["improve", "not_worse"] = Field(
        default="improve",
        description="`improve`: the objective must get better by more than its noise; "
        "`not_worse`: it must not get worse by more than its noise (a confirming refit).",
    )


class Objective(Contract):
    """The one metric that decides, which way is better, and how much of it is noise."""

    metric: str = Field(description="Name of a metric of the outcome.")
    unit: Unit
    direction: Literal["minimise", "maximise"]
    noise: float = Field(ge=0.0, description="In `unit`: smaller changes count as none.")

    def gain(self, before: float, after: float) -> float:
        """How much better `after` is than `before`, in the unit of the objective."""
        return before - after if self.direction == "minimise" else after - before


class Proposal(Contract):
    """One thing to try, committed to the journal before it runs."""

    @property
    def sha256(self) -> str:
        """Hash that an outcome names the proposal by."""
        return sha256_text(canonical_model(self))

    parent: int | None = Field(description="Trial it starts from; none for a first trial.")
    action: Action
    rationale: str = Field(default="", description="Why it is proposed.")
    hypothesis: str = Field(default="", description="What is believed to be true.")
    expected: str = Field(default="", description="What should be seen if it is.")


class Outcome(Contract):
    """What came of a trial. A failure is an outcome too."""

    status: Literal["ok", "failed"]
    metrics: dict[str, Quantity] = Field(
        default_factory=dict, description="Feedback: shown to whoever proposes."
    )
    selection: dict[str, Quantity] = Field(
        default_factory=dict, description="Gates acceptance; never shown to whoever proposes."
    )
    notes: tuple[str, ...] = Field(
        default=(), description="Findings in words, such as lines that no phase explains."
    )
    files: tuple[Artifact, ...] = Field(default=(), description="Relative to the trial's folder.")
    error: ErrorRecord | None = None
    correction: Action | None = Field(
        default=None, description="What may mend the failure, as the domain reads it."
    )
    proposal_sha256: str = Field(
        default="", description="The proposal it came of, so that no other one adopts it."
    )
    cpu_s: float = measured_in("s", default=0.0, ge=0.0)
    wall_s: float = measured_in("s", default=0.0, ge=0.0)


class Check(Contract):
    """A test of an outcome that the objective cannot replace."""

    name: str
    passed: bool
    hard: bool = Field(default=True, description="A failed hard check rejects the trial.")
    detail: str = Field(description="What was compared with what.")


class Decision(Contract):
    """Whether a trial was accepted, and every reason."""

    verdict: Literal["accepted", "rejected", "superseded"]
    reasons: tuple[str, ...]
    checks: tuple[Check, ...] = ()
    selection_passed: bool | None = Field(
        default=None, description="All that is shown of the selection values."
    )

    @property
    def accepted(self) -> bool:
        """Whether the trial was accepted."""
        return self.verdict == "accepted"


class Budget(Contract):
    """What a study may use; none means no limit."""

    trials: int | None = Field(default=None, ge=1, json_schema_extra={"unit": "{trial}"})
    cpu_s: float | None = measured_in("s", default=None, gt=0.0)
    wall_s: float | None = measured_in("s", default=None, gt=0.0)


class Batch(Contract):
    """Proposals that may run side by side, and how they are decided.

    `first`: in order; the first that is accepted supersedes the rest. `best`: all run, and of
    those that qualify the one with the best objective is accepted (rivals). `all`: each is
    decided by itself, in order (independent measurements).
    """

    proposals: tuple[Proposal, ...] = Field(min_length=1)
    rule: Literal["first", "best", "all"] = "first"


class Finish(Contract):
    """Whoever proposes has nothing more to try."""

    reason: str


class Abstain(Contract):
    """Whoever proposes finds that no answer should be given."""

    reason: str


class Conclusion(Contract):
    """How a study ended and why."""

    status: Literal["completed", "abstained", "failed", "limit"]
    reason: str
    best: int | None = Field(default=None, description="The trial whose result is reported.")

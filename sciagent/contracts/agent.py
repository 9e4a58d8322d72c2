"""An agent's limits, delegations, reviews and how it ends."""

from typing import Literal

from pydantic import Field

from sciagent.contracts.conversation import Usage
from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in


class AgentBudget(Contract):
    """What an agent may use; none means no limit."""

    turns: int | None = Field(default=300, ge=1, json_schema_extra={"unit": "{count}"})
    tokens: int | None = Field(default=None, ge=1, json_schema_extra={"unit": "{token}"})
    cost_usd: float | None = measured_in("[USD]", default=None, gt=0.0)
    wall_s: float | None = measured_in("s", default=None, gt=0.0)


class SubagentTask(Contract):
    """One delegated task, as `spawn_subagent` takes it."""

    task: str = Field(min_length=1, description="What to find out or make.")
    context: str = Field(description="All that the subagent needs to know.")
    expected_output: str = Field(min_length=1, description="What a good answer looks like.")


class SubagentEvidence(Contract):
    """A quoted piece of a source that supports a claim."""

    url: str
    quote: str
    claim: str = ""


SubagentStatus = Literal["ok", "unknown", "insufficient_evidence", "conflict", "ambiguous"]


class SubagentResult(Contract):
    """What a subagent found; the status is the harness's after it checked the evidence."""

    answer: str
    status: SubagentStatus
    evidence: tuple[SubagentEvidence, ...] = ()
    unresolved_issues: tuple[str, ...] = ()


class Review(Contract):
    """A self-review at a verification point."""

    confirmed: tuple[str, ...] = Field(
        default=(), description="Facts whose evidence the harness has checked."
    )
    assumptions: tuple[str, ...] = Field(default=(), description="Not verified.")
    rejected: tuple[str, ...] = Field(default=(), description="Paths given up, with the reason.")
    gaps: tuple[str, ...] = Field(default=(), description="What is still open.")
    next_step: str = ""
    text: str = Field(default="", description="What could not be read as any of these.")


class StageRecord(Contract):
    """What stays of the stretch between two verification points."""

    stage: int = Field(ge=1)
    first_message: int = Field(description="First message of the stretch, counted from 0.")
    last_message: int
    evidence: tuple[str, ...] = Field(default=(), description="Key findings with references.")
    rejected: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    text: str = Field(description="The record as it stands in the prompt.")


class AgentOutcome(Contract):
    """How an agent's work ended: always with what it had found until then."""

    status: Literal["completed", "limit", "stopped", "failed"]
    answer: str
    reason: str = ""
    usage: Usage = Usage()
    turns: int = Field(default=0, ge=0, json_schema_extra={"unit": "{count}"})

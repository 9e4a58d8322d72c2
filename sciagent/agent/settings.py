"""How an agent works: its limits, its modes and when its prompt is compacted."""

from pydantic import Field

from sciagent.contracts.agent import AgentBudget
from sciagent.contracts.model import Contract


class AgentSettings(Contract):
    """Settings of an agent; the defaults are those of Sage-A1.5's model card."""

    budget: AgentBudget = AgentBudget()
    verification: bool = Field(
        default=False, description="Ask the model for self-reviews (verification mode)."
    )
    subagents: bool = Field(default=False, description="Offer `spawn_subagent`.")
    max_tasks_per_spawn: int = Field(default=5, ge=1, json_schema_extra={"unit": "{count}"})
    subagent_max_turns: int = Field(default=20, ge=1, json_schema_extra={"unit": "{count}"})
    subagent_tools: tuple[str, ...] | None = Field(
        default=None, description="Tools of subagents; none: all of the main agent's."
    )
    context_tokens: int | None = Field(
        default=None, ge=1, json_schema_extra={"unit": "{token}"},
        description="Size of the model's window; none where it is unknown.",
    )  # fmt: skip
    stretch_tokens: int = Field(
        default=4000,
        ge=500,
        json_schema_extra={"unit": "{token}"},
        description="Length of the conversation after which a verification point is asked for.",
    )
    corrections: int = Field(
        default=3, ge=0, json_schema_extra={"unit": "{count}"},
        description="How often in a row an unusable answer is sent back.",
    )  # fmt: skip
    stalled_turns: int = Field(
        default=8,
        ge=2,
        json_schema_extra={"unit": "{count}"},
        description="Turns in a row without new information after which the agent is ended.",
    )

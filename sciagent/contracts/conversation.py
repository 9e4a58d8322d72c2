"""What is said to a model and what it answers, in the same words for every endpoint."""

from typing import Literal

from pydantic import Field, JsonValue

from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in


class Image(Contract):
    """A picture that goes with a message, as a file of the workspace."""

    path: str = Field(description="Relative to the workspace.")
    sha256: str
    media_type: str = "image/png"


class ToolCall(Contract):
    """A call that a model asks for, with arguments that were read as JSON."""

    id: str = Field(description="Unique in the conversation; ours where the endpoint repeats one.")
    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    fault: str = Field(
        default="", description="Why it cannot be executed, such as arguments that are cut off."
    )


class Message(Contract):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    reasoning: str = Field(default="", description="What the model thought before it answered.")
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = Field(default="", description="For `tool`: the call that it answers.")
    images: tuple[Image, ...] = ()


class Usage(Contract):
    """What one or more calls used."""

    calls: int = Field(default=0, ge=0, json_schema_extra={"unit": "{count}"})
    prompt_tokens: int = Field(default=0, ge=0, json_schema_extra={"unit": "{token}"})
    completion_tokens: int = Field(default=0, ge=0, json_schema_extra={"unit": "{token}"})
    cached_tokens: int = Field(default=0, ge=0, json_schema_extra={"unit": "{token}"})
    cost_usd: float = measured_in("[USD]", default=0.0, ge=0.0)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
        )

    @property
    def tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens


class Answer(Contract):
    """A model's answer, after everything that could be mended was mended."""

    message: Message
    finish: Literal["stop", "tool_calls", "length", "interrupted"]
    usage: Usage
    repairs: tuple[str, ...] = Field(
        default=(), description="What had to be mended: `retried`, `call_in_content` and so on."
    )
    wall_s: float = measured_in("s", default=0.0, ge=0.0)

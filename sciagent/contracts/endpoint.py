"""An OpenAI-compatible endpoint and how a model behind it is asked."""

from typing import Literal

from pydantic import Field, JsonValue

from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in


class Sampling(Contract):
    """How the next token is drawn; the defaults are those of Sage-A1.5's model card.

    A value of none is not sent, so that the server's own default holds.
    """

    temperature: float | None = measured_in("1", default=1.0, ge=0.0)
    top_p: float | None = measured_in("1", default=0.95, gt=0.0, le=1.0)
    top_k: int | None = Field(default=20)
    min_p: float | None = measured_in("1", default=0.0, ge=0.0, le=1.0)
    presence_penalty: float | None = measured_in("1", default=1.5)
    repetition_penalty: float | None = measured_in("1", default=1.0)
    max_tokens: int | None = Field(default=None, ge=1, json_schema_extra={"unit": "{token}"})
    seed: int | None = None


class Endpoint(Contract):
    """Where a model answers and what is known of it. Holds no secret, only where one is."""

    base_url: str = "http://localhost:8000/v1"
    model: str = "Sage-A1.5"
    api_key_variable: str = Field(
        default="SCIAGENT_API_KEY", description="Environment variable that holds the key, if any."
    )
    sampling: Sampling = Sampling()
    extra_body: dict[str, JsonValue] = Field(
        default_factory=dict, description="Fields sent as they are besides the known ones."
    )
    context_tokens: int | None = Field(
        default=None, ge=1, json_schema_extra={"unit": "{token}"},
        description="Size of the window; none where it is unknown.",
    )  # fmt: skip
    stream: bool = True
    parallel_tool_calls: bool = Field(
        default=True, description="False for servers whose grammar mode forbids them."
    )
    images: bool = Field(default=False, description="Whether it takes pictures.")
    verification: Literal["template", "prompt"] = Field(
        default="template",
        description="How verification mode is asked for: by `chat_template_kwargs`, or by a "
        "protocol line at the end of the system message.",
    )
    attempts: int = Field(default=5, ge=1, description="Tries of one call, the first included.")
    timeout_s: float = measured_in("s", default=600.0, gt=0.0)
    prompt_usd_per_million: float = measured_in("[USD]", default=0.0, ge=0.0)
    completion_usd_per_million: float = measured_in("[USD]", default=0.0, ge=0.0)

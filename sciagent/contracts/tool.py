"""A tool as it is offered to a model or listed for a person."""

from typing import Literal

from pydantic import Field, JsonValue

from sciagent.contracts.model import Contract


class ToolSpec(Contract):
    """Name, purpose and parameters of a tool."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str
    parameters: dict[str, JsonValue] = Field(description="JSON schema, with units.")
    read_only: bool = Field(description="Read-only tools may run side by side and run again.")
    approval: Literal["never", "ask"] = "ask"

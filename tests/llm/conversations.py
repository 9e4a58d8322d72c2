"""Tools, messages and clients that the tests of the client share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import JsonValue

from sciagent.contracts.conversation import Message
from sciagent.contracts.tool import ToolSpec
from sciagent.llm import EndpointModel
from sciagent.testing.model_server import ModelServer

SYSTEM = Message(role="system", content="You are a chemist.")
QUESTION = Message(role="user", content="What is the melting point?")
CONVERSATION = (SYSTEM, QUESTION)


def tool(name: str, properties: dict[str, JsonValue], *required: str) -> ToolSpec:
    parameters: dict[str, JsonValue] = {
        "type": "object", "properties": properties, "required": list(required),
    }  # fmt: skip
    return ToolSpec(name=name, description=f"Do {name}.", parameters=parameters, read_only=True)


LOOKUP = tool("lookup", {"key": {"type": "string"}}, "key")
SPREAD = tool(
    "spread",
    {
        "count": {"type": "integer"},
        "rows": {"type": "array"},
        "label": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "options": {"$ref": "#/$defs/Options"},
    },
)
SPREAD = SPREAD.model_copy(
    update={"parameters": {**SPREAD.parameters, "$defs": {"Options": {"type": "object"}}}}
)
CODE = tool("code", {"code": {"type": "string"}}, "code")
TOOLS = (LOOKUP, SPREAD, CODE)


def no_wait(seconds: float) -> None:
    """Wait not at all between two tries."""


@contextmanager
def model(
    server: ModelServer, *, pause: Callable[[float], None] = no_wait, **changes: Any
) -> Iterator[EndpointModel]:
    """A client of a scripted server that does not wait between tries."""
    client = EndpointModel(server.endpoint.model_copy(update=changes), pause=pause, seed=0)
    try:
        yield client
    finally:
        client.close()

"""Calls, and results read back."""

from itertools import count
from typing import Any

from sciagent.contracts.conversation import Message, ToolCall
from sciagent.contracts.tool import ToolSpec
from sciagent.tools.boundary import FencedResult, Origin, results_in
from sciagent.tools.context import ToolContext
from sciagent.tools.tool import Tool, ToolOutput
from sciagent.tools.toolbox import Toolbox

_NUMBERS = count(1)


def call(name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(id=f"call-{next(_NUMBERS)}", name=name, arguments=arguments)


def result_of(message: Message) -> FencedResult:
    """The one fenced result of a message."""
    (result,) = results_in(message.content)
    return result


def used(tool: Tool, context: ToolContext, /, **arguments: Any) -> FencedResult:
    """Use one tool through a toolbox."""
    return result_of(Toolbox([tool]).execute(call(tool.name, **arguments), context))


def saying(text: str, *, origin: Origin = "workspace", name: str = "say") -> Tool:
    """A reading tool that always says the same."""
    spec = ToolSpec(name=name, description="Say.", parameters={}, read_only=True, approval="never")
    return Tool(spec=spec, run=lambda *_: ToolOutput(text), origin=origin)

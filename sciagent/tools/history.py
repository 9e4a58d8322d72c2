"""Messages that are no longer in the prompt, looked up again."""

from typing import Annotated

from pydantic import Field

from sciagent.contracts.conversation import Message
from sciagent.contracts.errors import InputError
from sciagent.contracts.events import MessageAdded
from sciagent.tools.boundary import results_in
from sciagent.tools.files import places_of
from sciagent.tools.tool import ToolContext, ToolOutput, tool

_HITS = 10
_AROUND = 200


def conversation_of(context: ToolContext) -> list[Message]:
    """All messages of the agent that calls, from the first, as the journal has them."""
    return [
        event.body.message
        for event in context.journal.events()
        if isinstance(event.body, MessageAdded) and event.span == context.span
    ]


@tool(read_only=True, approval="never")
def recall(
    context: ToolContext, message: Annotated[int, Field(ge=-1)] = -1, text: str = ""
) -> ToolOutput:
    """Look up an earlier message of this conversation, whole or by words that stand in it.

    Parameters
    ----------
    message
        Its number, counted from 0, as stage records give it; -1 to search all.
    text
        Words to look for.
    """
    messages = conversation_of(context)
    if message >= len(messages):
        raise InputError(f"There is no message {message}; the last is {len(messages) - 1}.")
    if message < 0 and not text.split():
        raise InputError("There is nothing to look for.", "Give a number or words.")
    if text.split():
        numbers = range(len(messages)) if message < 0 else [message]
        found = _found(messages, list(numbers), text)
        return ToolOutput(found, tainted=context.taint.read_any, provenance=f"messages with {text}")
    whole = _said(messages[message])
    fetched = any(result.label.fetched for result in results_in(messages[message].content))
    return ToolOutput(whole, tainted=fetched, provenance=f"message {message}")


def _said(message: Message) -> str:
    calls = [f"called {call.name} {call.arguments}" for call in message.tool_calls]
    return "\n".join(filter(None, [f"{message.role} said", message.content, *calls]))


def _found(messages: list[Message], numbers: list[int], text: str) -> str:
    lines = []
    for number in numbers:
        said = _said(messages[number])
        for start, end in places_of(said, text)[:1]:
            around = said[max(0, start - _AROUND) : end + _AROUND]
            lines.append(f"message {number}: {' '.join(around.split())}")
    shown = lines[-_HITS:]
    more = [f"... and {len(lines) - _HITS} earlier ones"] if len(lines) > _HITS else []
    return "\n".join([*more, *shown]) or f"{text!r} was never said."

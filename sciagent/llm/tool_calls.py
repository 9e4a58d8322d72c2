"""Makes the message of an answer: thought divided from content, calls found, read and named."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from sciagent.contracts.conversation import Message, ToolCall
from sciagent.contracts.tool import ToolSpec
from sciagent.llm.arguments import read_arguments
from sciagent.llm.chat_template import split_thought
from sciagent.llm.markup import FoundCall, find_calls
from sciagent.llm.stream import RawAnswer, RawCall

Finish = Literal["stop", "tool_calls", "length", "interrupted"]


@dataclass(slots=True)
class Reading:
    """The message of an answer and what was mended to get it."""

    message: Message
    finish: Finish
    repairs: list[str] = field(default_factory=list)


def read_answer(raw: RawAnswer, tools: Sequence[ToolSpec], used: Collection[str]) -> Reading:
    """Read an answer, mending what servers are known to break.

    Parameters
    ----------
    raw
        The answer as it came.
    tools
        The tools that were offered; without any, markup of calls is left as it is.
    used
        Identifiers of the calls that stand in the conversation already.
    """
    repairs: list[str] = []
    thought, content = split_thought(raw.content)
    reasoning = raw.reasoning
    if thought:
        repairs.append("thought_in_content")
        reasoning = f"{reasoning}\n{thought}".strip()
    offered = {tool.name: tool for tool in tools}
    calls = _native(raw, offered, repairs)
    if not calls and offered:
        content, reasoning, calls = _recovered(content, reasoning, offered, repairs)
    message = Message(
        role="assistant",
        content=content,
        reasoning=reasoning,
        tool_calls=_with_unique_ids(calls, used, repairs),
    )
    return Reading(message, _finish(raw.finish, calls), repairs)


def _finish(told: str | None, calls: list[ToolCall]) -> Finish:
    if calls:
        return "tool_calls"
    return "length" if told == "length" else "stop"


def _native(raw: RawAnswer, offered: dict[str, ToolSpec], repairs: list[str]) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for place, call in enumerate(raw.calls):
        cut_off = raw.finish == "length" and place == len(raw.calls) - 1
        calls += _read(call, offered, repairs, cut_off=cut_off)
    return calls


def _read(
    call: RawCall, offered: dict[str, ToolSpec], repairs: list[str], *, cut_off: bool = False
) -> list[ToolCall]:
    name = call.name.strip()
    read = read_arguments(call.arguments, offered.get(name), cut_off=cut_off)
    if read.repair or read.fault:
        repairs.append(read.repair or "unreadable_arguments")
    fault = read.fault or ("" if name else "The call does not name a tool.")
    first = _tool_call(call.id, name, read.arguments, fault)
    return [first, *(_tool_call(call.id, name, each, "") for each in read.more)]


def _tool_call(given: str, name: str, arguments: dict[str, Any], fault: str) -> ToolCall:
    try:
        call = ToolCall(id=given, name=name, arguments=arguments, fault=fault)
        call.model_dump_json().encode()
    except (ValidationError, PydanticSerializationError):
        # Numbers that overflow and halves of characters are JSON, but cannot be kept.
        return ToolCall(id=given, name=name, fault="The arguments hold a value that is no JSON.")
    return call


def _recovered(
    content: str, reasoning: str, offered: dict[str, ToolSpec], repairs: list[str]
) -> tuple[str, str, list[ToolCall]]:
    """Find calls in the content or, where that says nothing, at the end of the reasoning.

    Returns
    -------
    tuple
        Content and reasoning without the markup of the calls, and the calls.
    """
    found, where = find_calls(content, offered), "call_in_content"
    if found.calls:
        content = found.before
    elif not content.strip():
        found, where = find_calls(reasoning, offered), "call_in_reasoning"
        if not found.ends_text:
            return content, reasoning, []
        reasoning = found.before
    if not found.calls:
        return content, reasoning, []
    repairs.append(where)
    calls = [each for call in found.calls for each in _read_found(call, offered, repairs)]
    return content, reasoning, calls


def _read_found(
    call: FoundCall, offered: dict[str, ToolSpec], repairs: list[str]
) -> list[ToolCall]:
    if call.fault:
        repairs.append("unreadable_arguments")
        return [_tool_call("", call.name, {}, call.fault)]
    return _read(RawCall(name=call.name, arguments=call.arguments), offered, repairs)


def _with_unique_ids(
    calls: list[ToolCall], used: Collection[str], repairs: list[str]
) -> tuple[ToolCall, ...]:
    """Give every call an identifier of its own; the same answers always get the same ones."""
    taken = set(used)
    unique: list[ToolCall] = []
    for call in calls:
        given = call.id or "call"
        name, number = call.id or "call-1", 1
        while name in taken:
            number += 1
            name = f"{given}-{number}"
        if call.id and name != call.id:
            repairs.append("duplicate_id")
        taken.add(name)
        unique.append(call if name == call.id else call.model_copy(update={"id": name}))
    return tuple(unique)

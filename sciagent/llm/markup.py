"""Finds tool calls that a server left as text in an answer or in its reasoning.

Two forms are read: XML (``<tool_call><function=NAME><parameter=KEY>VALUE</parameter>...``, as the
reference model writes them) and JSON (``{"name": NAME, "arguments": {...}}``, with or without
``<tool_call>`` around it). What stands in a code fence, in back quotes or in a quoted line is talk
about calls and is never read.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from sciagent.contracts.tool import ToolSpec
from sciagent.llm.arguments import typed_value

_SCAN = re.compile(
    r"(?P<literal>"
    r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|^ {0,3}>.*?$"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\n).)+?(?<!`)(?P=ticks)(?!`)"
    r"|[\"'“‘]<(?:tool_call>|function=).*?(?:[\"'”’]|\Z)"
    r")"
    r"|(?P<mark><tool_call>|<function=|\[TOOL_CALLS\])"
    r"|(?P<json>^[ \t]*[\[{](?=\s*[\[{\"]))",
    re.MULTILINE | re.DOTALL,
)
_FUNCTION = re.compile(r"\s*<function=([^>\s]+)>")
_FUNCTION_END = re.compile(r"\s*(?:</function>|(?=</tool_call>))")
_PARAMETER = re.compile(r"\s*<parameter=([^>\n]+)>\n?")
# A value may hold the mark of its own end; what counts is the one that the call goes on behind.
_VALUE_END = re.compile(
    r"\n?</parameter>(?=\s*(?:<parameter=[^>\n]+>|</tool_call>\s*\Z|\Z"
    r"|</function>\s*(?:</tool_call>|<tool_call>|<function=|\Z)))"
)
_UNWRAPPED_VALUE_END = re.compile(r"\n?</parameter>(?=\s*(?:<parameter=[^>\n]+>|</function>|\Z))")
_WRAPPED_END = re.compile(r"\s*</tool_call>")


class FoundCall(NamedTuple):
    """A call found in a text; `arguments` are an object, or a text that is still to be read."""

    name: str
    arguments: dict[str, Any] | str
    fault: str = ""


class Found(NamedTuple):
    """Calls of a text, and the text before the first of them."""

    before: str
    calls: tuple[FoundCall, ...]
    ends_text: bool


class _Place(NamedTuple):
    """Calls that stand together, where they begin and end, and whether markup is around them."""

    calls: list[FoundCall]
    start: int
    end: int
    marked: bool


def find_calls(text: str, tools: Mapping[str, ToolSpec]) -> Found:
    """Find the calls of a text.

    A call counts if it names a tool that was offered; one that is marked up from its start to its
    end also counts where nothing stands behind it. JSON without markup counts only there.

    Parameters
    ----------
    text
        Content or reasoning of an answer.
    tools
        The tools offered, by name; they also tell the types of values written in XML.
    """
    if not any(mark in text for mark in ("<function=", "<tool_call>", '"name"')):
        return Found(text, (), ends_text=False)
    places: list[_Place] = []
    position = 0
    while (found := _SCAN.search(text, position)) is not None:
        place = None if found["literal"] else _place_at(text, found, tools)
        position = found.end() if place is None else place.end
        places += [] if place is None else [place]
    ends = bool(places) and not text[places[-1].end :].strip()
    counted = [_counted(place, text, tools, ends=ends) for place in places]
    calls = tuple(call for calls in counted for call in calls)
    first = next((place for place, kept in zip(places, counted, strict=True) if kept), None)
    if first is None:
        return Found(text, (), ends_text=False)
    return Found(text[: first.start].rstrip(), calls, ends_text=ends)


def _counted(
    place: _Place, text: str, tools: Mapping[str, ToolSpec], *, ends: bool
) -> list[FoundCall]:
    if place.marked and not text[place.end :].strip():
        return place.calls
    if not place.marked and not ends:
        return []
    return [call for call in place.calls if call.name in tools]


def _place_at(text: str, found: re.Match[str], tools: Mapping[str, ToolSpec]) -> _Place | None:
    """Read the call, or the list of calls, that begins at a mark."""
    wraps = found["mark"] in {"<tool_call>", "[TOOL_CALLS]"}
    position = found.end() if wraps else found.start()
    calls: list[FoundCall] = []
    while (function := _FUNCTION.match(text, position)) is not None:
        call, position = _from_xml(text, function, tools, wrapped=wraps)
        calls.append(call)
    if not calls:
        calls, position = _from_json(text, position)
    if not calls:
        return None
    closed = _WRAPPED_END.match(text, position)
    end = closed.end() if closed else position
    return _Place(calls, found.start(), end, marked=found["mark"] is not None)


def _from_xml(
    text: str, function: re.Match[str], tools: Mapping[str, ToolSpec], *, wrapped: bool
) -> tuple[FoundCall, int]:
    """Read a call from behind its opening mark; give it and where it ends."""
    name, position = function[1].strip("\"'"), function.end()
    tool = tools.get(name)
    arguments: dict[str, Any] = {}
    while (parameter := _PARAMETER.match(text, position)) is not None:
        end = _VALUE_END.search(text, parameter.end()) if wrapped else None
        end = end or _UNWRAPPED_VALUE_END.search(text, parameter.end())
        if end is None:
            return _cut_off(name), len(text)
        key = parameter[1].strip("\"' ")
        arguments[key] = typed_value(text[parameter.end() : end.start()], tool, key)
        position = end.end()
    closed = _FUNCTION_END.match(text, position)
    if closed is not None:
        return FoundCall(name, arguments), closed.end()
    between, mark, _ = text[position:].partition("</function>")
    if not mark or not between.lstrip().startswith("{"):
        return _cut_off(name), len(text)
    return FoundCall(name, between.strip()), position + len(between) + len(mark)


def _cut_off(name: str) -> FoundCall:
    return FoundCall(name, {}, fault="The call is cut off or its markup is broken.")


def _from_json(text: str, position: int) -> tuple[list[FoundCall], int]:
    """Read JSON that is nothing but one call, or a list of calls."""
    while position < len(text) and text[position].isspace():
        position += 1
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, position)
    except (ValueError, RecursionError):
        return [], position
    values = value if isinstance(value, list) else [value]
    calls = [call for each in values if (call := _from_object(each)) is not None]
    return (calls, end) if len(calls) == len(values) else ([], position)


def _from_object(value: Any) -> FoundCall | None:
    if not isinstance(value, dict):
        return None
    if isinstance(function := value.get("function"), dict):
        value = function
    name = value.get("name")
    arguments = value.get("arguments", value.get("parameters"))
    known = {"name", "arguments", "parameters", "id", "type"}
    if not isinstance(name, str) or not value.keys() <= known:
        return None
    return FoundCall(name, arguments) if isinstance(arguments, dict | str) else None

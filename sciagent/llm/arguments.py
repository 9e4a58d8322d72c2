"""Reads the arguments of a tool call, mends them where nothing is lost, and else says why not."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from sciagent.contracts.tool import ToolSpec

_LEFTOVER = re.compile(r"[\s}\]]*(?:</?[a-z_|]+>[\s}\]]*)*\Z")
_MAX_SHOWN = 120


class ReadArguments(NamedTuple):
    """Arguments as they were read; `more` are those of calls that a server ran into this one."""

    arguments: dict[str, Any]
    fault: str = ""
    repair: str = ""
    more: tuple[dict[str, Any], ...] = ()


def read_arguments(text: Any, tool: ToolSpec | None, *, cut_off: bool = False) -> ReadArguments:
    """Read the arguments of a call.

    Mended are arguments that are missing or empty, JSON inside a JSON string, brackets missing
    at the end with every required argument there, and markup left behind the object. Arguments
    that are cut inside a value are never completed: a half-written text must not be executed.

    Parameters
    ----------
    text
        What the endpoint gave: JSON text, or an object that is already read.
    tool
        The tool called, if it is known.
    cut_off
        Whether the answer ended because it became too long.
    """
    if isinstance(text, Mapping):
        return _inner(ReadArguments(dict(text)), tool)
    if text is None or not str(text).strip():
        return ReadArguments({}, repair="empty_arguments")
    text = str(text)
    try:
        found = _decoded(text)
    except _NotJson:
        return _completed(text, tool, cut_off=cut_off)
    return _inner(found, tool)


class _NotJson(ValueError):  # noqa: N818
    """The text is no JSON that stands for arguments."""

    kind = "endpoint.not_json"


def _loads(text: str) -> Any:
    def refuse(name: str) -> Any:
        raise _NotJson(name)

    try:
        return json.JSONDecoder(strict=False, parse_constant=refuse).raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise _NotJson(str(error)) from error


def _decoded(text: str) -> ReadArguments:
    """Read an object, several of them run together, or a text that holds one."""
    objects: list[dict[str, Any]] = []
    rest, repair = text.strip(), ""
    while rest.startswith("{"):
        value, end = _loads(rest)
        if value not in objects:
            objects.append(value)
        rest = rest[end:].lstrip()
    # Some parsers give an empty object first, and then the one that is meant.
    objects = [each for each in objects if each] or objects[:1]
    if objects and _LEFTOVER.match(rest):
        repair = "leftover_after_arguments" if rest else repair
        repair = "merged_arguments" if len(objects) > 1 else repair
        return ReadArguments(objects[0], repair=repair, more=tuple(objects[1:]))
    if not objects and rest.startswith('"'):
        value, end = _loads(rest)
        if not rest[end:].strip():
            inner = _decoded(value) if value.strip() else ReadArguments({})
            return inner._replace(repair="double_encoded_arguments")
    raise _NotJson("Not an object.")


def _completed(text: str, tool: ToolSpec | None, *, cut_off: bool) -> ReadArguments:
    """Add brackets that are missing at the end, if nothing else can be missing."""
    shown = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
    broken = ReadArguments({}, fault=f"The arguments are not a JSON object: {shown}")
    closing = _closing(text)
    if not closing:
        return broken
    broken = ReadArguments({}, fault=f"The arguments are cut off: {shown}")
    if cut_off or closing.startswith('"'):
        return broken
    try:
        found = _decoded(text + closing)
    except _NotJson:
        return broken
    required = tool.parameters.get("required", []) if tool is not None else []
    if not isinstance(required, list) or not set(map(str, required)) <= found.arguments.keys():
        return broken
    return _inner(found._replace(repair="truncated_arguments"), tool)


def _closing(text: str) -> str:
    """Quotation mark and brackets that are missing at the end of a JSON text."""
    awaited: list[str] = []
    inside = escaped = False
    for character in text:
        if inside:
            inside = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            inside = True
        elif character in "{[":
            awaited.append("}" if character == "{" else "]")
        elif character in "}]" and awaited:
            awaited.pop()
    return ('"' if inside else "") + "".join(reversed(awaited))


def _inner(found: ReadArguments, tool: ToolSpec | None) -> ReadArguments:
    """Read lists and objects that were given as texts although the tool wants them as such."""
    if tool is None:
        return found
    arguments = dict(found.arguments)
    for name, value in found.arguments.items():
        if isinstance(value, str) and not types_of(tool, name) & {"string", ""}:
            arguments[name] = _value(value, types_of(tool, name))
    if arguments == found.arguments:
        return found
    return found._replace(arguments=arguments, repair=found.repair or "double_encoded_arguments")


def typed_value(text: str, tool: ToolSpec | None, name: str) -> Any:
    """Read a value written without quotation marks, as in XML, by the type the tool states."""
    types = types_of(tool, name) if tool is not None else {""}
    if types <= {"string", ""} or ("string" in types and text.strip() not in {"null", "None"}):
        return text
    return _value(text, types)


def _value(text: str, types: set[str]) -> Any:
    """Read a text as a value of one of the types; it stays a text where it is none."""
    plain = {"True": "true", "False": "false", "None": "null"}.get(text.strip(), text.strip())
    try:
        value, end = _loads(plain)
    except _NotJson:
        return text
    return value if end == len(plain) and _type_of(value) & types else text


def _type_of(value: Any) -> set[str]:
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int):
        return {"integer", "number"}
    return {{float: "number", str: "string", list: "array", dict: "object"}[type(value)]}


def types_of(tool: ToolSpec, name: str) -> set[str]:
    """JSON types that a tool allows for a parameter; ``""`` stands for anything."""
    properties = tool.parameters.get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    return _types(schema, tool.parameters)


def _types(schema: Any, root: Mapping[str, Any]) -> set[str]:
    if not isinstance(schema, dict):
        return {""}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        definitions = root.get("$defs")
        name = reference.rpartition("/")[2]
        target = definitions.get(name) if isinstance(definitions, dict) else None
        return _types(target, root)
    if isinstance(stated := schema.get("type"), str):
        return {stated}
    if isinstance(stated, list):
        return set(map(str, stated))
    choices = schema.get("anyOf") or schema.get("oneOf") or []
    return set().union(*(_types(choice, root) for choice in choices)) or _enumerated(schema)


def _enumerated(schema: Mapping[str, Any]) -> set[str]:
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return set().union(*map(_type_of, values)) if values else {""}

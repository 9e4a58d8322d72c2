"""`KEY=VALUE` as it is typed, read by the JSON schema of what it is for."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import JsonValue

from sciagent.contracts.errors import InputError

Schema = Mapping[str, JsonValue]


def split_assignment(text: str, example: str) -> tuple[str, str]:
    """Split at the first equals sign.

    Raises
    ------
    InputError
        If there is none, or no key before it.
    """
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise InputError(f"{text!r} is not KEY=VALUE.", f"Write it like {example}.")
    return key.strip(), value


def input_paths(assignments: Iterable[str]) -> dict[str, list[Path]]:
    """Files by the name of the input; a key given several times has several files."""
    inputs: dict[str, list[Path]] = {}
    for text in assignments:
        key, value = split_assignment(text, "--input pattern=scan.xye")
        if not value:
            raise InputError(f"No path is given for the input {key!r}.", f"Write {key}=PATH.")
        inputs.setdefault(key, []).append(Path(value).expanduser())
    return inputs


def setting_values(assignments: Iterable[str], schema: Schema) -> dict[str, JsonValue]:
    """Settings by name, each read by its part of the schema."""
    settings: dict[str, JsonValue] = {}
    for text in assignments:
        key, value = split_assignment(text, "--set threads=2")
        if key in settings:
            raise InputError(f"The setting {key!r} is given twice.", "Give it once.")
        settings[key] = value_from_text(value, property_of(schema, key), schema)
    return settings


def property_of(schema: Schema, name: str) -> Schema:
    """Schema of one property, or an empty one."""
    properties = schema.get("properties")
    found = properties.get(name) if isinstance(properties, dict) else None
    return found if isinstance(found, dict) else {}


def types_of(schema: Schema, whole: Schema) -> set[str]:
    """JSON types that a schema allows; empty where it does not say."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        definitions = whole.get("$defs")
        name = reference.rpartition("/")[2]
        target = definitions.get(name) if isinstance(definitions, dict) else None
        return types_of(target, whole) if isinstance(target, dict) else set()
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(alternatives, list):
        parts = [types_of(part, whole) for part in alternatives if isinstance(part, dict)]
        return set().union(*parts)
    kind = schema.get("type")
    if isinstance(kind, list):
        return {name for name in kind if isinstance(name, str)}
    return {kind} if isinstance(kind, str) else set()


def value_from_text(text: str, schema: Schema, whole: Schema) -> JsonValue:
    """Read a typed value: JSON where that is what the schema allows, else the text itself.

    A list may be written with commas: ``a,b`` is ``["a", "b"]`` where a list is wanted.
    Whether the value is allowed is judged by whoever receives it.
    """
    types = types_of(schema, whole)
    if types == {"string"}:
        return text
    try:
        value: JsonValue = json.loads(text, parse_constant=str)
    except ValueError:  # no JSON, or a number of absurd length
        value = text
    if "array" in types and not isinstance(value, list) and value is not None:
        items = schema.get("items")
        item_schema = items if isinstance(items, dict) else {}
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return [value_from_text(part, item_schema, whole) for part in parts]
    if types and types <= {"string", "null"} and value is not None:
        return text
    return value

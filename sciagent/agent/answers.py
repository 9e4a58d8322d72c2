"""JSON objects read from a model's answer, however they are wrapped."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from sciagent.contracts.agent import SubagentEvidence, SubagentResult

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_URL = ("url", "source", "link")
_QUOTE = ("quote", "snippet", "text")
_CLAIM = ("claim", "supports")


def json_object(text: str) -> dict[str, Any] | None:
    """Read the one JSON object of an answer: all of it, in a code fence, or the last in prose."""
    for candidate in _candidates(text):
        try:
            value = json.loads(candidate, strict=False)
        except ValueError:
            continue
        if isinstance(value, str):  # encoded twice
            return json_object(value)
        if isinstance(value, dict):
            return value
    return None


def _candidates(text: str) -> Iterator[str]:
    yield text.strip()
    yield from reversed(_FENCED.findall(text))
    decoder = json.JSONDecoder(strict=False)
    found, place = [], text.find("{")
    while place >= 0:
        try:
            _, end = decoder.raw_decode(text, place)
            found.append(text[place:end])
        except ValueError:
            end = place + 1
        place = text.find("{", end)
    yield from reversed(found)


def subagent_result(text: str) -> SubagentResult | str:
    """Read a subagent's answer, or say what is wrong with it."""
    content = json_object(text)
    if content is None:
        return "Your answer is no JSON object. Give the JSON object that was asked for, only."
    try:
        evidence = tuple(_evidence(item) for item in _listed(content.get("evidence")))
        issues = tuple(str(item) for item in _listed(content.get("unresolved_issues")))
        return SubagentResult(
            answer=_written(content.get("answer", "")), status=content.get("status", ""),
            evidence=evidence, unresolved_issues=issues,
        )  # fmt: skip
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"In your JSON object, `{place}` cannot be used: {first['msg']}. Give it again."


def _evidence(item: Any) -> SubagentEvidence:
    if not isinstance(item, Mapping):
        return SubagentEvidence(url="", quote="", claim=str(item))
    return SubagentEvidence(
        url=_first(item, _URL), quote=_first(item, _QUOTE), claim=_first(item, _CLAIM)
    )


def _first(item: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(item[name]) for name in names if item.get(name)), "")


def _listed(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

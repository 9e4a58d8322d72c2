"""What real servers refuse, so that a client that sends it is found out."""

import json
from collections.abc import Mapping
from typing import Any

from sciagent.testing.model_server.faults import Refusal, refusal
from sciagent.testing.model_server.script import text_of


def objection(body: Mapping[str, Any], *, takes_switches: bool = True) -> Refusal | None:
    """Refuse a request as the strictest of the known servers would, or find nothing wrong.

    Refused are: no messages, a system message that is not first, no user message, arguments that
    are no JSON object, identifiers of calls that are used twice, tool messages that answer no
    call, calls without an answer, and verification that is no JSON boolean or comes without a
    system message, unless the server does not look at it.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return _bad("There are no messages.")
    roles = [message.get("role") for message in messages]
    if "system" in roles[1:]:
        return _bad("System message must be at the beginning.")
    if "user" not in roles:
        return _bad("No user query found in messages.")
    refused = _verification(body, messages) if takes_switches else None
    return refused or _calls(messages)


def _bad(message: str) -> Refusal:
    return refusal(400, message, type="BadRequestError")


def _verification(body: Mapping[str, Any], messages: list[dict[str, Any]]) -> Refusal | None:
    asked = (body.get("chat_template_kwargs") or {}).get("verification")
    if asked is None:
        return None
    if not isinstance(asked, bool):
        return _bad("verification must be a boolean.")
    system = text_of(messages[0]) if messages[0]["role"] == "system" else ""
    if asked and not system.strip():
        return _bad("Verification requires a non-empty system message.")
    return None


def _calls(messages: list[dict[str, Any]]) -> Refusal | None:
    seen: set[str] = set()
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                return _bad("A tool message answers no call.")
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            return _bad(f"Calls without an answer: {sorted(waiting)}.")
        for call in message.get("tool_calls") or ():
            if call["id"] in seen:
                return _bad(f"The identifier {call['id']} is used twice.")
            seen.add(call["id"])
            waiting.add(call["id"])
            if not _is_object(call["function"]["arguments"]):
                return _bad("The arguments of a call are not valid JSON.")
    return _bad(f"Calls without an answer: {sorted(waiting)}.") if waiting else None


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False

"""An answer as the JSON that goes over the wire, in one piece or as the chunks of a stream."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from sciagent.testing.model_server.script import ScriptedAnswer

ReasoningField = Literal["reasoning_content", "reasoning", "think_tags"]

_PIECE_CHARACTERS = 64
DONE = b"data: [DONE]\n\n"


def wire_message(answer: ScriptedAnswer, number: int, reasoning: ReasoningField) -> dict[str, Any]:
    """Write an answer as an assistant message.

    Parameters
    ----------
    answer
        What the policy answered.
    number
        Number of the request; it makes identifiers of calls unique.
    reasoning
        Field that the reasoning stands in, or ``think_tags`` for within the content.
    """
    content = answer.content
    if answer.reasoning and reasoning == "think_tags":
        content = f"<think>\n{answer.reasoning}\n</think>\n\n{content}"
    message: dict[str, Any] = {"role": "assistant", "content": content or None}
    if answer.reasoning and reasoning != "think_tags":
        message[reasoning] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{number}_{place}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.text},
            }
            for place, call in enumerate(answer.calls)
        ]
    return message


def whole(
    message: Mapping[str, Any], reason: str, usage: Mapping[str, Any] | None, number: int
) -> dict[str, Any]:
    """Write the answer in one piece."""
    choice = {"index": 0, "message": message, "finish_reason": reason}
    response = {**_head(number, "chat.completion"), "choices": [choice]}
    return {**response, "usage": usage} if usage is not None else response


def chunks(
    message: Mapping[str, Any],
    reason: str,
    usage: Mapping[str, Any] | None,
    number: int,
    *,
    merged: bool = False,
) -> Iterator[bytes]:
    """Write the answer as the events of a stream.

    Parameters
    ----------
    message, reason, usage
        The answer, why it ends, and what it used.
    number
        Number of the request.
    merged
        Give all calls the same index, as some servers do.
    """
    head = _head(number, "chat.completion.chunk")

    def event(choices: list[Any], **fields: Any) -> bytes:
        return b"data: " + json.dumps({**head, "choices": choices, **fields}).encode() + b"\n\n"

    def delta(change: Mapping[str, Any], finish: str | None = None) -> bytes:
        return event([{"index": 0, "delta": change, "finish_reason": finish}])

    yield delta({"role": "assistant", "content": ""})
    for channel in ("reasoning_content", "reasoning", "content"):
        for piece in _pieces(message.get(channel) or ""):
            yield delta({channel: piece})
    for place, call in enumerate(message.get("tool_calls") or ()):
        index = 0 if merged else place
        opened = {**call["function"], "arguments": ""}
        yield delta({"tool_calls": [{**call, "index": index, "function": opened}]})
        for piece in _pieces(call["function"]["arguments"]):
            yield delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield delta({}, reason)
    if usage is not None:
        yield event([], usage=usage)


def _head(number: int, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{number}", "object": kind, "created": int(time.time()),
        "model": "scripted",
    }  # fmt: skip


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE_CHARACTERS):
        yield text[start : start + _PIECE_CHARACTERS]

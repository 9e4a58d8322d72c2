"""Messages as endpoints read them."""

import base64
import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sciagent.contracts.conversation import Image, Message, ToolCall
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.tool import ToolSpec
from sciagent.llm.chat_template import system_text, template_fields

WireMessage = dict[str, Any]

_NO_USER = "Go on."
_NAME = re.compile(r"[^A-Za-z0-9_-]")


def request_body(
    endpoint: Endpoint,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    *,
    verification: bool = False,
    root: Path | None = None,
) -> dict[str, Any]:
    """Make the body of a request, without the fields that say whether it streams.

    Parameters
    ----------
    endpoint
        Model, sampling and further fields.
    messages
        The conversation. System messages may stand anywhere; they are sent as one, first.
    tools
        Tools offered; their order is kept, so that the server finds its prefix again.
    verification
        Ask for a self-review (see `sciagent.llm.chat_template`).
    root
        Folder that the paths of images are relative to.

    Raises
    ------
    InputError
        If verification is asked for without a system message.
    """
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": wire_messages(endpoint, messages, verification=verification, root=root),
    }
    if tools:
        body["tools"] = [wire_tool(tool) for tool in tools]
        if not endpoint.parallel_tool_calls:
            body["parallel_tool_calls"] = False
    body.update(endpoint.sampling.model_dump(exclude_none=True))
    body.update(template_fields(endpoint, verification=verification))
    return body


def wire_tool(tool: ToolSpec) -> dict[str, Any]:
    """Describe a tool as endpoints read it."""
    function = {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters,
    }  # fmt: skip
    return {"type": "function", "function": function}


def wire_messages(
    endpoint: Endpoint,
    messages: Sequence[Message],
    *,
    verification: bool = False,
    root: Path | None = None,
) -> list[WireMessage]:
    """Write a conversation in the order that every chat template takes.

    The system message stands first and alone, some user message follows somewhere, and pictures
    that tools made come in a user message behind the tool messages of their turn, because a tool
    message holds text only.
    """
    system = [message for message in messages if message.role == "system"]
    spoken = [message for message in messages if message.role != "system"]
    text = system_text(endpoint, system, verification=verification)
    wired: list[WireMessage] = [{"role": "system", "content": text}] if text.strip() else []
    if not any(message.role == "user" for message in spoken):
        wired.append({"role": "user", "content": _NO_USER})
    for is_tool, group in groupby(spoken, key=lambda message: message.role == "tool"):
        turn = list(group)
        wired += [_wire_message(endpoint, message, root) for message in turn]
        images = [image for message in turn if is_tool for image in message.images]
        if images and endpoint.images:
            wired.append({"role": "user", "content": _parts("Pictures:", images, root)})
    return wired


def _wire_message(endpoint: Endpoint, message: Message, root: Path | None) -> WireMessage:
    if message.role == "assistant":
        return _wire_assistant(message)
    shown = message.role == "user" and endpoint.images
    content = message.content
    if message.images and not endpoint.images:
        content = "\n".join([content, *(f"[picture: {image.path}]" for image in message.images)])
    if message.images and shown:
        return {"role": "user", "content": _parts(content, message.images, root)}
    wired = {"role": message.role, "content": content}
    return {**wired, "tool_call_id": message.tool_call_id} if message.role == "tool" else wired


def _wire_assistant(message: Message) -> WireMessage:
    wired: WireMessage = {"role": "assistant", "content": message.content}
    if message.reasoning:
        # Each server reads one of the two fields and ignores the other.
        wired["reasoning"] = wired["reasoning_content"] = message.reasoning
    if message.tool_calls:
        wired["tool_calls"] = [_wire_call(call) for call in message.tool_calls]
    return wired


def _wire_call(call: ToolCall) -> dict[str, Any]:
    # A call with a fault never goes back as it came: servers fail on arguments that are no JSON.
    arguments = "{}" if call.fault else json.dumps(call.arguments, ensure_ascii=False)
    name = _NAME.sub("_", call.name)[:64] or "unknown"
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _parts(text: str, images: Sequence[Image], root: Path | None) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": text},
        *(part for each in images for part in _part(each, root)),
    ]


def _part(image: Image, root: Path | None) -> Iterator[dict[str, Any]]:
    yield {"type": "text", "text": image.path}
    content = _content(image, root)
    if content is None:
        yield {"type": "text", "text": "[This picture is no longer there.]"}
    else:
        url = f"data:{image.media_type};base64,{base64.b64encode(content).decode()}"
        yield {"type": "image_url", "image_url": {"url": url}}


def _content(image: Image, root: Path | None) -> bytes | None:
    try:
        return ((root or Path()) / image.path).read_bytes()
    except OSError:
        return None

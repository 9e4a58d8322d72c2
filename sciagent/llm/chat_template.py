"""What belongs to a model's chat template: marks of thought, and the switch for verification."""

import re
from typing import Any

from sciagent.contracts.conversation import Message
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.errors import InputError

OPEN, CLOSE = "<think>", "</think>"

PROTOCOL_LINE = "Verification protocol: enabled"
PROTOCOL = (
    f"{PROTOCOL_LINE}\n"
    "When a search repeats, when nothing new comes in, or when an important conclusion is near, "
    "stop and review: list the confirmed facts with their sources, apart from what is only "
    "assumed; name the paths that are given up and what is still open; then state the next step."
)

_LEAKED = re.compile(r"\A(?P<thought>(?:(?!<think>|```).)*?)</think>\s*", re.DOTALL)
_MARKED = re.compile(r"\A\s*<think>(?P<thought>.*?)(?:</think>\s*|\Z)", re.DOTALL)


def split_thought(content: str) -> tuple[str, str]:
    """Divide content into the thought that a server left at its beginning, and the rest.

    A closing mark without an opening one counts too, because many templates write the opening
    mark into the prompt. Marks further on, or behind a code fence, are part of the text.

    Returns
    -------
    tuple of str
        Thought, empty where there is none, and content.
    """
    if CLOSE not in content and OPEN not in content:
        return "", content
    found = _MARKED.match(content) or _LEAKED.match(content)
    if found is None:
        return "", content
    return found["thought"].strip(), content[found.end() :]


class ThoughtFilter:
    """Tells thought from content while an answer that mixes the two arrives."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, text: str) -> list[tuple[str, str]]:
        """Take the next piece of content; give the pieces that can be told, with their channel."""
        if self._state == "after":
            text = text.lstrip()
            self._state = "content" if text else "after"
        if self._state in {"after", "content"}:
            return _piece("content", text)
        self._held += text
        if self._state == "start":
            begin = self._held.lstrip()
            if len(begin) < len(OPEN) and OPEN.startswith(begin):
                return []
            if not begin.startswith(OPEN):
                return self._rest("content")
            self._state, self._held = "thought", begin.removeprefix(OPEN)
        thought, closed, after = self._held.partition(CLOSE)
        if closed:
            self._held, self._state = "", "after"
            return [*_piece("reasoning", thought), *self.feed(after)]
        kept = next((n for n in range(len(CLOSE) - 1, 0, -1) if thought.endswith(CLOSE[:n])), 0)
        self._held = thought[len(thought) - kept :]
        return _piece("reasoning", thought[: len(thought) - kept])

    def end(self) -> list[tuple[str, str]]:
        """Give what was held back."""
        return self._rest("reasoning" if self._state == "thought" else "content")

    def _rest(self, channel: str) -> list[tuple[str, str]]:
        held, self._held, self._state = self._held, "", "content"
        return _piece(channel, held)


def _piece(channel: str, text: str) -> list[tuple[str, str]]:
    return [(channel, text)] if text else []


def system_text(endpoint: Endpoint, messages: list[Message], *, verification: bool) -> str:
    """Join the system messages, with the protocol line where the endpoint needs it in the prompt.

    Raises
    ------
    InputError
        If verification is asked for without a system message that says something.
    """
    text = "\n\n".join(message.content for message in messages if message.content.strip())
    if not verification:
        return text
    if not text.strip():
        raise InputError(
            "Verification mode needs a system message that is not empty.",
            "Give a system message, or switch verification off.",
        )
    return f"{text}\n\n{PROTOCOL}" if endpoint.verification == "prompt" else text


def template_fields(endpoint: Endpoint, *, verification: bool) -> dict[str, Any]:
    """Fields of the request besides the known ones, with the template's switches among them."""
    fields: dict[str, Any] = dict(endpoint.extra_body)
    if verification and endpoint.verification == "template":
        switches = fields.get("chat_template_kwargs")
        switches = dict(switches) if isinstance(switches, dict) else {}
        fields["chat_template_kwargs"] = {**switches, "verification": True}
    return fields

"""Puts an answer together from the pieces of a stream, or takes it from one piece."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sciagent.contracts.errors import EndpointError
from sciagent.llm.chat_template import ThoughtFilter

Heard = Callable[[str, str], None]


class BrokenAnswerError(EndpointError):
    """An answer that ends too early or is not what the protocol says."""

    kind = "endpoint.broken_answer"


class EmptyStreamError(EndpointError):
    """An answer of status 200 without any choice in it."""

    kind = "endpoint.empty_stream"


@dataclass(slots=True)
class RawCall:
    """A tool call as the endpoint gave it; arguments are JSON text, or an object read by it."""

    id: str = ""
    name: str = ""
    arguments: Any = ""


@dataclass(slots=True)
class RawAnswer:
    """An answer as the endpoint gave it."""

    content: str = ""
    reasoning: str = ""
    calls: list[RawCall] = field(default_factory=list)
    finish: str | None = None
    usage: Mapping[str, Any] | None = None
    reasoning_field: str = ""


def whole_answer(response: Any) -> RawAnswer:
    """Take an answer that came in one piece.

    Raises
    ------
    EmptyStreamError
        If it holds no choice.
    BrokenAnswerError
        If it is no answer.
    """
    if not isinstance(response, Mapping):
        raise BrokenAnswerError("The endpoint's answer is not a JSON object.")
    if error := response.get("error"):
        said = _mapping(error).get("message") or error
        raise BrokenAnswerError(f"The endpoint failed while it answered: {said}")
    choice = _first(response.get("choices"))
    if choice is None:
        raise EmptyStreamError("The endpoint answered without an answer in it.")
    message = _mapping(choice.get("message"))
    name, reasoning = _reasoning(message)
    answer = RawAnswer(
        content=_text(message.get("content")),
        reasoning=reasoning,
        finish=choice.get("finish_reason") or "stop",
        usage=_usage(response),
        reasoning_field=name,
    )
    for call in message.get("tool_calls") or ():
        function = _mapping(_mapping(call).get("function"))
        arguments = function.get("arguments")
        answer.calls.append(RawCall(_text(call.get("id")), _text(function.get("name")), arguments))
    return answer


class Assembly:
    """An answer that is being put together.

    Parameters
    ----------
    heard
        Told each piece of ``content`` or ``reasoning`` as it arrives.
    """

    def __init__(self, heard: Heard | None = None) -> None:
        self.answer = RawAnswer()
        self.chunks = 0
        self._heard = heard
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._filter = ThoughtFilter()
        self._at: dict[Any, RawCall] = {}

    def take(self, chunks: Iterable[Any]) -> RawAnswer:
        """Take all chunks of a stream.

        Raises
        ------
        EmptyStreamError
            If there is no choice in any of them.
        BrokenAnswerError
            If the stream ends before the answer does.
        """
        for chunk in chunks:
            self.add(chunk)
        answer = self.so_far()
        if not self.chunks:
            raise EmptyStreamError("The endpoint's stream had nothing in it.")
        if answer.finish is None:
            raise BrokenAnswerError("The stream ended before the answer did.")
        return answer

    def add(self, chunk: Any) -> None:
        """Take one chunk.

        Raises
        ------
        BrokenAnswerError
            If it is not what the protocol says.
        """
        if not isinstance(chunk, Mapping):
            raise BrokenAnswerError("A piece of the stream is not a JSON object.")
        self.answer.usage = _usage(chunk) or self.answer.usage
        choice = _first(chunk.get("choices"))
        if choice is None:
            return
        self.chunks += 1
        delta = _mapping(choice.get("delta"))
        name, thought = _reasoning(delta)
        if thought:
            self.answer.reasoning_field = name
            self._reasoning.append(thought)
            self._tell([("reasoning", thought)])
        if content := _text(delta.get("content")):
            self._content.append(content)
            self._tell(self._filter.feed(content))
        for place, call in enumerate(delta.get("tool_calls") or ()):
            self._add_call(_mapping(call), place)
        self.answer.finish = choice.get("finish_reason") or self.answer.finish

    def so_far(self) -> RawAnswer:
        """Give what has arrived until now."""
        self._tell(self._filter.end())
        self.answer.content = _text("".join(self._content))
        self.answer.reasoning = _text("".join(self._reasoning))
        return self.answer

    def _tell(self, pieces: list[tuple[str, str]]) -> None:
        if self._heard is not None:
            for channel, text in pieces:
                self._heard(channel, text)

    def _add_call(self, delta: Mapping[str, Any], place: int) -> None:
        function = _mapping(delta.get("function"))
        index = delta.get("index")
        key = place if index is None else index
        given, name = _text(delta.get("id")), _text(function.get("name"))
        call = self._at.get(key)
        if index is None and not name and not given and self.answer.calls:
            call = self.answer.calls[-1]
        if call is None or _begins_another(call, given, name):
            call = RawCall(id=given, name=name)
            self._at[key] = call
            self.answer.calls.append(call)
        call.id = call.id or given
        call.name = call.name or name
        piece = function.get("arguments")
        if isinstance(piece, Mapping):
            call.arguments = piece
        elif piece and isinstance(call.arguments, str):
            call.arguments += str(piece)


def _begins_another(call: RawCall, given: str, name: str) -> bool:
    """Whether a piece with a name begins another call although its index is taken.

    Some servers give all calls of a turn the same index; others repeat the name, or change the
    id, in every piece of one call.
    """
    if not name or not call.name:
        return False
    if given and call.id and given != call.id:
        return name != call.name or _is_complete(call.arguments)
    return not given and _is_complete(call.arguments)


def _is_complete(arguments: Any) -> bool:
    if not isinstance(arguments, str):
        return True
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return True


def _reasoning(message: Mapping[str, Any]) -> tuple[str, str]:
    """Read the reasoning under the one name or the other."""
    for name in ("reasoning_content", "reasoning"):
        if text := _text(message.get(name)):
            return name, text
    return "", ""


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value if value.isascii() else _whole_characters(value)
    if isinstance(value, list):
        return "".join(_text(_mapping(part).get("text")) for part in value)
    return ""


def _whole_characters(text: str) -> str:
    """Join halves of characters, and replace those whose other half is missing."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first(choices: Any) -> Mapping[str, Any] | None:
    return _mapping(choices[0]) if isinstance(choices, list) and choices else None


def _usage(response: Mapping[str, Any]) -> Mapping[str, Any] | None:
    usage = response.get("usage")
    return usage if isinstance(usage, Mapping) else None

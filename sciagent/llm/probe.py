"""Looks at what an endpoint can do, by asking it."""

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import openai

from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.errors import SciagentError
from sciagent.contracts.run import DoctorItem
from sciagent.contracts.tool import ToolSpec
from sciagent.llm.client import connect
from sciagent.llm.retry import judge, message_of
from sciagent.llm.stream import Assembly, BrokenAnswerError, EmptyStreamError, RawAnswer
from sciagent.llm.tool_calls import read_answer
from sciagent.llm.wire import wire_tool

_LONGEST_ANSWER = 1024
_TIMEOUT_S = 120.0
_FAILURES = (
    openai.APIError, BrokenAnswerError, EmptyStreamError, json.JSONDecodeError, UnicodeDecodeError,
)  # fmt: skip
_WINDOW_FIELDS = (
    "loaded_context_length", "max_model_len", "context_length", "max_context_length", "n_ctx",
    "n_ctx_train",
)  # fmt: skip
_ADD = ToolSpec(
    name="add",
    description="Add two numbers.",
    parameters={
        "type": "object",
        "properties": {"first": {"type": "integer"}, "second": {"type": "integer"}},
        "required": ["first", "second"],
    },
    read_only=True,
)


@dataclass(frozen=True, slots=True)
class _Probe:
    """An endpoint that is being looked at."""

    endpoint: Endpoint
    client: openai.OpenAI

    def ask(self, content: Any, **fields: Any) -> RawAnswer:
        """Ask one question, as a stream."""
        body = {
            "model": self.endpoint.model,
            "messages": [
                {"role": "system", "content": "You are being tested. Answer in one sentence."},
                {"role": "user", "content": content},
            ],
            "max_tokens": _LONGEST_ANSWER,
            "stream": True,
            "stream_options": {"include_usage": True},
            **fields,
        }
        with self.client.post(
            "/chat/completions", cast_to=object, body=body, stream=True,
            stream_cls=openai.Stream[object],
        ) as chunks:  # fmt: skip
            return Assembly().take(chunks)

    def get(self, address: str) -> Any:
        """Read a page of the endpoint; nothing where there is none."""
        try:
            return self.client.get(address, cast_to=object)
        except _FAILURES:
            return None

    def failure(self, error: Exception) -> SciagentError:
        return judge(error, self.endpoint).error


def probe(endpoint: Endpoint, *, api_key: str | None = None) -> list[DoctorItem]:
    """Ask an endpoint a few short questions to learn what it can do.

    Parameters
    ----------
    endpoint
        The endpoint.
    api_key
        Key for it; without one, the variable that the endpoint names is read.

    Returns
    -------
    list of DoctorItem
        Whether it is reachable, streams, calls tools, takes images and honours the switch for
        verification; in which field the reasoning comes; and how large the window is. An
        endpoint that cannot be reached gives the first item only.
    """
    bounded = endpoint.model_copy(update={"timeout_s": min(endpoint.timeout_s, _TIMEOUT_S)})
    with connect(bounded, api_key=api_key) as client:
        looked = _Probe(bounded, client)
        try:
            listed = client.get("/models", cast_to=object)
        except _FAILURES as error:
            failed = looked.failure(error)
            return [_item("endpoint", "missing", failed.message, failed.remedy)]
        return [_reachable(looked, listed), *_answers(looked), _window(looked, listed)]


def _item(name: str, status: Any, detail: str, remedy: str = "") -> DoctorItem:
    return DoctorItem(name=name, status=status, detail=detail, remedy=remedy)


def _reachable(looked: _Probe, listed: Any) -> DoctorItem:
    names = [str(model.get("id")) for model in _models(listed)]
    model, base_url = looked.endpoint.model, looked.endpoint.base_url
    if names and model not in names:
        return _item(
            "endpoint", "warning", f"{base_url} answers, but does not list {model!r}.",
            f"Name a model that it lists: {', '.join(names[:5])}.",
        )  # fmt: skip
    return _item("endpoint", "ok", f"{base_url} answers and lists {model!r}.")


def _answers(looked: _Probe) -> Iterator[DoctorItem]:
    """Look at all that takes an answer; without streaming the others are still asked."""
    yield from _streaming(looked)
    questions: tuple[tuple[str, Callable[[_Probe], DoctorItem]], ...] = (
        ("tool calls", _tool_calls), ("images", _images), ("verification", _verification),
    )  # fmt: skip
    for name, question in questions:
        try:
            yield question(looked)
        except _FAILURES as error:
            failed = looked.failure(error)
            yield _item(name, "missing", failed.message, failed.remedy)


def _streaming(looked: _Probe) -> list[DoctorItem]:
    try:
        answer = looked.ask("What is the capital of Norway?")
    except _FAILURES as error:
        failed = looked.failure(error)
        return [_item("streaming", "missing", failed.message, failed.remedy)]
    counted = "" if answer.usage is not None else " It does not say what it used."
    thought = answer.reasoning_field
    if thought:
        detail = f"Reasoning comes in the field `{thought}`."
    elif read_answer(answer, (), ()).message.reasoning:
        detail = "Reasoning comes within the content, and is divided from it."
    else:
        detail = "No reasoning came."
    return [
        _item("streaming", "ok", f"It streams.{counted}"),
        _item("reasoning", "ok", detail),
    ]


def _tool_calls(looked: _Probe) -> DoctorItem:
    answer = looked.ask("Call the tool `add` with 2 and 3.", tools=[wire_tool(_ADD)])
    reading = read_answer(answer, (_ADD,), ())
    if answer.calls:
        return _item("tool calls", "ok", "It calls tools.")
    if reading.message.tool_calls:
        return _item(
            "tool calls", "warning", "It leaves its calls in the text; they are read from there.",
            "Start the server with the model's tool-call parser.",
        )  # fmt: skip
    return _item(
        "tool calls", "missing", "It did not call a tool that it was told to call.",
        "Start the server with the model's tool-call parser, or use another model.",
    )  # fmt: skip


def _images(looked: _Probe) -> DoctorItem:
    url = f"data:image/png;base64,{base64.b64encode(_red_square()).decode()}"
    parts = [
        {"type": "text", "text": "What colour is this?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    try:
        looked.ask(parts)
    except openai.APIStatusError as error:
        status = "missing" if looked.endpoint.images else "ok"
        remedy = "Set `images = false` for this endpoint." if looked.endpoint.images else ""
        return _item("images", status, f"It takes no images: {message_of(error)}", remedy)
    if looked.endpoint.images:
        return _item("images", "ok", "It takes images.")
    return _item(
        "images", "ok", "It takes images, and none are sent.",
        "Set `images = true` for this endpoint if the model can see.",
    )  # fmt: skip


def _red_square(size: int = 64) -> bytes:
    """Draw a PNG; models that divide pictures into patches refuse the smallest ones."""

    def block(name: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + check

    rows = (b"\0" + b"\xff\0\0" * size) * size
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + block(b"IHDR", head)
        + block(b"IDAT", zlib.compress(rows))
        + block(b"IEND", b"")
    )


def _verification(looked: _Probe) -> DoctorItem:
    """Ask for verification with a system message of white space, which the template refuses."""
    if looked.endpoint.verification == "prompt":
        return _item("verification", "ok", "It is asked for at the end of the system message.")
    messages = [{"role": "system", "content": " "}, {"role": "user", "content": "Hello."}]
    try:
        looked.ask("", messages=messages, chat_template_kwargs={"verification": True})
    except openai.BadRequestError as error:
        if "chat_template_kwargs" not in message_of(error):
            return _item("verification", "ok", "It honours `chat_template_kwargs`.")
    return _item(
        "verification", "warning", "It ignores `chat_template_kwargs`.",
        'Set `verification = "prompt"` for this endpoint.',
    )  # fmt: skip


def _window(looked: _Probe, listed: Any) -> DoctorItem:
    told = _told_window(looked, listed)
    assumed = looked.endpoint.context_tokens
    if told is None:
        detail = f"It does not tell its window; {assumed or 'no'} tokens are assumed."
        return _item("context", "ok" if assumed else "warning", detail,
                     "" if assumed else "Set `context_tokens` for this endpoint.")  # fmt: skip
    if assumed is not None and assumed > told:
        return _item("context", "warning", f"Its window holds {told} tokens, not {assumed}.",
                     f"Set `context_tokens = {told}`, or serve it with more.")  # fmt: skip
    return _item("context", "ok", f"Its window holds {told} tokens.")


def _told_window(looked: _Probe, listed: Any) -> int | None:
    """Find the size of the window where one server or another tells it."""
    root = looked.endpoint.base_url.rstrip("/").removesuffix("/v1")
    settings = _mapping(_mapping(looked.get(f"{root}/props")).get("default_generation_settings"))
    for model in (settings, *_models(looked.get(f"{root}/api/v0/models")), *_models(listed)):
        if (
            model is not settings
            and model.get("id", looked.endpoint.model) != looked.endpoint.model
        ):
            continue
        for place in (model, _mapping(model.get("meta"))):
            for name in _WINDOW_FIELDS:
                if isinstance(value := place.get(name), int) and value > 0:
                    return value
    return None


def _models(listed: Any) -> list[Mapping[str, Any]]:
    data = _mapping(listed).get("data")
    return [_mapping(each) for each in data] if isinstance(data, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

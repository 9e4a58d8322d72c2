"""Everything that servers are known to break, by name, and a plan of when they break it."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sciagent.testing.model_server.script import ScriptedAnswer, ScriptedCall, ScriptedRequest


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP answer that comes instead of the model's."""

    status: int
    body: Mapping[str, Any]
    headers: tuple[tuple[str, str], ...] = ()


def refusal(status: int, message: str, **fields: Any) -> Refusal:
    """Make a refusal with an error object as servers send it."""
    return Refusal(status, {"error": {"message": message, "code": status, **fields}})


def overflow_refusal(form: str, n_prompt_tokens: int, n_ctx: int) -> Refusal:
    """Refuse a conversation that is too long, in the words of one kind of server.

    Parameters
    ----------
    form
        ``openai``, ``vllm``, ``sglang`` or ``llama_cpp``.
    n_prompt_tokens, n_ctx
        Tokens of the conversation and of the window.
    """
    if form == "llama_cpp":
        return refusal(
            400, "the request exceeds the available context size, try increasing it",
            type="exceed_context_size_error", n_prompt_tokens=n_prompt_tokens, n_ctx=n_ctx,
        )  # fmt: skip
    if form == "sglang":
        return refusal(
            400, f"The input ({n_prompt_tokens} tokens) is longer than the model's context length "
            f"({n_ctx} tokens).", type="BadRequestError",
        )  # fmt: skip
    said = (
        f"This model's maximum context length is {n_ctx} tokens. However, "
        f"you requested {n_prompt_tokens} tokens."
    )
    if form == "vllm":
        body = {"object": "error", "message": said, "type": "BadRequestError", "code": 400}
        return Refusal(400, body)
    return refusal(400, said, type="invalid_request_error", code="context_length_exceeded")


_LIMIT = refusal(429, "Too many requests.", type="rate_limit_error")

REFUSALS: dict[str, Refusal] = {
    "http_503_burst": refusal(503, "The server is overloaded.", type="server_error"),
    "http_429": _LIMIT,
    "http_429_retry_after": replace(_LIMIT, headers=(("Retry-After", "1"),)),
    "http_500_parser": refusal(500, "Failed to parse input at pos 12: <tool_call>"),
    "context_length_400": overflow_refusal("openai", 40_000, 32_768),
    "context_length_400_vllm": overflow_refusal("vllm", 40_000, 32_768),
    "context_length_400_sglang": overflow_refusal("sglang", 40_000, 32_768),
    "context_length_400_llama_cpp": overflow_refusal("llama_cpp", 40_000, 32_768),
}
"""Faults that answer instead of the model."""

TRANSPORT = (
    "lmstudio_empty_stream", "dropped_connection", "dropped_stream", "malformed_json",
    "merged_parallel_calls", "stream_error", "restart",
)  # fmt: skip
"""Faults on the way from the model to the client."""

_TIMES = {"http_503_burst": 3}


def as_xml(call: ScriptedCall) -> str:
    """Write a call as the reference model does, before its server has parsed it."""
    arguments = json.loads(call.text)
    parameters = "".join(
        f"<parameter={name}>\n{value if isinstance(value, str) else json.dumps(value)}\n"
        "</parameter>\n"
        for name, value in arguments.items()
    )
    return f"<tool_call>\n<function={call.name}>\n{parameters}</function>\n</tool_call>"


def _as_json(call: ScriptedCall) -> str:
    return json.dumps({"name": call.name, "arguments": json.loads(call.text)})


def _joined(answer: ScriptedAnswer, write: Callable[[ScriptedCall], str]) -> str:
    return "\n".join([answer.content, *map(write, answer.calls)]).strip()


def _with_first(answer: ScriptedAnswer, **changes: Any) -> ScriptedAnswer:
    first, *others = answer.calls
    return replace(answer, calls=(replace(first, **changes), *others))


def _truncated(answer: ScriptedAnswer) -> ScriptedAnswer:
    text = answer.calls[0].text.rstrip("}").rstrip('"')
    return _with_first(answer, arguments=text[: max(len(text) - 1, 1)])


def _xml_in_content(answer: ScriptedAnswer) -> ScriptedAnswer:
    return ScriptedAnswer(_joined(answer, as_xml), answer.reasoning)


MANGLED: dict[str, Callable[[ScriptedAnswer], ScriptedAnswer]] = {
    "truncated_arguments": _truncated,
    "double_encoded_arguments": lambda answer: _with_first(
        answer, arguments=json.dumps(answer.calls[0].text)
    ),
    "empty_arguments": lambda answer: _with_first(answer, arguments=""),
    "empty_message": lambda _: ScriptedAnswer(finish="stop"),
    "xml_call_in_content": _xml_in_content,
    "json_call_in_content": lambda answer: ScriptedAnswer(
        _joined(answer, _as_json), answer.reasoning
    ),
    "call_in_reasoning": lambda answer: ScriptedAnswer(
        "", f"{answer.reasoning}\n{_joined(answer, as_xml)}".strip()
    ),
    "think_only": lambda answer: ScriptedAnswer(
        f"<think>{answer.reasoning or 'What should come next?'}</think>"
    ),
    "unknown_tool": lambda answer: _with_first(answer, name=f"{answer.calls[0].name}_tool"),
    "duplicate_ids": lambda answer: replace(
        answer, calls=tuple(replace(call, id="call_0") for call in answer.calls)
    ),
    "parameter_end_inside_argument": _xml_in_content,
}
"""Faults that change the model's answer.

For ``parameter_end_inside_argument`` the policy calls with an argument that holds
``</parameter>``: the call then comes as XML, in which that text looks like the argument's end.
"""

_NEED_CALLS = {
    "truncated_arguments", "double_encoded_arguments", "empty_arguments", "xml_call_in_content",
    "json_call_in_content", "call_in_reasoning", "unknown_tool", "duplicate_ids",
    "parameter_end_inside_argument", "merged_parallel_calls",
}  # fmt: skip
_NEED_STREAM = {"lmstudio_empty_stream", "merged_parallel_calls", "stream_error"}

FAULT_NAMES: tuple[str, ...] = tuple(sorted({*REFUSALS, *TRANSPORT, *MANGLED}))
"""Names of all faults."""


def _always(_: ScriptedRequest) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault and when it happens.

    Attributes
    ----------
    name
        One of `FAULT_NAMES`.
    at
        Requests that fit are let pass before it happens. A request fits if `when` says so, if it
        streams where the fault is one of streams, and if its answer has calls where the fault is
        one of calls.
    times
        How often it happens then, in a row; by default once, and three times for a burst.
    when
        Which requests are meant.
    """

    name: str
    at: int = 0
    times: int = 0
    when: Callable[[ScriptedRequest], bool] = _always

    def __post_init__(self) -> None:
        if self.name not in FAULT_NAMES:
            raise ValueError(f"There is no fault {self.name!r}. Known: {', '.join(FAULT_NAMES)}.")

    @property
    def last(self) -> int:
        """Number of the first fitting request that passes again."""
        return self.at + (self.times or _TIMES.get(self.name, 1))


class Faults:
    """A plan of faults. Each counts the requests that fit it; the first that is due happens.

    Parameters
    ----------
    planned
        The faults; a name alone happens to the first request that fits.
    """

    def __init__(self, *planned: Fault | str) -> None:
        self._planned = [Fault(each) if isinstance(each, str) else each for each in planned]
        self._seen = [0] * len(self._planned)
        self._lock = threading.Lock()

    def before_answer(self, request: ScriptedRequest) -> str:
        """Name the fault that comes instead of an answer, or nothing."""
        return self._due(request, None)

    def after_answer(self, request: ScriptedRequest, answer: ScriptedAnswer) -> str:
        """Name the fault that changes this answer, or nothing."""
        return self._due(request, answer)

    def _due(self, request: ScriptedRequest, answer: ScriptedAnswer | None) -> str:
        with self._lock:
            due = ""
            for place, fault in enumerate(self._planned):
                if not _fits(fault, request, answer):
                    continue
                number = self._seen[place]
                if fault.at <= number < fault.last and due:
                    continue
                self._seen[place] += 1
                if fault.at <= number < fault.last:
                    due = fault.name
            return due


def _fits(fault: Fault, request: ScriptedRequest, answer: ScriptedAnswer | None) -> bool:
    instead = fault.name in REFUSALS
    if instead != (answer is None) or not fault.when(request):
        return False
    if fault.name in _NEED_STREAM and not request.body.get("stream"):
        return False
    return fault.name not in _NEED_CALLS or bool(answer and answer.calls)

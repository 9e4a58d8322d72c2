"""What a server is told to do, and what it keeps while it does it."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sciagent.testing.model_server.accounting import PrefixCache
from sciagent.testing.model_server.faults import Faults
from sciagent.testing.model_server.frames import ReasoningField
from sciagent.testing.model_server.script import Policy


@dataclass(frozen=True, slots=True)
class Latency:
    """Time that the server takes; none by default.

    Attributes
    ----------
    rtt_s
        Before anything else, in seconds.
    prefill_tokens_per_s, decode_tokens_per_s
        Speed at which prompts are read (without the cached part) and answers are written; the
        pieces of a stream are spread over the latter.
    """

    rtt_s: float = 0.0
    prefill_tokens_per_s: float = float("inf")
    decode_tokens_per_s: float = float("inf")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the server differs from others.

    Attributes
    ----------
    reasoning_field
        Where the reasoning stands: ``reasoning_content``, ``reasoning`` or, in the content,
        ``think_tags``.
    context_tokens
        Size of the window; longer conversations are refused. None means that it is unbounded.
    overflow
        How they are refused: as ``openai``, ``vllm``, ``sglang`` or ``llama_cpp`` do, or with
        an answer that is empty, as ``lm_studio`` does.
    strict
        Refuse what the strictest servers refuse.
    tells_usage
        Whether answers say what they used.
    takes_template_switches
        Whether ``chat_template_kwargs`` is honoured; else it is ignored in silence.
    refuses
        Names of fields that are refused as unknown.
    """

    reasoning_field: ReasoningField = "reasoning_content"
    context_tokens: int | None = None
    overflow: Literal["openai", "vllm", "sglang", "llama_cpp", "lm_studio"] = "vllm"
    strict: bool = True
    tells_usage: bool = True
    takes_template_switches: bool = True
    refuses: tuple[str, ...] = ()


@dataclass(slots=True)
class RecordedRequest:
    """A request that the server got, and what came of it.

    Attributes
    ----------
    number
        Counted from 0 in order of arrival.
    body
        What was sent.
    authorization
        Header that holds the key.
    prompt_tokens, cached_tokens, completion_tokens
        As they were counted.
    fault
        Name of the fault that happened, if one did.
    status
        HTTP status of the answer; 0 while there is none.
    aborted
        Whether the client hung up before the answer was written.
    started_s, ended_s
        By the monotonic clock.
    """

    number: int
    body: Mapping[str, Any]
    authorization: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    fault: str = ""
    status: int = 0
    aborted: bool = False
    started_s: float = field(default_factory=time.monotonic)
    ended_s: float = 0.0


@dataclass(slots=True)
class ServerState:
    """What the connections of a server share."""

    policy: Policy
    latency: Latency
    faults: Faults
    behaviour: Behaviour
    restart: Callable[[], None]
    cache: PrefixCache = field(default_factory=PrefixCache)
    closing: threading.Event = field(default_factory=threading.Event)
    mistakes: list[Exception] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    recorded: list[RecordedRequest] = field(default_factory=list)

    def record(self, body: Mapping[str, Any], authorization: str) -> RecordedRequest:
        """Write down a request that arrived."""
        with self.lock:
            recorded = RecordedRequest(len(self.recorded), body, authorization)
            self.recorded.append(recorded)
            return recorded

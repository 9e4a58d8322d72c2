"""The client of one OpenAI-compatible endpoint.

What had to be mended stands in an answer's `repairs`:

- ``retried_connection``, ``retried_dropped_stream``, ``retried_empty_stream``,
  ``retried_malformed``, ``retried_overload``, ``retried_rate_limit``, ``retried_server_error``,
  ``retried_stream_error``: once for every time the call had to be made again;
- ``dropped_NAME``: the endpoint does not take this optional field; it is not sent any more;
- ``call_in_content``, ``call_in_reasoning``, ``thought_in_content``: text that was something else;
- ``double_encoded_arguments``, ``empty_arguments``, ``leftover_after_arguments``,
  ``merged_arguments``, ``truncated_arguments``: read as they were meant; and
  ``unreadable_arguments``, where the call has a fault;
- ``duplicate_id``: a call got another identifier;
- ``usage_estimated``: the endpoint did not say what was used.
"""

import json
import logging
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import openai

from sciagent.contracts.conversation import Answer, Message, Usage
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.tool import ToolSpec
from sciagent.llm.accounting import estimated_tokens, priced, usage_of
from sciagent.llm.chat_template import split_thought
from sciagent.llm.overflow import silent_overflow
from sciagent.llm.retry import judge, wait_s
from sciagent.llm.stream import (
    Assembly,
    BrokenAnswerError,
    EmptyStreamError,
    Heard,
    RawAnswer,
    whole_answer,
)
from sciagent.llm.tool_calls import Reading, read_answer
from sciagent.llm.transport import (
    SLICE_S,
    InterruptedCallError,
    InterruptibleTransport,
    interruptible,
    raise_if_cancelled,
)
from sciagent.llm.wire import request_body

logger = logging.getLogger(__name__)

_CONNECT_S = 10.0
_FAILURES = (
    openai.APIError, BrokenAnswerError, EmptyStreamError, json.JSONDecodeError, UnicodeDecodeError,
)  # fmt: skip


def never() -> bool:
    """Say that nobody wants to cancel."""
    return False


def sleep(seconds: float) -> None:
    """Wait, but no longer than the caller wants the answer."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        raise_if_cancelled()
        time.sleep(min(left, SLICE_S))


@dataclass(slots=True)
class _Call:
    """One call while it is being made."""

    body: dict[str, Any]
    stream: bool
    heard: Heard | None
    assembly: Assembly | None = None
    failures: int = 0
    refused: set[str] = field(default_factory=set)
    repairs: list[str] = field(default_factory=list)

    def tell_again(self) -> None:
        """Say that what was heard of the answer is void."""
        if self.heard is not None and self.assembly is not None and self.assembly.chunks:
            self.heard("again", "")
        self.assembly = None


def connect(
    endpoint: Endpoint, *, api_key: str | None = None, http_client: httpx2.Client | None = None
) -> openai.OpenAI:
    """Make the client of the SDK, which tries nothing twice, for an endpoint.

    Parameters
    ----------
    endpoint, api_key, http_client
        As for `EndpointModel`.
    """
    timeout = httpx2.Timeout(endpoint.timeout_s, connect=min(_CONNECT_S, endpoint.timeout_s))
    if http_client is None:
        transport = InterruptibleTransport(endpoint.base_url)
        http_client = httpx2.Client(transport=transport, timeout=timeout, follow_redirects=True)
    return openai.OpenAI(
        base_url=endpoint.base_url,
        api_key=api_key or os.environ.get(endpoint.api_key_variable) or "none",
        max_retries=0,
        timeout=timeout,
        http_client=http_client,
    )


class EndpointModel:
    """A model behind an OpenAI-compatible endpoint (a `Model`).

    It may be used by many threads at once.

    Parameters
    ----------
    endpoint
        Where the model is and how it is asked.
    api_key
        Key for it; without one, the variable named by the endpoint is read, and local servers
        get a word that they ignore.
    http_client
        HTTP client to use instead of one that can be interrupted while the server is silent.
    root
        Folder that the paths of images are relative to.
    pause
        Waits some seconds between two tries; tests give one that does not wait.
    seed
        Seed of the jitter of these waits.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        api_key: str | None = None,
        http_client: httpx2.Client | None = None,
        root: Path | None = None,
        pause: Callable[[float], None] = sleep,
        seed: int | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._root = root
        self._pause = pause
        self._draw = random.Random(seed)
        self._refused: set[str] = set()
        self._client = connect(endpoint, api_key=api_key, http_client=http_client)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        verification: bool = False,
        heard: Heard | None = None,
        cancelled: Callable[[], bool] = never,
    ) -> Answer:
        """Ask for the next message.

        Parameters
        ----------
        messages
            The conversation so far.
        tools
            Tools that the model may call.
        verification
            Ask for a self-review.
        heard
            Told each piece as it arrives: its channel (``content``, ``reasoning``) and its text.
            The channel ``again`` says that the answer begins anew and what was heard is void.
        cancelled
            Asked at least every 0.1 s, in this thread; when it turns true, the answer is what
            has arrived, with the finish ``interrupted``.

        Raises
        ------
        InputError
            If verification is asked for without a system message.
        ContextOverflowError
            If the conversation is longer than the model's window.
        EndpointError
            If the endpoint does not answer as it should within the tries it has.
        """
        body = request_body(
            self.endpoint, messages, tools, verification=verification, root=self._root
        )
        call = _Call(body, self.endpoint.stream, heard)
        started = time.monotonic()
        with interruptible(cancelled):
            try:
                raw = self._until_answered(call)
            except InterruptedCallError:
                return self._interrupted(call, time.monotonic() - started)
        used = {each.id for message in messages for each in message.tool_calls}
        reading = read_answer(raw, tools, used)
        usage = self._usage(raw, call, reading)
        return Answer(
            message=reading.message,
            finish=reading.finish,
            usage=usage,
            repairs=(*call.repairs, *reading.repairs),
            wall_s=time.monotonic() - started,
        )

    def _until_answered(self, call: _Call) -> RawAnswer:
        while True:
            raise_if_cancelled()
            try:
                return self._ask(call)
            except _FAILURES as error:
                if isinstance(error.__cause__, InterruptedCallError):
                    raise error.__cause__ from None
                self._prepare_again(call, error)

    def _prepare_again(self, call: _Call, error: Exception) -> None:
        """Wait for the next try, or raise what the failure comes to."""
        failure = judge(error, self.endpoint)
        if isinstance(error, EmptyStreamError) and not call.stream:
            overflow = silent_overflow(estimated_tokens(call.body["messages"]))
            if overflow is not None:
                raise overflow from error
        # A field is refused once and then left out, so that this does not use the tries up.
        learned = bool(failure.refused) and failure.refused not in call.refused
        call.failures += not learned
        if not failure.repair or call.failures >= self.endpoint.attempts:
            raise failure.error from error
        logger.info("call failed, trying again: %s", failure.error.message)
        call.repairs.append(failure.repair)
        call.tell_again()
        call.stream = call.stream and not failure.whole
        if learned:
            call.refused.add(failure.refused)
            self._refused.add(failure.refused)
        elif not isinstance(error, EmptyStreamError) or call.failures > 1:
            self._pause(wait_s(call.failures, failure.wait_s, self._draw))

    def _ask(self, call: _Call) -> RawAnswer:
        body = {name: value for name, value in call.body.items() if name not in self._refused}
        if not call.stream:
            # The typed methods of the SDK would build models of an answer that may be broken.
            response = self._client.post("/chat/completions", cast_to=object, body=body)
            raw = whole_answer(response)
            _tell_whole(call.heard, raw)
            return raw
        body["stream"] = True
        if "stream_options" not in self._refused:
            body["stream_options"] = {"include_usage": True}
        call.assembly = Assembly(call.heard)
        with self._client.post(
            "/chat/completions",
            cast_to=object,
            body=body,
            stream=True,
            stream_cls=openai.Stream[object],
        ) as chunks:
            return call.assembly.take(chunks)

    def _usage(self, raw: RawAnswer, call: _Call, reading: Reading) -> Usage:
        if raw.usage is not None:
            return usage_of(self.endpoint, raw.usage)
        reading.repairs.append("usage_estimated")
        return self._estimated(call, raw)

    def _estimated(self, call: _Call, raw: RawAnswer) -> Usage:
        said = raw.content + raw.reasoning + "".join(str(each.arguments) for each in raw.calls)
        prompt = estimated_tokens([call.body["messages"], call.body.get("tools", [])])
        return priced(self.endpoint, prompt, estimated_tokens(said))

    def _interrupted(self, call: _Call, wall_s: float) -> Answer:
        raw = call.assembly.so_far() if call.assembly is not None else RawAnswer()
        raw.calls = []
        reading = read_answer(raw, (), ())
        return Answer(
            message=reading.message,
            finish="interrupted",
            usage=self._estimated(call, raw),
            repairs=(*call.repairs, *reading.repairs, "usage_estimated"),
            wall_s=wall_s,
        )


def _tell_whole(heard: Heard | None, raw: RawAnswer) -> None:
    """Tell an answer that came in one piece."""
    thought, content = split_thought(raw.content)
    for channel, text in (("reasoning", raw.reasoning + thought), ("content", content)):
        if heard is not None and text:
            heard(channel, text)

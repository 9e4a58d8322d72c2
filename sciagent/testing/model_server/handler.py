"""Answers the requests of one connection."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from itertools import chain
from typing import Any

from sciagent.testing.model_server import frames
from sciagent.testing.model_server.accounting import answer_tokens
from sciagent.testing.model_server.faults import (
    MANGLED,
    REFUSALS,
    TRANSPORT,
    Refusal,
    overflow_refusal,
    refusal,
)
from sciagent.testing.model_server.script import ScriptedAnswer, ScriptedRequest
from sciagent.testing.model_server.state import RecordedRequest, ServerState
from sciagent.testing.model_server.strictness import objection

_CHAT = "/v1/chat/completions"
_SSE = "text/event-stream"


class HungUpError(ConnectionError):
    """The connection is closed on purpose."""

    kind = "testing.hung_up"


class Handler(BaseHTTPRequestHandler):
    """One connection of a `ModelServer`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    @property
    def state(self) -> ServerState:
        """What the connections of the server share."""
        return self.server.state  # type: ignore[attr-defined, no-any-return]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the server keeps its own record."""

    def do_GET(self) -> None:
        """List the model."""
        if self.path.rstrip("/") != "/v1/models":
            return self._refuse(refusal(404, "Not found."))
        model: dict[str, Any] = {"id": "scripted", "object": "model", "owned_by": "sciagent"}
        if self.state.behaviour.context_tokens:
            model["max_model_len"] = self.state.behaviour.context_tokens
        return self._send(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        """Answer a request for the next message."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != _CHAT:
            return self._refuse(refusal(404, "Not found."))
        recorded = self.state.record(body, self.headers.get("Authorization", ""))
        try:
            self._answer(body, recorded)
        except OSError:
            recorded.aborted = recorded.fault not in TRANSPORT
            self.close_connection = True
        finally:
            recorded.ended_s = time.monotonic()
        return None

    def _answer(self, body: Mapping[str, Any], recorded: RecordedRequest) -> None:
        request = ScriptedRequest(
            tuple(body.get("messages") or ()), tuple(body.get("tools") or ()), body
        )
        refused = self._objection(body, recorded)
        if refused is None and (fault := self.state.faults.before_answer(request)):
            recorded.fault, refused = fault, REFUSALS[fault]
        if refused is not None:
            self._wait(self.state.latency.rtt_s)
            recorded.status = refused.status
            return self._refuse(refused, stream=bool(body.get("stream")))
        answer = self._decide(request)
        if answer is None:
            recorded.status = 500
            return self._refuse(refusal(500, "The scripted policy failed."))
        recorded.fault = self.state.faults.after_answer(request, answer)
        if recorded.fault in MANGLED:
            answer = MANGLED[recorded.fault](answer)
        return self._write(answer, recorded)

    def _decide(self, request: ScriptedRequest) -> ScriptedAnswer | None:
        try:
            return self.state.policy(request)
        except Exception as error:  # noqa: BLE001 - process boundary: raised when the server closes
            self.state.mistakes.append(error)
            return None

    def _objection(self, body: Mapping[str, Any], recorded: RecordedRequest) -> Refusal | None:
        behaviour = self.state.behaviour
        if unknown := next((name for name in behaviour.refuses if name in body), ""):
            return refusal(400, f"Unrecognized request argument supplied: {unknown}")
        if behaviour.strict and (
            refused := objection(body, takes_switches=behaviour.takes_template_switches)
        ):
            return refused
        counted = self.state.cache.count(body)
        recorded.prompt_tokens, recorded.cached_tokens = counted
        window = behaviour.context_tokens
        if window is None or recorded.prompt_tokens <= window:
            return None
        if behaviour.overflow == "lm_studio":
            recorded.fault = "lmstudio_empty_stream"
            return Refusal(200, {"object": "chat.completion", "choices": []})
        return overflow_refusal(behaviour.overflow, recorded.prompt_tokens, window)

    def _write(self, answer: ScriptedAnswer, recorded: RecordedRequest) -> None:
        latency, fault = self.state.latency, recorded.fault
        message = frames.wire_message(answer, recorded.number, self.state.behaviour.reasoning_field)
        recorded.completion_tokens = answer_tokens(message)
        read = recorded.prompt_tokens - recorded.cached_tokens
        self._wait(latency.rtt_s + read / latency.prefill_tokens_per_s)
        if fault == "restart":
            self.state.restart()
        if fault in {"restart", "dropped_connection"}:
            raise HungUpError
        recorded.status = 200
        writing_s = recorded.completion_tokens / latency.decode_tokens_per_s
        usage = self._usage(recorded)
        if recorded.body.get("stream"):
            events = frames.chunks(
                message, answer.reason, usage, recorded.number,
                merged=fault == "merged_parallel_calls",
            )  # fmt: skip
            return self._stream(_spoiled(fault, list(events)), writing_s, fault)
        self._wait(writing_s)
        content = frames.whole(message, answer.reason, usage, recorded.number)
        return self._send_whole(content, fault)

    def _send_whole(self, content: Mapping[str, Any], fault: str) -> None:
        text = json.dumps(content).encode()
        if fault == "malformed_json":
            return self._send_bytes(200, text[:-9])
        if fault == "dropped_stream":
            self._head(200, "application/json", len(text))
            self.wfile.write(text[: len(text) // 2])
            self.wfile.flush()
            raise HungUpError
        return self._send_bytes(200, text)

    def _usage(self, recorded: RecordedRequest) -> dict[str, Any] | None:
        if not self.state.behaviour.tells_usage:
            return None
        return {
            "prompt_tokens": recorded.prompt_tokens,
            "completion_tokens": recorded.completion_tokens,
            "total_tokens": recorded.prompt_tokens + recorded.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": recorded.cached_tokens},
        }

    def _wait(self, seconds: float) -> None:
        if seconds > 0 and self.state.closing.wait(seconds):
            raise HungUpError

    def _refuse(self, refused: Refusal, *, stream: bool = False) -> None:
        if refused.status == 200 and stream:
            return self._stream([], 0.0, "lmstudio_empty_stream")
        return self._send(refused.status, refused.body, refused.headers)

    def _send(
        self, status: int, content: Mapping[str, Any], headers: Iterable[tuple[str, str]] = ()
    ) -> None:
        self._send_bytes(status, json.dumps(content).encode(), headers)

    def _send_bytes(
        self, status: int, text: bytes, headers: Iterable[tuple[str, str]] = ()
    ) -> None:
        self._head(status, "application/json", len(text), headers)
        self.wfile.write(text)
        self.wfile.flush()

    def _head(
        self,
        status: int,
        media_type: str,
        length: int | None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, events: list[bytes], seconds: float, fault: str) -> None:
        self._head(200, _SSE, None)
        done = () if fault in {"dropped_stream", "lmstudio_empty_stream"} else (frames.DONE,)
        for event in _paced(chain(events, done), seconds):
            self._wait(seconds / max(len(events), 1))
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            if seconds:
                self.wfile.flush()
        if fault == "dropped_stream":
            self.wfile.flush()
            raise HungUpError
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()


def _paced(events: Iterable[bytes], seconds: float) -> Iterator[bytes]:
    """Give events one by one where they take time, else all at once."""
    if seconds:
        yield from events
    elif text := b"".join(events):
        yield text


def _spoiled(fault: str, events: list[bytes]) -> list[bytes]:
    """Spoil the events of a stream as a fault says."""
    middle = max(len(events) // 2, 1)
    if fault == "dropped_stream":
        return events[:middle]
    if fault == "lmstudio_empty_stream":
        return []
    if fault == "malformed_json":
        return [*events[:middle], b'data: {"choices": [{"delta": {"content\n\n']
    if fault == "stream_error":
        error = {"error": {"message": "The tool parser failed.", "type": "InternalServerError"}}
        return [*events[:middle], b"data: " + json.dumps(error).encode() + b"\n\n"]
    return events

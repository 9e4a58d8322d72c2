"""Answers the requests of one connection."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from sciagent.testing.corpus.serving.answer import Answer
from sciagent.testing.corpus.serving.faults import (
    INSTEAD,
    SERVER_FAULTS,
    FaultPlan,
    ServerFault,
    Trouble,
)
from sciagent.testing.corpus.serving.routes import Routes

FAULTY = "/faulty/"
"""What follows is the name of a fault, and then the path that it happens to."""

_CHUNK = bytes(1 << 16)
_MOST_CHUNKS = 1 << 14
_HANG_S = 120.0


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """A request that a server got.

    Attributes
    ----------
    target
        Path and query.
    headers
        Names in lower case.
    fault
        What happened to it; empty if nothing did.
    arrived_s
        By the monotonic clock.
    """

    target: str
    headers: Mapping[str, str]
    fault: str
    arrived_s: float


@dataclass(slots=True)
class ServerState:
    """What the connections of a server share."""

    routes: Routes
    site: str
    trap: str
    plan: FaultPlan
    closing: threading.Event
    lock: threading.Lock
    served: list[ServedRequest]


class Handler(BaseHTTPRequestHandler):
    """One connection of a `CorpusServer`."""

    protocol_version = "HTTP/1.1"
    server_version = "CorpusServer"
    sys_version = ""
    wbufsize = 1 << 16

    @property
    def state(self) -> ServerState:
        """What the connections of the server share."""
        return self.server.state  # type: ignore[attr-defined, no-any-return]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the server keeps its own record."""

    def do_HEAD(self) -> None:
        """Answer with the head alone."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer a request, or break it."""
        self.close_connection = True
        target, fault = self._due()
        headers = {name.lower(): value for name, value in self.headers.items()}
        name = fault.name if fault else ""
        with self.state.lock:
            self.state.served.append(ServedRequest(self.path, headers, name, time.monotonic()))
        answer = self.state.routes.answer(target)
        if fault and fault.name in INSTEAD:
            trouble = Trouble(self.state.site, self.state.trap, self.path, fault.retry_after_s)
            answer = INSTEAD[fault.name](answer, trouble)
        try:
            self._send(answer, name)
        except OSError:
            # The client hung up, which is right where a body does not end.
            return

    def _due(self) -> tuple[str, ServerFault | None]:
        """Which path is meant, and what happens to it."""
        if self.path.startswith(FAULTY):
            name, _, rest = self.path.removeprefix(FAULTY).partition("/")
            if name in SERVER_FAULTS:
                return f"/{rest}", ServerFault(name)
        return self.path, self.state.plan.due(self.path)

    def _send(self, answer: Answer, fault: str) -> None:
        if fault == "hang":
            self.state.closing.wait(_HANG_S)
        if fault in {"hang", "dropped"}:
            return
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media_type)
        if fault != "endless":
            self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault == "short_body":
            self.wfile.write(answer.body[: len(answer.body) // 2])
            return
        self.wfile.write(answer.body)
        if fault == "endless":
            self._go_on()

    def _go_on(self) -> None:
        for _ in range(_MOST_CHUNKS):
            if self.state.closing.is_set():
                return
            self.wfile.write(_CHUNK)

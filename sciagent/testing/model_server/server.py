"""A server on this machine that speaks as OpenAI-compatible endpoints do, with a scripted model."""

import socket
import sys
import threading
from collections.abc import Iterable
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Any

from sciagent.contracts.conversation import Usage
from sciagent.contracts.endpoint import Endpoint
from sciagent.testing.model_server.faults import Faults
from sciagent.testing.model_server.handler import Handler
from sciagent.testing.model_server.script import Policy
from sciagent.testing.model_server.state import Behaviour, Latency, RecordedRequest, ServerState

_ADDRESS = "127.0.0.1"
_DOWN_S = 0.2
_NO_LATENCY = Latency()
_PLAIN = Behaviour()


class ModelServer:
    """A scripted model behind an OpenAI-compatible endpoint on this machine.

    Use it as a context manager. What a policy raises is answered with status 500, and raised
    again when the context ends.

    Parameters
    ----------
    policy
        What the model answers to the messages and tools of a request.
    latency
        Time it takes.
    faults
        What goes wrong, and when.
    behaviour
        How the server differs from others.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        latency: Latency = _NO_LATENCY,
        faults: Faults | None = None,
        behaviour: Behaviour = _PLAIN,
    ) -> None:
        self.port = 0
        self._state = ServerState(policy, latency, faults or Faults(), behaviour, self.restart)
        self._listener: _Listener | None = None
        self._restarts: list[threading.Thread] = []

    def __enter__(self) -> "ModelServer":
        self._listen()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._state.closing.set()
        for thread in self._restarts:
            thread.join()
        self._hang_up()
        if error is None and self._state.mistakes:
            raise self._state.mistakes[0]

    @property
    def base_url(self) -> str:
        """Address to give to a client."""
        return f"http://{_ADDRESS}:{self.port}/v1"

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint that a client is given."""
        return Endpoint(base_url=self.base_url, model="scripted")

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """All requests for an answer so far, in order of arrival."""
        with self._state.lock:
            return tuple(self._state.recorded)

    @property
    def usage(self) -> Usage:
        """What all answered requests used together."""
        answered = [each for each in self.requests if each.status == 200]
        return Usage(
            calls=len(answered),
            prompt_tokens=sum(each.prompt_tokens for each in answered),
            completion_tokens=sum(each.completion_tokens for each in answered),
            cached_tokens=sum(each.cached_tokens for each in answered),
        )

    def restart(self, down_s: float = _DOWN_S) -> None:
        """Drop all connections, be gone for a while, and come back at the same address."""
        thread = threading.Thread(target=self._restart, args=(down_s,), daemon=True)
        self._restarts.append(thread)
        thread.start()

    def _restart(self, down_s: float) -> None:
        self._hang_up()
        if not self._state.closing.wait(down_s):
            self._listen()

    def _listen(self) -> None:
        self._listener = _Listener(self._state, self.port)
        self.port = self._listener.server_address[1]
        threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True).start()

    def _hang_up(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.shutdown()
            listener.server_close()
            listener.drop(listener.connections())


class _Listener(ThreadingHTTPServer):
    """Takes connections, one thread for each, and can drop them all."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, state: ServerState, port: int) -> None:
        self.state = state
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__((_ADDRESS, port), Handler)

    def server_bind(self) -> None:
        # The parent would look its own name up.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = _ADDRESS, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that hung up, or was killed, is no fault of the server.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def connections(self) -> tuple[socket.socket, ...]:
        with self._open_lock:
            return tuple(self._open)

    def drop(self, connections: Iterable[socket.socket]) -> None:
        """End connections at once; their threads then close them."""
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

"""Connections to checked addresses only, on which no step outlasts the time of its thread."""

import ssl
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx

from sciagent.literature.address_guard import GuardedBackend, SocketOptions

_ends: ContextVar[float] = ContextVar("ends", default=float("inf"))


@contextmanager
def ending_by(moment: float) -> Iterator[None]:
    """Let all that this thread asks for end by a moment of the monotonic clock."""
    token = _ends.set(min(moment, _ends.get()))
    try:
        yield
    finally:
        _ends.reset(token)


def last_moment() -> float:
    """By the monotonic clock, when whatever this thread asks for must have come."""
    return _ends.get()


def _left(timeout: float | None) -> float:
    """Seconds that one step may take."""
    left = _ends.get() - time.monotonic()
    if left <= 0.0:
        raise httpcore.ReadTimeout("no time is left")
    return left if timeout is None else min(left, timeout)


class _TimedStream(httpcore.NetworkStream):
    """A connection on which no step ends after the moment that was set for its thread.

    A server that sends one byte now and then would keep within the time of each step for ever.
    """

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _TimedBackend(GuardedBackend):
    """Connects to checked addresses, by streams that keep to the time of their thread."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: SocketOptions | None = None,
    ) -> httpcore.NetworkStream:
        return _TimedStream(
            super().connect_tcp(host, port, _left(timeout), local_address, socket_options)
        )


class _Body(httpx.SyncByteStream):
    """The body of an answer, with errors that httpx knows."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _errors_of_httpx():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        """Give the connection back."""
        self._answer.close()


class GuardedTransport(httpx.BaseTransport):
    """Connects through `GuardedBackend`, so that each address is checked where it is used."""

    def __init__(self, trusted: Collection[str]) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(), network_backend=_TimedBackend(trusted)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        address = httpcore.URL(
            scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port,
            target=request.url.raw_path,
        )  # fmt: skip
        asked = httpcore.Request(
            request.method, address, headers=request.headers.raw, extensions=request.extensions
        )
        with _errors_of_httpx():
            answer = self._pool.handle_request(asked)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Body(answer),
            extensions=answer.extensions,
        )  # fmt: skip

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as error:
        raise httpx.TimeoutException(str(error) or "it took too long") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
        raise httpx.TransportError(str(error) or type(error).__name__) from error

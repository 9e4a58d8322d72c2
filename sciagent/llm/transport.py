"""HTTP that can be given up while the server is silent.

A model may think for minutes before its first token, and a server stops generating only when the
connection closes. So every wait for bytes is cut into slices, and between two slices the caller is
asked whether it still wants the answer.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from sciagent.contracts.errors import SciagentError

SLICE_S = 0.05
"""Longest wait without asking whether the call was cancelled."""

_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}

_cancelled: ContextVar[Callable[[], bool] | None] = ContextVar("cancelled", default=None)


class InterruptedCallError(SciagentError):
    """The caller no longer wants the answer."""

    kind = "endpoint.interrupted"


@contextmanager
def interruptible(cancelled: Callable[[], bool]) -> Iterator[None]:
    """Let waits for the network end as soon as `cancelled` turns true, in this thread."""
    token = _cancelled.set(cancelled)
    try:
        yield
    finally:
        _cancelled.reset(token)


def raise_if_cancelled() -> None:
    """Give up if the caller of `interruptible` no longer wants the answer."""
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled():
        raise InterruptedCallError("The call was cancelled.")


class _SlicedStream(httpcore2.NetworkStream):
    """A connection whose reads wait in slices."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        deadline = time.monotonic() + (timeout if timeout is not None else float("inf"))
        while True:
            raise_if_cancelled()
            left = deadline - time.monotonic()
            try:
                return self._stream.read(max_bytes, min(SLICE_S, max(left, 0.001)))
            except httpcore2.ReadTimeout:
                if left <= SLICE_S:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *args: Any, **keywords: Any) -> httpcore2.NetworkStream:
        return _SlicedStream(self._stream.start_tls(*args, **keywords))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _SlicedBackend(httpcore2.SyncBackend):
    """Opens connections whose reads wait in slices."""

    def connect_tcp(self, *args: Any, **keywords: Any) -> httpcore2.NetworkStream:
        raise_if_cancelled()
        return _SlicedStream(super().connect_tcp(*args, **keywords))

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class _ResponseStream(httpx2.SyncByteStream):
    """The body of a response, with errors in the words of the HTTP client."""

    def __init__(self, parts: Any) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        with _translated():
            yield from self._parts

    def close(self) -> None:
        self._parts.close()


class InterruptibleTransport(httpx2.BaseTransport):
    """Carries requests over connections that can be given up (see `interruptible`).

    Parameters
    ----------
    base_url
        Where the requests go; it decides whether a proxy of the environment is used and whether
        certificates are loaded at all.
    """

    def __init__(self, base_url: str) -> None:
        secure = urlsplit(base_url).scheme == "https"
        options: dict[str, Any] = {
            "max_connections": 1000,
            "max_keepalive_connections": 100,
            "keepalive_expiry": 30.0,
            "network_backend": _SlicedBackend(),
            "ssl_context": httpx2.create_ssl_context() if secure else None,
        }
        self._pool: httpcore2.ConnectionPool
        proxy = _proxy_for(base_url)
        if proxy is None:
            self._pool = httpcore2.ConnectionPool(**options)
        else:
            self._pool = httpcore2.HTTPProxy(
                proxy_url=_network_url(proxy.url), proxy_auth=proxy.raw_auth, **options
            )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and wait for the head of its response."""
        carried = httpcore2.Request(
            method=request.method,
            url=_network_url(request.url),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _translated():
            response = self._pool.handle_request(carried)
        return httpx2.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_ResponseStream(response.stream),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


def _network_url(url: httpx2.URL) -> httpcore2.URL:
    return httpcore2.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )


def _proxy_for(base_url: str) -> httpx2.Proxy | None:
    """Find the environment's proxy for an address; this machine is reached without one."""
    address = urlsplit(base_url)
    proxy = getproxies().get(address.scheme)
    if not proxy or address.hostname in _THIS_MACHINE or proxy_bypass(address.hostname or ""):
        return None
    return httpx2.Proxy(proxy)


@contextmanager
def _translated() -> Iterator[None]:
    """Raise the HTTP client's error of the same name for one of its network layer."""
    try:
        yield
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        name = type(error).__name__
        raise getattr(httpx2, name, httpx2.TransportError)(str(error)) from error
    except httpcore2.UnsupportedProtocol as error:
        raise httpx2.UnsupportedProtocol(str(error)) from error

"""A process that may talk to one endpoint and to nobody else.

The interpreter's own audit events (PEP 578) are watched, so that it does not matter which
library asks: name look-ups, connections and datagrams to anyone but the endpoint raise before a
packet leaves. Code that is not Python's own can go around it; a sandbox is for that.
"""

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sciagent.contracts.errors import InputError, SandboxError

VARIABLE = "SCIAGENT_ONLY_ENDPOINT"
"""Environment variable by which worker processes inherit the rule."""

Refused = Callable[[str], None]
"""Is told whom a refused connection was for."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOK_UPS = frozenset(
    {
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
        "socket.getnameinfo",
    }
)
_PACKETS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})


class RefusedConnectionError(SandboxError, ConnectionError):
    """A connection to someone else than the endpoint.

    It is a `ConnectionError` too, so that libraries clean up as after any that failed.
    """

    kind = "sandbox.connection"


@dataclass(slots=True)
class _Rule:
    """Whom this process may talk to; nothing is refused while nobody holds it."""

    host: str = ""
    port: int = 0
    addresses: set[str] = field(default_factory=set)
    listeners: list[Refused] = field(default_factory=list)
    holders: int = 0
    outer: str | None = None
    installed: bool = False
    changing: threading.Lock = field(default_factory=threading.Lock)


_rule = _Rule()


@contextmanager
def only_endpoint(base_url: str | None, refused: Refused | None = None) -> Iterator[None]:
    """Refuse every connection but those to an endpoint while the ``with`` block runs.

    The rule holds for the whole process, whichever thread asks, and for the worker processes
    that it starts meanwhile.

    Parameters
    ----------
    base_url
        The endpoint; none refuses nothing.
    refused
        Is told whom a refused connection was for.

    Raises
    ------
    InputError
        If the address has no host, its name cannot be looked up, or another run of this process
        may talk to another endpoint only.
    """
    if base_url is None:
        yield
        return
    listener = refused or _nobody
    _take(base_url, listener)
    try:
        yield
    finally:
        _let_go(listener)


def follow_environment(refused: Refused) -> None:
    """Obey, for the rest of this process, the rule that its owner obeys."""
    base_url = os.environ.get(VARIABLE)
    if base_url:
        _take(base_url, refused)


def place_of(base_url: str) -> tuple[str, int]:
    """Host and port of an endpoint.

    Raises
    ------
    InputError
        If the address has none.
    """
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if not host or parts.scheme not in _DEFAULT_PORTS:
        raise InputError(
            f"The endpoint {base_url!r} is no address of a server.",
            "Give one such as http://localhost:8000/v1.",
        )
    return host, port or _DEFAULT_PORTS[parts.scheme]


def _nobody(_target: str) -> None:
    """Hear of a refused connection, and do nothing."""


def _take(base_url: str, listener: Refused) -> None:
    host, port = place_of(base_url)
    with _rule.changing:
        if _rule.holders and (host, port) != (_rule.host, _rule.port):
            raise InputError(
                f"Another run of this process may only talk to {_rule.host} port {_rule.port}.",
                "Start this one in a process of its own, or after that one.",
            )
        if not _rule.holders:
            _begin(base_url, host, port)
        _rule.listeners.append(listener)
        _rule.holders += 1


def _begin(base_url: str, host: str, port: int) -> None:
    _rule.addresses = _addresses(host, port)
    if not _rule.addresses:
        raise InputError(
            f"The endpoint's host {host!r} cannot be found.", "Check its address and the network."
        )
    _rule.host, _rule.port = host, port
    _rule.outer = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = base_url
    if not _rule.installed:
        # A hook cannot be taken out again; it does nothing while nobody holds the rule.
        sys.addaudithook(_watch)
        _rule.installed = True


def _let_go(listener: Refused) -> None:
    with _rule.changing:
        _rule.listeners.remove(listener)
        _rule.holders -= 1
        if _rule.holders:
            return
        if _rule.outer is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = _rule.outer


def _addresses(host: str, port: int) -> set[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return set()
    return {str(each[4][0]) for each in found}


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise for what is not allowed; called by the interpreter before it is done."""
    if not _rule.holders:
        return
    if event in _LOOK_UPS:
        _judge_look_up(arguments[0])
    elif event in _PACKETS and isinstance(arguments[1], tuple):
        # Sockets of the file system have no host; datagrams of a connected one neither.
        _judge_packet(arguments[1])


def _judge_look_up(asked: Any) -> None:
    host = asked[0] if isinstance(asked, tuple) else asked
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name is not None and name not in {_rule.host, *_rule.addresses}:
        _refuse(str(name))


def _judge_packet(address: tuple[Any, ...]) -> None:
    host, port = str(address[0]), address[1]
    known = {_rule.host, *_rule.addresses}
    if port == _rule.port and host not in known:
        # Names of large services change their addresses while a run goes on.
        _rule.addresses |= _addresses(_rule.host, _rule.port)
        known |= _rule.addresses
    if port != _rule.port or host not in known:
        _refuse(f"{host} port {port}")


def _refuse(target: str) -> None:
    for listener in tuple(_rule.listeners):
        listener(target)
    raise RefusedConnectionError(
        f"A connection to {target} was refused: this run may only talk to its endpoint.",
        "Run it without --local-only if it may.",
    )

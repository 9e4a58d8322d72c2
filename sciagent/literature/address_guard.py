"""Refuses addresses that are not of the public web, where the connection is made.

What a page links to, or where it redirects to, is text from outside: it must not make this process
reach services of this machine or of the network around it. The name is resolved once, its addresses
are checked, and the connection goes to one that was checked; a name that resolves to something else
a moment later changes nothing.
"""

import ipaddress
import socket
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

import httpcore

from sciagent.contracts.errors import InputError, RandomError

_SCHEMES = frozenset({"http", "https"})
SocketOptions = Iterable[httpcore.SOCKET_OPTION]


class RefusedAddressError(InputError):
    """An address is not of the public web."""

    kind = "input.address"


class UnresolvedNameError(RandomError):
    """A name has no address."""

    kind = "random.name"


def require_web_address(url: str) -> str:
    """Check the form of an address; where it leads is checked when the connection is made.

    Returns
    -------
    str
        The host.

    Raises
    ------
    RefusedAddressError
        If it has another scheme than http and https, no host, or a name and password in it.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in _SCHEMES or not host:
        raise RefusedAddressError(f"{url!r} is no address of the web.", "Give one with http(s)://.")
    if parts.username is not None or parts.password is not None:
        raise RefusedAddressError(
            f"The address of {host} holds a name or password.", "Give it without."
        )
    return host


def public_addresses(host: str, port: int, trusted: Collection[str] = ()) -> list[str]:
    """Resolve a host and refuse it if any of its addresses is not public.

    Parameters
    ----------
    host, port
        What is to be reached.
    trusted
        Hosts whose addresses may be private, with a port or for all ports.

    Raises
    ------
    RefusedAddressError
        If an address is private, of this machine, link-local, multicast or reserved.
    UnresolvedNameError
        If the name cannot be resolved.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnresolvedNameError(f"The host {host} cannot be found: {error}.") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if host not in trusted and f"{host}:{port}" not in trusted:
        for address in addresses:
            if not is_public(address):
                raise RefusedAddressError(
                    f"{host} leads to {address}, which is not of the public web.",
                    "Name the host among `trusted_hosts` if it is yours.",
                )
    return addresses


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet, also if IPv6 wraps an IPv4 one."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        wrapped = parsed.ipv4_mapped or parsed.sixtofour
        if wrapped is not None:
            return is_public(str(wrapped))
    return parsed.is_global and not parsed.is_multicast


class GuardedBackend(httpcore.NetworkBackend):
    """Connects to addresses that were checked.

    Parameters
    ----------
    trusted
        Hosts whose addresses may be private.
    """

    def __init__(self, trusted: Collection[str] = ()) -> None:
        self._trusted = frozenset(trusted)
        self._real = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: SocketOptions | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address of a host that answers."""
        last: Exception | None = None
        for address in public_addresses(host, port, self._trusted):
            try:
                return self._real.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last or httpcore.ConnectError(f"{host} has no address")

"""A host that writes down whoever reaches it.

``python -m sciagent.testing.escapes.listener LOG ADDRESS [ABSTRACT SOCKET_FILE]``

It tells its port on standard output, listens to TCP and UDP there, to UDP port 53 where it may, and
to two sockets of the file system if they are given.
"""

import contextlib
import selectors
import socket
import sys
from collections.abc import Iterator
from pathlib import Path


def _sockets(address: str, more: list[str]) -> Iterator[tuple[str, socket.socket]]:
    stream = socket.socket()
    stream.bind((address, 0))
    port = stream.getsockname()[1]
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    yield "TCP", stream
    with contextlib.suppress(OSError):
        sixth = socket.socket(socket.AF_INET6)
        sixth.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sixth.bind(("::1", port))
        yield "IPv6", sixth
    for number in (port, 53):
        with contextlib.suppress(OSError):
            packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            packets.bind((address, number))
            yield f"UDP {number}", packets
    if more:
        for name, place in (("abstract", f"\0{more[0]}"), ("file", more[1])):
            local = socket.socket(socket.AF_UNIX)
            local.bind(place)
            yield name, local


def listen(log: Path, address: str, more: list[str]) -> None:
    """Listen until killed."""
    waiting = selectors.DefaultSelector()
    for name, each in _sockets(address, more):
        if each.type == socket.SOCK_STREAM:
            each.listen()
        waiting.register(each, selectors.EVENT_READ, name)
    while True:
        for key, _ in waiting.select():
            reached = key.fileobj
            assert isinstance(reached, socket.socket)
            if reached.type == socket.SOCK_STREAM:
                reached.accept()[0].close()
            else:
                reached.recv(512)
            with log.open("a", encoding="utf-8") as stream:
                stream.write(f"{key.data}\n")


if __name__ == "__main__":
    listen(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])

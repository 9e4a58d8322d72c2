"""What runs in the sandbox: a kernel that tells which connections its code asked for.

``python -P -m sciagent.execution.inside -f CONNECTION_FILE``
"""

import os
import sys
from pathlib import Path
from typing import Any

from sciagent.execution.kernel_end import start_kernel

ASKED = "connections"
"""File beside the connection file: a line for each connection, name or packet asked for."""

_LOOK_UPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_PACKETS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_WATCHED = _LOOK_UPS | _PACKETS
_LONGEST_BYTES = 200
_MOST = 1000


def watch_connections(path: Path) -> None:
    """Write down, from now on, whom the code of this process asks for.

    In the sandbox none of it is answered: there is no network. Programs that are not Python
    are not seen.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    left = _MOST

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        # It is told of every import, file and attribute too, so that this must cost little.
        if not event.startswith("socket.") or event not in _WATCHED:
            return
        target = _target(event, arguments)
        if target and left:
            left -= 1
            os.write(file, target.encode(errors="replace")[:_LONGEST_BYTES] + b"\n")

    sys.addaudithook(note)


def _target(event: str, arguments: tuple[Any, ...]) -> str:
    if event in _LOOK_UPS:
        host = arguments[0]
        return host.decode(errors="replace") if isinstance(host, bytes) else str(host or "")
    address = arguments[1]
    if isinstance(address, tuple) and len(address) > 1:
        return f"{address[0]} port {address[1]}"
    return ""  # sockets of the file system have no host


def main() -> None:
    """Start the kernel; its own start asks for nobody, and would take longer watched."""
    path = Path(sys.argv[sys.argv.index("-f") + 1]).with_name(ASKED)
    start_kernel(lambda: watch_connections(path))


if __name__ == "__main__":
    main()

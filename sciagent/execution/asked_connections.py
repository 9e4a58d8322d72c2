"""Reads whom the code of a kernel asked for, from the file that the kernel writes."""

import os
import stat
from pathlib import Path

from sciagent.execution.inside import ASKED

_MOST_BYTES = 300_000


class AskedConnections:
    """What is new in the file, each time it is looked at.

    The code of the kernel can put anything in its place; links are not followed, nothing is
    waited for, and no more is read than a kernel of ours writes.

    Parameters
    ----------
    folder
        Where the connection file lies.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ASKED
        self._read = 0

    def new(self) -> tuple[str, ...]:
        """Whom code asked for since this was last looked at, each once."""
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return ()
        with os.fdopen(file, "rb") as stream:
            if not stat.S_ISREG(os.fstat(file).st_mode) or self._read >= _MOST_BYTES:
                return ()
            stream.seek(self._read)
            content = stream.read(_MOST_BYTES - self._read)
            self._read += len(content)
        return tuple(dict.fromkeys(content.decode(errors="replace").split("\n")[:-1]))

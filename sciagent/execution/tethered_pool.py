"""Parsl's pool of workers on this machine, which ends with the owner of the campaign.

It is started through a shell that is nobody's child, and on its own it looks for its owner only by
messages, of which there are none before it has been heard of.
"""

import os
import signal
import sys
import sysconfig
import threading
import time
from pathlib import Path

from sciagent.execution.light_imports import OPTIONAL, RARELY_USED, leave_out, load_when_used
from sciagent.execution.process_tree import process_state, send
from sciagent.execution.tethered_interchange import OWNER_VARIABLE

_LOOK_S = 0.5


def tie_to_owner() -> None:
    """Watch the owner of the campaign from now on."""
    owner = int(os.environ.get(OWNER_VARIABLE, "0"))
    if owner:
        threading.Thread(target=_watch, args=(owner,), daemon=True).start()


def _watch(owner: int) -> None:
    while (found := process_state(owner)) is not None and not found.is_dead:
        time.sleep(_LOOK_S)
    send(os.getpid(), signal.SIGKILL, below=True)
    os._exit(1)


def script() -> Path:
    """Find Parsl's own program."""
    return Path(sysconfig.get_path("scripts")) / "process_worker_pool.py"


# The program becomes part of this module: a worker is made by importing the main module of its
# pool anew, and has to leave libraries out before it does.
if __name__ in {"__main__", "__mp_main__"}:
    load_when_used(*RARELY_USED)
    leave_out(*OPTIONAL)
    if __name__ == "__main__":
        tie_to_owner()
        sys.argv[0] = str(script())
    exec(compile(script().read_bytes(), str(script()), "exec"))  # noqa: S102

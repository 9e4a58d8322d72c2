"""Parsl's pool of workers on this machine, which ends with the owner of the campaign.

It is started through a shell that is nobody's child, and on its own it looks for its owner only by
messages, of which there are none before it has been heard of.
"""

import os
import runpy
import signal
import sys
import sysconfig
import threading
import time
from pathlib import Path

from sciagent.execution.process_tree import send
from sciagent.execution.tethered_interchange import OWNER_VARIABLE

_LOOK_S = 0.5


def main() -> None:
    """Watch the owner, then become the pool."""
    owner = int(os.environ.get(OWNER_VARIABLE, "0"))
    if owner:
        threading.Thread(target=_watch, args=(owner,), daemon=True).start()
    script = Path(sysconfig.get_path("scripts")) / "process_worker_pool.py"
    sys.argv[0] = str(script)
    runpy.run_path(str(script), run_name="__main__")


def _watch(owner: int) -> None:
    while _runs(owner):
        time.sleep(_LOOK_S)
    send(os.getpid(), signal.SIGKILL, below=True)
    os._exit(1)


def _runs(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


if __name__ == "__main__":
    main()

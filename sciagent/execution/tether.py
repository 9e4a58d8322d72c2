"""A process that ends with the one that started it, however that ends (Linux)."""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Let the system kill this process as soon as its parent has died.

    Parameters
    ----------
    parent
        Process identifier of the one that started this process. If it has died already, this
        process ends at once.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)

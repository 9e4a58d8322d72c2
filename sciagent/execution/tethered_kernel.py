"""Starts an IPython kernel that dies with the process that started it, also when that is killed.

Run as ``python -m sciagent.execution.tethered_kernel -f CONNECTION_FILE``.
"""

import os
import runpy
import sys

from sciagent.execution.tether import die_with_parent

PARENT_VARIABLE = "JPY_PARENT_PID"
"""Set by the one who starts a kernel: its process identifier."""


def main() -> None:
    """Tie this process to its parent, then become the kernel."""
    die_with_parent(int(os.environ.get(PARENT_VARIABLE, "0")) or os.getppid())
    sys.argv[0] = "ipykernel_launcher"
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

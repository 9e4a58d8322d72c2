"""Parsl's interchange, tied to the process that started it.

On its own it goes on for minutes after its owner was killed, and its workers with it.
"""

import os
import runpy
import sys
import sysconfig
from pathlib import Path

from sciagent.execution.light_imports import OPTIONAL, RARELY_USED, leave_out, load_when_used
from sciagent.execution.tether import die_with_parent

OWNER_VARIABLE = "SCIAGENT_CAMPAIGN_OWNER"
"""Set by the owner: its process identifier."""


def main() -> None:
    """Tie this process to its owner, then become the interchange."""
    die_with_parent(int(os.environ.get(OWNER_VARIABLE, "0")) or os.getppid())
    load_when_used(*RARELY_USED)
    leave_out(*OPTIONAL)
    script = Path(sysconfig.get_path("scripts")) / "interchange.py"
    sys.argv[0] = str(script)
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()

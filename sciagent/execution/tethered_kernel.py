"""Starts the kernel of a notebook: it dies with whoever started it, and tells whom it asks for.

Run as ``python -P -m sciagent.execution.tethered_kernel -f CONNECTION_FILE``. In a sandbox its
parent is the sandbox, which dies with its own.
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from sciagent.execution.inside import ASKED, watch_connections
from sciagent.execution.kernel_end import start_kernel
from sciagent.execution.tether import die_with_parent

PARENT_VARIABLE = "JPY_PARENT_PID"
"""Set by the one who starts a kernel: its process identifier."""
SANDBOX_VARIABLE = "SCIAGENT_SANDBOX"
"""Set in the sandbox, and only there."""
_PACKAGES = frozenset({"site-packages", "dist-packages"})


def main() -> None:
    """Tie this process to its parent, then become the kernel."""
    die_with_parent(int(os.environ.get(PARENT_VARIABLE, "0")) or os.getppid())
    watch_connections(Path(sys.argv[sys.argv.index("-f") + 1]).with_name(ASKED))
    if SANDBOX_VARIABLE in os.environ:
        _close_folders_above()
    import ipykernel.kernelapp  # noqa: F401 - before modules that lie beside the notebook

    _find_modules_here()
    start_kernel()


def _close_folders_above() -> None:
    """Refuse to write where files would be lost: folders above exist in the sandbox only."""
    for folder in Path.cwd().parents:
        if folder != Path(tempfile.gettempdir()):
            with contextlib.suppress(OSError):  # what is of the system is read-only already
                folder.chmod(0o555)


def _find_modules_here() -> None:
    """Let notebooks import what lies beside them, as in every kernel.

    It comes behind the standard library, and only now: such files must not replace what the
    kernel itself is made of.
    """
    names = [Path(path).name for path in sys.path]
    place = next((number for number, name in enumerate(names) if name in _PACKAGES), len(names))
    sys.path.insert(place, "")


if __name__ == "__main__":
    main()

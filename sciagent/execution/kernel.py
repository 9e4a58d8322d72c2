"""A clean kernel of this very interpreter, whatever kernel specifications are installed."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

import sciagent
from sciagent.execution.prompt_kernel import PromptClient, PromptKernel
from sciagent.workspace.secret_names import without_secrets

KERNEL_NAME = "sciagent-interpreter"
LAUNCHER = (sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}")
_LONGEST_SOCKET_PATH = 95
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


class InterpreterSpecs(KernelSpecManager):
    """Knows one kernel: the interpreter that runs now."""

    command: Sequence[str] = LAUNCHER
    provisioner: dict[str, Any] | None = None

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Describe the kernel; the name is not looked up anywhere."""
        return KernelSpec(
            argv=list(self.command),
            display_name=kernel_name,
            language="python",
            interrupt_mode="message" if self.provisioner else "signal",
            metadata={"kernel_provisioner": self.provisioner} if self.provisioner else {},
        )


def kernel_manager(
    folder: Path,
    command: Sequence[str] = LAUNCHER,
    provisioner: dict[str, Any] | None = None,
) -> PromptKernel:
    """Make the manager of a kernel that has not been started.

    Parameters
    ----------
    folder
        Empty folder that only this user can enter: it holds the connection file and, where its
        path is short enough for them, the sockets, so that nothing listens on the network.
    command
        What starts the kernel.
    provisioner
        Who starts it, as in a kernel specification; such a kernel is interrupted by message.
    """
    specs = InterpreterSpecs()
    specs.command, specs.provisioner = command, provisioner
    manager = PromptKernel(
        kernel_name=KERNEL_NAME, kernel_spec_manager=specs, client_factory=PromptClient
    )
    manager.connection_file = str(folder / "connection.json")
    sockets = str(folder / "socket")
    if len(sockets) <= _LONGEST_SOCKET_PATH:
        manager.transport, manager.ip = "ipc", sockets
    return manager


def clean_environment(profile: Path, threads: int) -> dict[str, str]:
    """Environment of a kernel: no secrets, no start-up files of the user, the same sciagent.

    Parameters
    ----------
    profile
        Empty folder in which IPython keeps what it must.
    threads
        Threads that numerical libraries may use.
    """
    package = str(Path(sciagent.__file__).resolve().parents[1])
    inherited = os.environ.get("PYTHONPATH", "")
    search = [package, *(part for part in inherited.split(os.pathsep) if part and part != package)]
    return {
        **without_secrets(os.environ),
        **dict.fromkeys(_THREAD_VARIABLES, str(threads)),
        "IPYTHONDIR": str(profile),
        "MPLBACKEND": "Agg",
        "PYTHONPATH": os.pathsep.join(search),
        "PYTHONSTARTUP": "",
    }

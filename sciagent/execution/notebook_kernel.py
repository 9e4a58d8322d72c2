"""Kernels for notebooks: of this interpreter in the sandbox or without, and foreign ones."""

import contextlib
import math
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sciagent
from sciagent.contracts.errors import InputError
from sciagent.execution.asked_connections import AskedConnections
from sciagent.execution.kernel import KERNEL_NAME, clean_environment, kernel_manager
from sciagent.execution.notebook_sandbox import NotebookSandbox
from sciagent.execution.provisioner import PROVISIONER, register_provisioner
from sciagent.execution.runtime_folder import runtime_folder
from sciagent.execution.sandbox import SandboxLimits
from sciagent.execution.tethered_kernel import PARENT_VARIABLE, SANDBOX_VARIABLE
from sciagent.workspace.secret_names import without_secrets

OWN_KERNELS = frozenset({KERNEL_NAME, "python3", "python"})
"""Kernels by these names are this very interpreter, whatever is installed under the name."""
_TETHERED = (
    sys.executable, "-P", "-m", "sciagent.execution.tethered_kernel", "-f", "{connection_file}",
    "--HistoryManager.hist_file=:memory:",
)  # fmt: skip
_MIB = 1024 * 1024
_LEAST_MEMORY_MIB = 256
_TMP_MIB = 1024
_FILE_MIB = 1024 * 1024
_PROCESSES = 512


@dataclass(frozen=True, slots=True)
class NotebookKernel:
    """A kernel that has not been started.

    Attributes
    ----------
    manager
        None for a foreign kernel: the client makes its own.
    start
        What it is started with.
    asked
        Where its connections are told; None for a foreign kernel.
    """

    manager: Any
    start: dict[str, Any]
    asked: AskedConnections | None = None


@contextlib.contextmanager
def notebook_kernel(
    name: str, sandbox: NotebookSandbox, threads: int, memory_mib: float | None
) -> Iterator[NotebookKernel]:
    """Make the kernel of a notebook; what it needs is removed when the ``with`` block ends.

    Parameters
    ----------
    name
        Of the kernel.
    sandbox
        How it is confined.
    threads
        Threads that numerical libraries may use.
    memory_mib
        Most memory of all its processes in the sandbox; None: that of the machine.
    """
    if name not in OWN_KERNELS:
        yield NotebookKernel(None, {"env": without_secrets(os.environ)})
        return
    with runtime_folder() as folder:
        environment = clean_environment(folder / "profile", threads)
        environment["MPLBACKEND"] = ""  # the kernel then shows figures in the notebook
        if sandbox.mode is None:
            manager = kernel_manager(folder, _TETHERED)
        else:
            register_provisioner()
            config = {
                "workspace": str(sandbox.directory),
                "read_only": sandbox.bound(),
                "threads": threads,
                "limits": _limits(memory_mib).model_dump(),
                "mode": sandbox.mode.model_dump(),
            }
            provisioner = {"provisioner_name": PROVISIONER, "config": config}
            command = [*_variables(sandbox, folder), *_TETHERED]
            manager = kernel_manager(folder, command, provisioner)
        start = {"env": environment, "cwd": str(sandbox.directory)}
        yield NotebookKernel(manager, start, AskedConnections(folder))


def _limits(memory_mib: float | None) -> SandboxLimits:
    """Bound what was asked for; a person's own notebook may fill the machine otherwise."""
    if memory_mib is None:
        memory_mib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _MIB
    elif memory_mib < _LEAST_MEMORY_MIB:
        raise InputError(
            f"{memory_mib:g} MiB are too little for a notebook in the sandbox.",
            f"Give `memory_mib` of {_LEAST_MEMORY_MIB} at least.",
        )
    return SandboxLimits(
        memory_mib=max(math.ceil(memory_mib), _LEAST_MEMORY_MIB),
        tmp_mib=_TMP_MIB,
        file_mib=_FILE_MIB,
        processes=_PROCESSES,
    )


def _variables(sandbox: NotebookSandbox, folder: Path) -> list[str]:
    """Set in the sandbox what is not of all sandboxes: the caller's search path, known fonts."""
    package = str(Path(sciagent.__file__).resolve().parents[1])
    search = [package, *(str(path) for path in sandbox.search if str(path) != package)]
    # The first process of the sandbox is the parent; a kernel of none tells how to connect to it.
    found = [
        f"PYTHONPATH={os.pathsep.join(search)}",
        f"{PARENT_VARIABLE}=1",
        f"{SANDBOX_VARIABLE}=1",
    ]
    if _copy_font_lists(folder / "matplotlib"):
        found.append(f"MPLCONFIGDIR={folder / 'matplotlib'}")
    return ["/usr/bin/env", *found]


def _copy_font_lists(folder: Path) -> bool:
    """Copy what matplotlib found out about fonts, which takes it seconds to find again."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "matplotlib"
    lists = list(Path(os.environ.get("MPLCONFIGDIR") or cache).glob("fontlist-*.json"))
    if not lists:
        return False
    folder.mkdir()
    for path in lists:
        shutil.copyfile(path, folder / path.name)
    return True

"""Starts kernels in a sandbox, for whoever uses Jupyter's kernel managers.

A kernel specification asks for it by ``metadata.kernel_provisioner.provisioner_name``:
``sciagent-sandbox``. Messages go through sockets of the file system, because the sandbox has no
network; kernels are interrupted by message, because a signal would end the sandbox.
"""

import asyncio
import contextlib
import logging
import os
import random
import shutil
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.launcher import launch_kernel
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Bool, Dict, List, Unicode
from traitlets import Int as Integer

from sciagent.contracts.errors import SandboxError
from sciagent.execution.bubblewrap import Confinement
from sciagent.execution.process_tree import TreeWatch, send
from sciagent.execution.sandbox import (
    SandboxLimits,
    SandboxMode,
    confined_command,
    sandbox_mode,
)

PROVISIONER = "sciagent-sandbox"
_MIB = 1024 * 1024
_OPEN_FILES = 1024
_ATTEMPTS = 20
_PAUSE_S = 0.05
_PIDS_GROUP = Path("/sys/fs/cgroup/pids")

_log = logging.getLogger(__name__)


class RefusedSandboxError(SandboxError):
    """There is no sandbox on this machine, and nobody allowed to do without."""

    kind = "sandbox.unavailable"


class SandboxProvisioner(LocalProvisioner):
    """Starts one kernel in a sandbox and watches it."""

    workspace = Unicode("", config=True, help="Folder that can be written; default: the cwd.")
    read_only = List(Unicode(), config=True, help="Folders and files that can be read.")
    threads = Integer(1, config=True, help="Threads of numerical libraries.")
    limits = Dict(config=True, help="Fields of `SandboxLimits`.")
    mode = Dict(config=True, help="Fields of a `SandboxMode`; default: what works here.")
    allow_unsandboxed = Bool(False, config=True, help="A person agreed to do without.")

    killed_because = ""
    _watch: TreeWatch | None = None
    _runtime: Path | None = None
    _group: Path | None = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Write the connection file and the command line."""
        mode = SandboxMode.model_validate(self.mode) if self.mode else sandbox_mode()
        if not mode.is_confined and not self.allow_unsandboxed:
            raise RefusedSandboxError(
                f"No code is run: there is no sandbox here ({mode.detail}).",
                f"Either {mode.remedy}, or agree to run it unsandboxed.",
            )
        self._use_runtime_folder()
        kwargs = await super().pre_launch(**kwargs)
        bounds = SandboxLimits.model_validate(self.limits)
        if mode.is_confined:
            confinement = self._confinement(mode.program, kwargs.get("cwd"), bounds)
            kwargs["cmd"] = confined_command(mode, confinement, kwargs["cmd"])
        kwargs["cmd"] = [*_limiting(bounds), *self._grouped(bounds), *kwargs["cmd"]]
        return kwargs

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the sandbox, and the watch over its memory and processes."""
        arguments = LocalProvisioner._scrub_kwargs(kwargs)
        # A sandbox dies with the thread that started it, so that thread is one that stays.
        started = _launcher().submit(launch_kernel, cmd, **arguments)
        self.process = await asyncio.wrap_future(started)
        self.pid, self.pgid = self.process.pid, os.getpgid(self.process.pid)
        self.cwd = kwargs.get("cwd", Path.cwd())
        bounds = SandboxLimits.model_validate(self.limits)
        self.killed_because = ""
        self._watch = TreeWatch(self.pid, bounds.memory_mib, bounds.processes, self._note)
        return self.connection_info

    async def send_signal(self, signum: int) -> None:
        """Pass a signal on; a sandbox is not interrupted by one, it would end."""
        if signum != signal.SIGINT:
            await super().send_signal(signum)

    async def kill(self, restart: bool = False) -> None:
        """Kill the sandbox with all that runs in it."""
        if self.process:
            # Stopped processes do not hand a signal on; each gets its own.
            send(self.process.pid, signal.SIGKILL)
        await super().kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """End the watch; remove the sockets unless the kernel starts again."""
        if self._watch is not None:
            self._watch.end()
            self._watch = None
        await super().cleanup(restart)
        if self._group is not None and not restart:
            _remove_group(self._group)
            self._group = None
        if self._runtime is not None and not restart:
            shutil.rmtree(self._runtime, ignore_errors=True)
            self._runtime = None

    def _confinement(self, program: str, cwd: str | None, bounds: SandboxLimits) -> Confinement:
        return Confinement(
            program=program,
            workspace=Path(self.workspace or cwd or Path.cwd()).resolve(),
            runtime=self._use_runtime_folder(),
            read_only=tuple(Path(each).resolve() for each in self.read_only),
            threads=self.threads,
            tmp_mib=bounds.tmp_mib,
        )

    def _note(self, reason: str) -> None:
        _log.warning("kernel killed: %s", reason)
        self.killed_because = reason

    def _use_runtime_folder(self) -> Path:
        """Use the folder of the connection file if it is ours, else make one."""
        manager = self.parent
        if manager is not None and manager.transport == "ipc" and manager.connection_file:
            return Path(manager.connection_file).parent
        if self._runtime is None:
            self._runtime = Path(tempfile.mkdtemp(prefix="sciagent-kernel-"))
        if manager is not None:
            manager.connection_file = str(self._runtime / "connection.json")
            manager.transport, manager.ip = "ipc", str(self._runtime / "socket")
        return self._runtime

    def _grouped(self, bounds: SandboxLimits) -> list[str]:
        """Bound the processes of root, for whom the limit of a user does not hold."""
        if os.geteuid() != 0 or not os.access(_PIDS_GROUP, os.W_OK):
            return []
        _remove_abandoned_groups()
        group = _PIDS_GROUP / f"sciagent-{os.getpid()}-{self.kernel_id}"
        try:
            group.mkdir(exist_ok=True)
            (group / "pids.max").write_text(str(bounds.processes), encoding="ascii")
        except OSError as error:
            _log.info("no control group for processes: %s", error)
            return []
        self._group = group
        join = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
        return ["/bin/sh", "-c", join, str(group)]


def register_provisioner() -> None:
    """Make the provisioner known to this process, also where no entry point is installed."""
    entry = EntryPoint(
        PROVISIONER,
        f"{SandboxProvisioner.__module__}:{SandboxProvisioner.__name__}",
        KernelProvisionerFactory.GROUP_NAME,
    )
    KernelProvisionerFactory.provisioners.setdefault(PROVISIONER, entry)


def _limiting(bounds: SandboxLimits) -> list[str]:
    program = shutil.which("prlimit")
    if program is None:
        return []
    command = [
        program, f"--data={bounds.memory_mib * _MIB}", "--core=0",
        f"--fsize={bounds.file_mib * _MIB}", f"--nofile={_OPEN_FILES}",
        f"--nproc={bounds.processes}",
    ]  # fmt: skip
    taskset = shutil.which("taskset")
    if bounds.cpus is not None and taskset is not None:
        allowed = sorted(os.sched_getaffinity(0))
        chosen = random.sample(allowed, min(bounds.cpus, len(allowed)))
        command += [taskset, "--cpu-list", ",".join(map(str, sorted(chosen)))]
    return command


@cache
def _launcher() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="sandbox-launcher")


def _remove_abandoned_groups() -> None:
    """Remove the groups whose owner was killed, so that it could not."""
    for group in _PIDS_GROUP.glob("sciagent-*"):
        owner = group.name.split("-")[1]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            with contextlib.suppress(OSError):  # its processes are ending still
                group.rmdir()


def _remove_group(group: Path) -> None:
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(OSError):  # what was killed is not yet gone
            group.rmdir()
            return
        time.sleep(_PAUSE_S)
    _log.info("the control group %s stays", group)

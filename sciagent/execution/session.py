"""One kernel: started, asked cell by cell, interrupted, paused, and seen when it dies."""

import logging
import os
import queue
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from pydantic import Field

from sciagent.contracts.errors import InputError, ResourceError
from sciagent.contracts.model import Contract
from sciagent.execution.asked_connections import AskedConnections
from sciagent.execution.event_loop import wait_for
from sciagent.execution.process_tree import memory_mib, send, tree_of
from sciagent.execution.provisioner import PROVISIONER, register_provisioner
from sciagent.execution.runtime_folder import make_runtime_folder
from sciagent.execution.sandbox import SandboxLimits, SandboxMode
from sciagent.workspace.secret_names import without_secrets

_START_TIMEOUT_S = 120
_POLL_S = 0.1
_GRACE_S = 5.0
_LOG = "kernel.log"

Message = dict[str, Any]
"""A message of the Jupyter protocol."""

_log = logging.getLogger(__name__)


class KernelSettings(Contract):
    """What a kernel may see and use."""

    workspace: Path = Field(description="Folder that it may write, and its working directory.")
    read_only: tuple[Path, ...] = Field(default=(), description="What it may read besides.")
    limits: SandboxLimits = SandboxLimits()
    threads: int = Field(default=1, ge=1)
    sandbox: SandboxMode | None = Field(
        default=None, description="How it is confined; none: by the first that works here."
    )
    allow_unsandboxed: bool = Field(
        default=False, description="A person agreed to code that is not confined."
    )

    def require_existing(self) -> None:
        """Refuse folders and files that are not there.

        Raises
        ------
        InputError
            If what should be readable does not exist.
        """
        for path in (self.workspace, *self.read_only):
            if not path.exists():
                raise InputError(f"There is no {path}.", "Give a folder or file that exists.")


class CellEnd(Contract):
    """How the execution of a cell ended."""

    status: Literal["ok", "error", "timeout", "kernel_died", "interrupted"]
    detail: str = ""
    execution_count: int | None = None
    connections: tuple[str, ...] = Field(default=(), description="Whom its code asked for.")


class _OneSpec(KernelSpecManager):
    """Knows one kernel: this interpreter in a sandbox."""

    settings: KernelSettings

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Describe the kernel; the name is not looked up anywhere."""
        config = {
            "workspace": str(self.settings.workspace),
            "read_only": [str(each) for each in self.settings.read_only],
            "threads": self.settings.threads,
            "limits": self.settings.limits.model_dump(),
            "mode": self.settings.sandbox.model_dump() if self.settings.sandbox else {},
            "allow_unsandboxed": self.settings.allow_unsandboxed,
        }
        return KernelSpec(
            argv=[
                sys.executable, "-P", "-m", "sciagent.execution.inside", "-f", "{connection_file}",
            ],
            display_name=kernel_name,
            language="python",
            interrupt_mode="message",
            metadata={
                "kernel_provisioner": {"provisioner_name": PROVISIONER, "config": config}
            },
        )  # fmt: skip


class KernelSession:
    """A kernel with its client; used by one thread at a time.

    Parameters
    ----------
    settings
        What it may see and use.
    """

    def __init__(self, settings: KernelSettings) -> None:
        self._settings = settings
        self._manager: AsyncKernelManager | None = None
        self._client: BlockingKernelClient | None = None
        self._folder: Path | None = None
        self._connections: AskedConnections | None = None

    @property
    def is_started(self) -> bool:
        """Whether there is a kernel, alive or dead."""
        return self._manager is not None

    @property
    def is_alive(self) -> bool:
        """Whether the kernel's process runs."""
        provisioner = self._manager.provisioner if self._manager is not None else None
        process = getattr(provisioner, "process", None)
        return process is not None and process.poll() is None

    @property
    def death(self) -> str:
        """Why the kernel died, as far as that is known."""
        provisioner = self._manager.provisioner if self._manager is not None else None
        return str(getattr(provisioner, "killed_because", "")) or "its process ended"

    @property
    def runtime_folder(self) -> Path:
        """Folder that the kernel shares with its owner, outside of the workspace.

        Raises
        ------
        ResourceError
            If there is no kernel.
        """
        if self._folder is None:
            raise ResourceError("There is no kernel.", "Start it.")
        return self._folder

    def start(self) -> None:
        """Start the kernel and wait until it answers.

        Raises
        ------
        SandboxError
            If there is no sandbox here and nobody allowed to do without.
        ResourceError
            If it does not come up.
        """
        self._settings.require_existing()
        register_provisioner()
        self._folder = make_runtime_folder()
        self._connections = AskedConnections(self._folder)
        specs = _OneSpec()
        specs.settings = self._settings
        manager = AsyncKernelManager(kernel_name="sciagent-sandbox", kernel_spec_manager=specs)
        manager.connection_file = str(self._folder / "connection.json")
        manager.transport, manager.ip = "ipc", str(self._folder / "socket")
        self._manager = manager
        try:
            with (self._folder / _LOG).open("wb") as log:
                cwd = str(self._settings.workspace)
                env = without_secrets(os.environ)
                wait_for(manager.start_kernel(cwd=cwd, stdout=log, stderr=log, env=env))
            self._client = BlockingKernelClient()
            self._client.load_connection_info(manager.get_connection_info(session=False))
            self._client.start_channels(stdin=False, hb=False, control=False)
            self._wait_until_ready(self._client)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the kernel and all that it started."""
        manager, client, folder = self._manager, self._client, self._folder
        self._manager = self._client = self._folder = None
        if client is not None:
            client.stop_channels()
        if manager is not None and manager.has_kernel:
            wait_for(manager.shutdown_kernel(now=True))
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def execute(
        self,
        code: str,
        heard: Callable[[Message], None],
        ended: Callable[[], Literal["", "timeout", "interrupted"]],
        *,
        silent: bool = False,
    ) -> CellEnd:
        """Run one cell to its end.

        Parameters
        ----------
        code
            The cell.
        heard
            Is told each message of output as it comes.
        ended
            Is asked often whether the cell should be ended, and why. It is then interrupted; if
            that does not help within seconds, the kernel is killed.
        silent
            Whether the kernel should not count the cell.
        """
        client, manager = self._client, self._manager
        if client is None or manager is None:
            raise ResourceError("There is no kernel.", "Start it.")
        asked = client.execute(code, silent=silent, store_history=not silent, allow_stdin=False)
        why: Literal["", "timeout", "interrupted"] = ""
        killed_at = float("inf")
        while True:
            message = self._next(client)
            if message is not None and message["parent_header"].get("msg_id") == asked:
                if _is_idle(message):
                    return self._end(client, asked, why)
                heard(message)
            elif message is None and not self.is_alive:
                return CellEnd(status="kernel_died", detail=self.death, connections=self._asked())
            if not why:
                why = ended()
                if why:
                    wait_for(manager.interrupt_kernel())
                    killed_at = time.monotonic() + _GRACE_S
            if time.monotonic() > killed_at:
                wait_for(manager.shutdown_kernel(now=True))
                detail = "it did not answer the interrupt; its kernel was ended"
                return CellEnd(status=why or "timeout", detail=detail, connections=self._asked())

    def pause(self, page_out: str) -> tuple[float, float]:
        """Give the kernel's memory to the swap and stop it.

        Parameters
        ----------
        page_out
            Code by which the kernel gives its memory away.

        Returns
        -------
        tuple of float
            Resident memory before and after, in MiB.
        """
        root = self._process()
        before = memory_mib(root, "Rss")
        if page_out:
            limit = time.monotonic() + _START_TIMEOUT_S
            self.execute(
                page_out, _nobody, lambda: "timeout" if time.monotonic() > limit else "",
                silent=True,
            )  # fmt: skip
        send(root, signal.SIGSTOP, below=True)
        time.sleep(_POLL_S)
        return before, memory_mib(root, "Rss")

    def resume(self) -> None:
        """Let a paused kernel go on."""
        send(self._process(), signal.SIGCONT, below=True)

    def processes(self) -> list[int]:
        """Processes of the sandbox, the first one included."""
        return tree_of(self._process())

    def _process(self) -> int:
        provisioner = self._manager.provisioner if self._manager is not None else None
        process = getattr(provisioner, "pid", None)
        if process is None:
            raise ResourceError("There is no kernel.", "Start it.")
        return int(process)

    def _wait_until_ready(self, client: BlockingKernelClient) -> None:
        """Wait for an answer, and until outputs arrive too."""
        limit = time.monotonic() + _START_TIMEOUT_S
        client.kernel_info()
        while time.monotonic() < limit:
            if not self.is_alive:
                said = _last_line(self._folder / _LOG) if self._folder else ""
                raise ResourceError(
                    f"The kernel did not start: {said or self.death}.",
                    "`sciagent doctor` says what works here.",
                )
            if _arrives(client.shell_channel):
                if _arrives(client.iopub_channel):
                    return
                client.kernel_info()
        raise ResourceError(f"The kernel did not answer within {_START_TIMEOUT_S} s.", "Try again.")

    def _next(self, client: BlockingKernelClient) -> Message | None:
        try:
            message: Message = client.iopub_channel.get_msg(timeout=_POLL_S)
        except queue.Empty:
            return None
        return message

    def _end(
        self,
        client: BlockingKernelClient,
        asked: str,
        why: Literal["", "timeout", "interrupted"],
    ) -> CellEnd:
        while True:
            try:
                reply = client.shell_channel.get_msg(timeout=_GRACE_S)
            except queue.Empty:
                detail = "the kernel gave no reply"
                return CellEnd(status="error", detail=detail, connections=self._asked())
            if reply["parent_header"].get("msg_id") == asked:
                break
        content = reply["content"]
        status = why or ("ok" if content["status"] == "ok" else "error")
        if content["status"] == "ok":
            status = "ok"  # it came to its end before the interrupt reached it
        return CellEnd(
            status=status,
            execution_count=content.get("execution_count"),
            connections=self._asked(),
        )

    def _asked(self) -> tuple[str, ...]:
        """Whom code asked for since this was last looked at, each once."""
        return self._connections.new() if self._connections is not None else ()


def _is_idle(message: Message) -> bool:
    is_status = message["msg_type"] == "status"
    return is_status and bool(message["content"]["execution_state"] == "idle")


def _arrives(channel: Any) -> bool:
    try:
        channel.get_msg(timeout=_POLL_S)
    except queue.Empty:
        return False
    return True


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _nobody(_message: Message) -> None:
    """Hear an output and do nothing."""

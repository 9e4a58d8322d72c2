"""Programs as child processes, with limits, ended with all they started."""

import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sciagent.contracts.errors import InputError
from sciagent.contracts.ports import ProcessLimits, ProcessResult
from sciagent.workspace.secret_names import without_secrets

_POLL_S = 0.05
_TAIL_BYTES = 8000
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LocalProcessRunner:
    """Runs programs on this machine, unsandboxed (a `ProcessRunner`)."""

    threads: int = 1

    def run(
        self,
        argv: Sequence[str],
        *,
        directory: Path,
        log: Path,
        limits: ProcessLimits,
        cancelled: Callable[[], bool],
    ) -> ProcessResult:
        """Run a program to its end and keep all it writes in `log`.

        Raises
        ------
        InputError
            If the program does not exist.
        """
        start, cpu = time.monotonic(), _children_cpu_s()
        with log.open("ab") as stream:
            process = _start(argv, directory, stream.fileno(), self.threads, limits)
            timed_out, was_cancelled = _watch(process, start, limits, cancelled)
        return ProcessResult(
            returncode=process.returncode,
            timed_out=timed_out,
            cancelled=was_cancelled,
            output=_tail(log),
            wall_s=time.monotonic() - start,
            cpu_s=max(_children_cpu_s() - cpu, 0.0),
        )


def _start(
    argv: Sequence[str], directory: Path, output: int, threads: int, limits: ProcessLimits
) -> "subprocess.Popen[bytes]":
    def bound_memory() -> None:
        if limits.memory_mib is not None:
            bytes_allowed = int(limits.memory_mib * _MIB)
            resource.setrlimit(resource.RLIMIT_DATA, (bytes_allowed, bytes_allowed))

    try:
        return subprocess.Popen(
            list(argv),
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**without_secrets(os.environ), "OMP_NUM_THREADS": str(threads)},
            start_new_session=True,
            preexec_fn=bound_memory,  # noqa: PLW1509 - workers start it with one thread
        )
    except FileNotFoundError as error:
        raise InputError(
            f"The program {argv[0]!r} is not installed.", "`sciagent doctor` says how to get it."
        ) from error


def _watch(
    process: "subprocess.Popen[bytes]",
    start: float,
    limits: ProcessLimits,
    cancelled: Callable[[], bool],
) -> tuple[bool, bool]:
    timed_out = was_cancelled = False
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
            break
        timed_out = limits.wall_s is not None and time.monotonic() - start > limits.wall_s
        was_cancelled = cancelled()
        if timed_out or was_cancelled:
            break
    # Also after a normal end: what the program left running would hold the trial's folder.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return timed_out, was_cancelled


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tail(log: Path) -> str:
    with log.open("rb") as stream:
        stream.seek(max(log.stat().st_size - _TAIL_BYTES, 0))
        return stream.read().decode(errors="replace")

"""What a sandbox keeps in, what it costs at the start, and what pausing a kernel frees."""

import contextlib
import json
import queue
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager

from benchmarks.table import Row, present, progress
from sciagent.contracts.errors import SciagentError
from sciagent.execution.code_runner import CodeSettings, KernelPool
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.execution.papermill_engine import run_with_papermill
from sciagent.execution.sandbox import sandbox_mode
from sciagent.execution.session import KernelSession, KernelSettings
from sciagent.reports.notebooks import KERNEL, code_cell, written
from sciagent.testing.escapes.attempts import ATTEMPTS
from sciagent.testing.escapes.ground import attempts_in_sandbox, ground
from sciagent.testing.swap import swap
from sciagent.workspace.journal import JournalFile

PAIRS = 10
LIMIT_START_PERCENT = 5.0
LIMIT_FREED = 0.9
LIMIT_ANSWER_S = 0.5
RESIDENT_MIB = 800
SWAP_MIB = 2048


class PlainSpecs(KernelSpecManager):
    """Knows one kernel: this interpreter, started as Jupyter does."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Describe the kernel."""
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name=kernel_name, language="python")


def plain_start_s(folder: Path) -> float:
    """Time from nothing to the first answer of a plain kernel."""
    with tempfile.TemporaryDirectory() as sockets, (folder / "log").open("wb") as log:
        start = time.monotonic()
        manager = KernelManager(kernel_name="plain", kernel_spec_manager=PlainSpecs())
        manager.connection_file = f"{sockets}/connection.json"
        manager.transport, manager.ip = "ipc", f"{sockets}/socket"
        manager.start_kernel(cwd=str(folder), stdout=log, stderr=log)
        client = BlockingKernelClient()
        client.load_connection_info(manager.get_connection_info(session=False))
        client.start_channels(stdin=False, hb=False, control=False)
        client.kernel_info()
        while not _answers(client):
            pass
        ended = time.monotonic()
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return ended - start


def _answers(client: BlockingKernelClient) -> bool:
    try:
        client.shell_channel.get_msg(timeout=0.1)
    except queue.Empty:
        return False
    return True


def sandboxed_start_s(folder: Path) -> float:
    """Time from nothing to the first answer of a sandboxed kernel."""
    start = time.monotonic()
    session = KernelSession(KernelSettings(workspace=folder))
    session.start()
    ended = time.monotonic()
    session.close()
    return ended - start


def starts(pairs: int) -> list[Row]:
    """Start kernels in pairs; which of the two comes first alternates."""
    measured: dict[Callable[[Path], float], list[float]] = {
        plain_start_s: [],
        sandboxed_start_s: [],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sandbox_mode()
        for start in measured:
            start(folder)  # files that are read for the first time count for nobody
        for number in range(pairs):
            progress(f"pair {number + 1} of {pairs} starts")
            order = list(measured) if number % 2 else list(reversed(measured))
            for start in order:
                measured[start].append(start(folder))
    plain, confined = measured[plain_start_s], measured[sandboxed_start_s]
    more = [100.0 * (b / a - 1.0) for a, b in zip(plain, confined, strict=True)]
    middle = statistics.median(plain)
    return [
        Row("start", "sandboxed_s", statistics.median(confined), "s", "plain kernel", middle),
        Row("start", "more_percent", statistics.median(more), "%", "limit", LIMIT_START_PERCENT),
    ]


def escapes() -> list[Row]:
    """Make every attempt to get out."""
    progress(f"{len(ATTEMPTS)} attempts to escape")
    with ground() as place:
        reports = attempts_in_sandbox(place)
    for each in reports:
        said = each.output.strip().splitlines()[-1][:80] if each.output.strip() else "no output"
        verdict = f"ESCAPED: {each.escaped}" if each.escaped else each.skipped or f"held: {said}"
        progress(f"  {each.attempt}: {verdict}")
    made = sum(1 for each in reports if not each.skipped)
    return [
        Row("sandbox", "attempts", made, "{count}", "asked for", 30),
        Row("sandbox", "escapes", sum(1 for e in reports if e.escaped), "{count}", "limit", 0),
    ]


def pausing(resident_mib: int) -> list[Row]:
    """Pause a kernel that holds an array, and ask it again."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        root = folder / "run"
        root.mkdir()
        with swap(folder, SWAP_MIB) as missing, JournalFile.create(root / "events.jsonl") as log:
            progress(missing or f"pausing a kernel of {resident_mib} MiB")
            kernel = KernelSettings(workspace=root)
            pool = KernelPool(log, CodeSettings(kernel, pause_after_s=None))
            try:
                return _paused(pool, resident_mib, missing)
            finally:
                pool.close()


def _paused(pool: KernelPool, resident_mib: int, missing: str) -> list[Row]:
    runner = pool.runner("main")
    runner.run(f"import numpy as np\na = np.arange({resident_mib} << 17, dtype=float)\ns = a.sum()")
    start = time.monotonic()
    pause = runner.pause()
    assert pause is not None
    took_s = time.monotonic() - start
    start = time.monotonic()
    answer = runner.run("1 + 1")
    answered_s = time.monotonic() - start
    intact = runner.run("bool(a.sum() == s)").output == "True"
    assert answer.output == "2"
    goal = "nothing can be freed without swap" if missing else "at least"
    return [
        Row("pause", "resident_before", pause.before_mib, "MiBy"),
        Row("pause", "resident_after", pause.after_mib, "MiBy"),
        Row("pause", "freed_share", pause.freed_fraction, "1", goal, LIMIT_FREED),
        Row("pause", "pause_s", took_s, "s"),
        Row("pause", "first_answer_s", answered_s, "s", "limit", LIMIT_ANSWER_S),
        Row("pause", "state_intact", float(intact), "1", "at least", 1.0),
    ]


_ENDS = {
    "timeout": "import time; time.sleep(60)",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "interrupt": "raise KeyboardInterrupt",
    "exception": "1 / 0",
    "memory": "eaten = bytearray(10**9)",
}
"""Cells that do not come to their end, each by another way."""


def truthfulness() -> list[Row]:
    """Count the notebooks that mark exactly the cells that ran, whatever ended them."""
    exact = 0
    for name, source in _ENDS.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            cells = [code_cell(text, f"c{n}") for n, text in enumerate(("a = 1", source, "b = 2"))]
            content = {
                "cells": cells, "metadata": {"kernelspec": dict(KERNEL)}, "nbformat": 4,
                "nbformat_minor": 5,
            }  # fmt: skip
            (folder / "in.ipynb").write_text(written(content))
            with contextlib.suppress(SciagentError):
                run_with_papermill(
                    folder / "in.ipynb", folder / "out.ipynb", {}, directory=folder,
                    limits=NotebookLimits(cell_timeout_s=3, memory_mib=500),
                )  # fmt: skip
            found = json.loads((folder / "out.ipynb").read_text())["cells"]
            # papermill adds cells of its own where a notebook failed.
            marks = {each["id"]: each["metadata"].get("sciagent") for each in found}
            status = {cell: mark["status"] for cell, mark in marks.items() if mark}
            ran = (status["c0"], status["c1"] in {"failed", "interrupted"}, status["c2"])
            exact += ran == ("completed", True, "not run")
            progress(f"  {name}: {list(status.values())}")
    return [Row("truthfulness", "exact", exact, "{count}", "of", len(_ENDS))]


def saving() -> list[Row]:
    """Save the variables of a kernel, end it, and let another go on."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        with JournalFile.create(root / "events.jsonl") as log:
            pool = KernelPool(log, CodeSettings(KernelSettings(workspace=root)))
            runner = pool.runner("main")
            runner.run("import numpy as np\na = np.ones(200 << 17)\nnames = {'a': 1}\ng = iter(a)")
            start = time.monotonic()
            runner.offload()
            saved_s = time.monotonic() - start
            start = time.monotonic()
            answer = runner.run("float(a.sum()) == a.size and names['a'] == 1")
            restored_s = time.monotonic() - start
            pool.close()
    return [
        Row("snapshot", "saved_s", saved_s, "s"),
        Row("snapshot", "restored_s", restored_s, "s"),
        Row("snapshot", "state_intact", float("True" in answer.output), "1", "at least", 1.0),
    ]


def measure(quick: bool) -> list[Row]:
    """Measure all of it; without a sandbox only the pause would mean anything."""
    if not sandbox_mode().is_confined:
        sys.exit(f"There is no sandbox here: {sandbox_mode().remedy}.")
    return [
        *escapes(),
        *starts(3 if quick else PAIRS),
        *pausing(200 if quick else RESIDENT_MIB),
        *saving(),
        *truthfulness(),
    ]


def main() -> int:
    """Print the figures."""
    return present("execution", measure)


if __name__ == "__main__":
    sys.exit(main())

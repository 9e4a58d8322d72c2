"""Campaigns against a plain papermill loop, and under kills at random moments."""

import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.table import Row, present, progress
from sciagent.reports.notebooks import KERNEL, code_cell, written

WORKERS = 2
PAIRS = 5
KILLS = 10
NOTEBOOKS = 24
QUICK_NOTEBOOKS = 4
ORPHANS_AFTER_S = 10.0
_SAMPLE_S = 1.0
_MIB = 1024 * 1024
_TRIVIAL = ("x = 1", "import numpy as np\na = np.arange(10) * x", "print(a.sum())")
_BURN = """
import matplotlib.pyplot as plt
total = 0
for i in range(15_000_000):
    total += i * i % 7
"""
_WORKING = (*_TRIVIAL[:2], _BURN, "figure = plt.figure()\nplt.plot(a)\nfigure.savefig('a.png')")
_LOOP = """
import papermill, pathlib, sys
folder = pathlib.Path({folder!r})
for x in range({count}):
    here = folder / f"loop-{{x}}"
    here.mkdir()
    papermill.execute_notebook({notebook!r}, str(here / "out.ipynb"), {{"x": x}}, cwd=str(here),
                               progress_bar=False)
    (here / "done").touch()
"""
_BATCH = """
from sciagent.runs.campaign import batch
batch({spec!r}, out={folder!r})
"""


@dataclass(frozen=True)
class Measured:
    """One pass over all notebooks."""

    wall_s: float
    first_s: float
    memory_mib: float


def notebook_of(folder: Path, sources: tuple[str, ...]) -> Path:
    cells = [code_cell(source, f"c{number}") for number, source in enumerate(sources)]
    cells[0]["metadata"]["tags"] = ["parameters"]
    content = {
        "cells": cells,
        "metadata": {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / "work.ipynb").write_text(written(content))
    return folder / "work.ipynb"


def start(folder: Path, code: str) -> subprocess.Popen[bytes]:
    script = folder / "drive.py"
    script.write_text(code)
    return subprocess.Popen([sys.executable, str(script)], cwd=folder, stderr=subprocess.DEVNULL)


def looped(folder: Path, notebook: Path, count: int) -> Measured:
    code = _LOOP.format(folder=str(folder), count=count, notebook=str(notebook))
    return measured(folder, code, "loop-*/done")


def batched(folder: Path, notebook: Path, count: int) -> Measured:
    code = _BATCH.format(spec=spec_of(notebook, count), folder=str(folder))
    return measured(folder, code, "work/runs/*/attempt-1/result.json")


def spec_of(notebook: Path, count: int) -> dict[str, object]:
    return {
        "campaign": "work",
        "workflow": str(notebook),
        "grid": {"x": list(range(count))},
        "parallel": WORKERS,
    }


def measured(folder: Path, code: str, results: str) -> Measured:
    """Run to the end; note the first result, and the memory of all but the kernels."""
    begin = time.time()
    process = start(folder, code)
    memory = []
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_SAMPLE_S)
            break
        memory.append(engine_mib(process.pid))
    wall_s = time.time() - begin
    if process.returncode != 0:
        raise RuntimeError(f"{folder}: the driver ended with {process.returncode}.")
    first = min(path.stat().st_mtime for path in folder.glob(results))
    return Measured(wall_s, first - begin, statistics.median(memory or [0.0]))


def engine_mib(driver: int) -> float:
    """Memory (PSS) of the driver and its workers, without kernels and what they started."""
    total = 0
    with contextlib.suppress(psutil.Error):
        processes = [psutil.Process(driver)]
        for process in processes:
            with contextlib.suppress(psutil.Error):
                if "kernel" not in " ".join(process.cmdline()):
                    total += process.memory_full_info().pss
                    processes += process.children()
    return total / _MIB


def pairs(case: str, cells: tuple[str, ...], count: int, repeats: int) -> list[Row]:
    """Compare a loop with a campaign, pair by pair."""
    both: list[tuple[Measured, Measured]] = []
    for number in range(repeats):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            notebook = notebook_of(folder, cells)
            both.append((looped(folder, notebook, count), batched(folder, notebook, count)))
        loop, batch = both[-1]
        progress(f"{case} {number + 1}/{repeats}: {loop.wall_s:.1f} s, {batch.wall_s:.1f} s")
    speedup = statistics.median(loop.wall_s / batch.wall_s for loop, batch in both)
    later_s = statistics.median(batch.first_s - loop.first_s for loop, batch in both)
    memory_mib = statistics.median(batch.memory_mib for _, batch in both)
    loop_s = statistics.median(loop.wall_s for loop, _ in both)
    batch_s = statistics.median(batch.wall_s for _, batch in both)
    return [
        Row(case, "speedup", speedup, "1", "plain papermill loop", 1.0),
        Row(case, "wall_s", batch_s, "s", "plain papermill loop", loop_s),
        Row(case, "first_result_after_loop_s", later_s, "s", "at most", 2.0),
        Row(case, "engine_memory_mib", memory_mib, "MiBy", "at most", 150.0),
    ]


def finished_rows(folder: Path) -> dict[str, int]:
    """Rows with a result, and how many attempts they have."""
    return {
        path.parents[1].name: len(list(path.parents[1].iterdir()))
        for path in folder.glob("work/runs/*/attempt-*/result.json")
    }


def workers(folder: Path) -> list[int]:
    """Living processes that hold a claim without a result."""
    claims = folder.glob("work/runs/*/attempt-*/claim.json")
    open_claims = [path for path in claims if not (path.parent / "result.json").exists()]
    found = [int(json.loads(path.read_bytes())["process"]) for path in open_claims]
    return [process for process in found if psutil.pid_exists(process)]


def orphans(folder: Path) -> int:
    """Processes that still work below a folder."""
    found = 0
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            found += process.cwd().startswith(str(folder / "work"))
    return found


def kills(count: int, notebooks: int) -> list[Row]:
    """Kill a worker or the driver at random moments until `count` kills were made."""
    dice = random.Random(1)
    made = again = repeated = left = worst = 0
    while made < count:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            notebook = notebook_of(folder, _TRIVIAL)
            code = _BATCH.format(spec=spec_of(notebook, notebooks), folder=str(folder))
            finished: dict[str, int] = {}
            while len(finished) < notebooks:
                driver = start(folder, code)
                killed = ended_within(driver, folder, dice)
                made += killed
                now = finished_rows(folder)
                again += sum(now[row] != attempts for row, attempts in finished.items())
                finished = now
                if driver.poll() is not None and killed:
                    left += wait_for_orphans(folder)
                driver.wait()
                if not killed:
                    finished = finished_rows(folder)
                    break
            attempts = [len(list(row.iterdir())) for row in folder.glob("work/runs/*")]
            repeated += sum(attempts) - len(attempts)
            worst = max(worst, notebooks - len(finished))
            progress(f"kills: {made}")
    return [
        Row("kills", "kills", made, "{count}"),
        Row("kills", "finished_runs_executed_again", again, "{count}", "must be", 0.0),
        Row("kills", "interrupted_runs_repeated_per_kill", repeated / made, "1", "at most", 2.0),
        Row("kills", "lost", worst, "{count}", "must be", 0.0),
        Row("kills", "orphans_after_10_s", left, "{count}", "must be", 0.0),
    ]


def ended_within(driver: subprocess.Popen[bytes], folder: Path, dice: random.Random) -> bool:
    """Wait a random time, then kill the driver or one of its workers. True if one was killed."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        driver.wait(dice.uniform(1.0, 6.0))
        return False
    if dice.random() < 1 / 2:
        driver.kill()
        driver.wait()
        return True
    busy = workers(folder)
    if not busy:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(dice.choice(busy), signal.SIGKILL)
    return True


def wait_for_orphans(folder: Path) -> int:
    """Count what still works after ten seconds."""
    deadline = time.monotonic() + ORPHANS_AFTER_S
    while orphans(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    return orphans(folder)


def measure(quick: bool) -> list[Row]:
    """Measure all; the quick version runs few notebooks once."""
    if quick:
        return [
            *pairs(f"{QUICK_NOTEBOOKS} trivial", _TRIVIAL, QUICK_NOTEBOOKS, 1),
            *kills(2, QUICK_NOTEBOOKS),
        ]
    return [
        *pairs(f"{NOTEBOOKS} x 3 s", _WORKING, NOTEBOOKS, PAIRS),
        *pairs(f"{NOTEBOOKS} trivial", _TRIVIAL, NOTEBOOKS, PAIRS),
        *kills(KILLS, NOTEBOOKS // 2),
    ]


def main() -> int:
    """Print the figures."""
    return present("campaign", measure)


if __name__ == "__main__":
    sys.exit(main())

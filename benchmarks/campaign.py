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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.table import Row, present, progress
from sciagent.reports.notebooks import KERNEL, code_cell, written

ENGINES = ("local", "parsl")
MOMENTS_S = {"local": (1.0, 6.0), "parsl": (3.0, 10.0)}
"""Between when a campaign is killed: from its first rows to about its end."""
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
_FAULTY = """
import os, time
if how == "hang":
    time.sleep(100)
if how == "memory":
    eaten = bytearray(10**9)
if how == "crash":
    os.kill(os.getpid(), 9)
"""
_ERRORS = {"hang": "limit", "memory": "resource.memory", "crash": "resource"}
"""How a notebook ends, and the kind of error that names it."""
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
batch({spec!r}, out={folder!r}, engine={engine!r})
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


def batched(folder: Path, notebook: Path, count: int, engine: str) -> Measured:
    spec = {**spec_of(notebook, count), "campaign": engine}
    code = _BATCH.format(spec=spec, folder=str(folder), engine=engine)
    return measured(folder, code, f"{engine}/runs/*/attempt-1/result.json")


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
        memory.append(engine_mib(process.pid, folder))
    wall_s = time.time() - begin
    if process.returncode != 0:
        raise RuntimeError(f"{folder}: the driver ended with {process.returncode}.")
    first = min(path.stat().st_mtime for path in folder.glob(results))
    return Measured(wall_s, first - begin, statistics.median(memory or [0.0]))


def engine_mib(driver: int, folder: Path) -> float:
    """Memory (PSS) of the driver and its workers, without kernels and what they started.

    Parsl starts its workers through a shell that is nobody's child: they are known by the folder
    that they work in.
    """
    total = 0
    for process in below(folder, driver):
        with contextlib.suppress(psutil.Error):
            total += process.memory_full_info().pss
    return total / _MIB


def below(folder: Path, driver: int) -> list[psutil.Process]:
    """Processes that belong to a driver, or work in a folder, but for kernels."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            command = " ".join(process.cmdline())
            place = f"{process.cwd()} {command}"
            is_ours = process.pid == driver or str(folder) in place
            if is_ours and not any(word in command for word in ("kernel", "bwrap", "prlimit")):
                found.append(process)
    return found


def pairs(
    case: str, cells: tuple[str, ...], count: int, repeats: int, engines: Sequence[str] = ENGINES
) -> list[Row]:
    """Compare a loop with campaigns on the same notebooks, in turns."""
    loops: list[Measured] = []
    campaigns: dict[str, list[Measured]] = {engine: [] for engine in engines}
    for number in range(repeats):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            notebook = notebook_of(folder, cells)
            loops.append(looped(folder, notebook, count))
            for engine in engines:
                campaigns[engine].append(batched(folder, notebook, count, engine))
        walls = ", ".join(f"{engine} {each[-1].wall_s:.1f} s" for engine, each in campaigns.items())
        progress(f"{case} {number + 1}/{repeats}: loop {loops[-1].wall_s:.1f} s, {walls}")
    return [
        row
        for engine, passes in campaigns.items()
        for row in compared(case if engine == "local" else f"{engine} {case}", loops, passes)
    ]


def compared(case: str, loops: Sequence[Measured], passes: Sequence[Measured]) -> list[Row]:
    """Medians over the pairs."""
    both = list(zip(loops, passes, strict=True))
    is_parsl = case.startswith("parsl")
    speedup = statistics.median(loop.wall_s / batch.wall_s for loop, batch in both)
    least = min(loop.wall_s / batch.wall_s for loop, batch in both)
    later_s = statistics.median(batch.first_s - loop.first_s for loop, batch in both)
    memory_mib = statistics.median(batch.memory_mib for _, batch in both)
    loop_s = statistics.median(loop.wall_s for loop, _ in both)
    batch_s = statistics.median(batch.wall_s for _, batch in both)
    return [
        Row(case, "speedup", speedup, "1", "plain papermill loop", 1.0),
        Row(case, "least_speedup", least, "1", "plain papermill loop", 1.0),
        Row(case, "wall_s", batch_s, "s", "plain papermill loop", loop_s),
        Row(case, "first_result_after_loop_s", later_s, "s", "at most", 5.0 if is_parsl else 2.0),
        Row(case, "engine_memory_mib", memory_mib, "MiBy", "at most", 300.0 if is_parsl else 150.0),
    ]


def finished_rows(folder: Path) -> set[str]:
    """Rows with a result."""
    paths = folder.glob("work/runs/*/attempt-*/result.json")
    return {path.parents[1].name for path in paths}


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
            found += process.cwd().startswith(str(folder))
    return found


@dataclass
class Killed:
    """What kills came to.

    Attributes
    ----------
    made
        Kills.
    again
        Finished rows that got another attempt.
    repeated
        Attempts at rows that had been interrupted.
    left
        Processes that still worked ten seconds after their driver was killed.
    lost
        Rows without a result at the end.
    """

    made: int = 0
    again: int = 0
    repeated: int = 0
    left: int = 0
    lost: int = 0


def kills(count: int, notebooks: int, engine: str) -> list[Row]:
    """Kill a worker or the driver at random moments until `count` kills were made."""
    dice, killed = random.Random(1), Killed()
    while killed.made < count:
        with tempfile.TemporaryDirectory() as name:
            _killed_campaign(Path(name), notebooks, engine, dice, killed)
        progress(f"{engine} kills: {killed.made}")
    case = "kills" if engine == "local" else f"{engine} kills"
    per_kill = killed.repeated / killed.made
    return [
        Row(case, "kills", killed.made, "{count}"),
        Row(case, "finished_runs_executed_again", killed.again, "{count}", "must be", 0.0),
        Row(case, "interrupted_runs_repeated_per_kill", per_kill, "1", "at most", 2.0),
        Row(case, "lost", killed.lost, "{count}", "must be", 0.0),
        Row(case, "orphans_after_10_s", killed.left, "{count}", "must be", 0.0),
    ]


def _killed_campaign(
    folder: Path, notebooks: int, engine: str, dice: random.Random, killed: Killed
) -> None:
    """Start one campaign again and again, killing, until all its rows are finished."""
    notebook = notebook_of(folder, _TRIVIAL)
    code = _BATCH.format(spec=spec_of(notebook, notebooks), folder=str(folder), engine=engine)
    while len(finished_rows(folder)) < notebooks:
        driver = start(folder, code)
        was_killed = ended_within(driver, folder, dice, MOMENTS_S[engine])
        killed.made += was_killed
        if was_killed and driver.poll() is not None:
            killed.left += wait_for_orphans(folder)
        driver.wait()
        if not was_killed:
            break
    for row in folder.glob("work/runs/*"):
        attempts = sorted(row.iterdir(), key=lambda path: int(path.name.rpartition("-")[2]))
        finished = [(path / "result.json").exists() for path in attempts]
        first = finished.index(True) if True in finished else len(attempts)
        killed.again += len(attempts[first + 1 :])
        killed.repeated += len(attempts[1 : first + 1])
    killed.lost += notebooks - len(finished_rows(folder))


def ended_within(
    driver: subprocess.Popen[bytes],
    folder: Path,
    dice: random.Random,
    moments_s: tuple[float, float],
) -> bool:
    """Wait a random time, then kill the driver or one of its workers. True if one was killed."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        driver.wait(dice.uniform(*moments_s))
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


def faults() -> list[Row]:
    """Run notebooks that hang, eat memory or crash beside good ones."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        notebook = notebook_of(folder, ("how = ''", _FAULTY))
        spec: dict[str, object] = {
            "campaign": "work", "workflow": str(notebook), "parallel": WORKERS,
            "grid": {"how": [*_ERRORS, "", "fine"]},
            "limits": {"timeout_s": 8, "memory_mib": 500},
        }  # fmt: skip
        start(folder, _BATCH.format(spec=spec, folder=str(folder), engine="local")).wait()
        results = [
            json.loads(path.read_bytes()) for path in folder.glob("work/runs/*/*/result.json")
        ]
        kinds = {each["error"]["kind"] for each in results if each["error"]}
        finished = sum(each["succeeded"] for each in results)
    return [
        Row("faults", "named_errors", len(kinds & set(_ERRORS.values())), "{count}", "of", 3.0),
        Row("faults", "others_finished", finished, "{count}", "of", 2.0),
    ]


def measure(quick: bool) -> list[Row]:
    """Measure all; the quick version runs few notebooks once."""
    if quick:
        return [
            *pairs(f"{QUICK_NOTEBOOKS} trivial", _TRIVIAL, QUICK_NOTEBOOKS, 1, ("local",)),
            *kills(2, QUICK_NOTEBOOKS, "local"),
        ]
    return [
        *pairs(f"{NOTEBOOKS} x 3 s", _WORKING, NOTEBOOKS, PAIRS),
        *pairs(f"{NOTEBOOKS} trivial", _TRIVIAL, NOTEBOOKS, PAIRS),
        *(row for engine in ENGINES for row in kills(KILLS, NOTEBOOKS // 2, engine)),
        *faults(),
    ]


def main() -> int:
    """Print the figures."""
    return present("campaign", measure)


if __name__ == "__main__":
    sys.exit(main())

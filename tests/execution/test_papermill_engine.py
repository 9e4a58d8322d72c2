import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from sciagent.contracts.errors import InputError, LimitError, ResourceError
from sciagent.contracts.model import canonical_json, sha256_text
from sciagent.execution.notebook import CellError
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.execution.papermill_engine import (
    CellProgress,
    MemoryLimitError,
    run_with_papermill,
)
from sciagent.execution.papermill_entry import SciagentEngine
from sciagent.execution.process_tree import tree_of

MARKER = "papermill-error-cell-tag"
HANG = "print('so far', flush=True)\nimport time; time.sleep(60)"
ENTERED = "open('entered', 'w').close()\n"
CHILDREN = """
import subprocess, sys
code = "import time; b = b'1' * (3 * 10**8); time.sleep(30)"
both = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
print([each.wait() for each in both])
"""
REACHING = """
import socket
open('made.txt', 'w').close()
print(socket.socket().connect_ex(('127.0.0.1', 9)) != 0)
"""
CUT_OFF = ["completed", "completed", "failed", "pending", "pending"]


def notebook_of(folder: Path, *sources: str, limits: dict[str, float] | None = None) -> Path:
    cells = [new_code_cell(source, id=f"c{number}") for number, source in enumerate(sources)]
    cells[0].metadata["tags"] = ["parameters"]
    notebook = new_notebook(cells=[*cells, new_markdown_cell("End", id="end")])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "P", "language": "python"}
    if limits:
        notebook.metadata["sciagent"] = limits
    nbformat.write(notebook, folder / "source.ipynb")
    return folder / "source.ipynb"


def saved(folder: Path) -> list[Any]:
    cells = nbformat.read(folder / "out.ipynb", as_version=4).cells
    return [cell for cell in cells if MARKER not in cell.metadata.get("tags", [])]


def statuses(folder: Path) -> list[str]:
    return [cell.metadata["papermill"]["status"] for cell in saved(folder)]


def run(folder: Path, sources: Sequence[str], **options: Any) -> None:
    source = notebook_of(folder, "a = 1", *sources)
    run_with_papermill(
        source, folder / "out.ipynb", {"a": 2}, directory=folder, allow_unsandboxed=True, **options
    )


def test_papermill_finds_the_engine_by_its_name() -> None:
    (found,) = entry_points(group="papermill.engine", name="sciagent")
    assert found.load() is SciagentEngine


def test_a_notebook_that_ran_to_its_end_says_so_of_every_cell(tmp_path: Path) -> None:
    told: list[CellProgress] = []
    run(tmp_path, ["print(a)"], heard=told.append)
    assert statuses(tmp_path) == ["completed"] * 4
    assert saved(tmp_path)[2].outputs[0]["text"] == "2\n"
    assert [(each.cell, each.status) for each in told if each.status != "running"] == [
        (1, "completed"), (2, "completed"), (3, "completed"), (4, "completed"),
    ]  # fmt: skip
    metadata = nbformat.read(tmp_path / "out.ipynb", as_version=4).metadata
    assert metadata["papermill"]["exception"] is None


def test_each_cell_carries_its_provenance(tmp_path: Path) -> None:
    run(tmp_path, [REACHING])
    cell = saved(tmp_path)[2]
    told = cell.metadata["sciagent"]
    assert told["status"] == "completed"
    assert told["source_sha256"] == sha256_text(cell.source)
    assert told["started"] <= told["finished"]
    assert told["wall_s"] >= 0.0
    assert told["execution_count"] == cell.execution_count == 3
    assert told["outputs_sha256"] == sha256_text(canonical_json(cell.outputs))
    assert told["files"] == ["made.txt"]
    assert told["connections"] == ["127.0.0.1 port 9"]
    assert told["kernel"] == saved(tmp_path)[1].metadata["sciagent"]["kernel"] != ""
    assert saved(tmp_path)[1].metadata["sciagent"]["files"] == []


def test_the_hash_of_outputs_is_that_of_what_later_cells_made_of_them(tmp_path: Path) -> None:
    run(tmp_path, ["shown = display(a, display_id=True)", "shown.update('changed')"])
    cell = saved(tmp_path)[2]
    assert cell.outputs[0]["data"]["text/plain"] == "'changed'"
    told = cell.metadata["sciagent"]
    assert told["outputs_sha256"] == sha256_text(canonical_json(cell.outputs))


def test_after_an_exception_only_the_cells_that_ran_are_marked(tmp_path: Path) -> None:
    with pytest.raises(CellError, match=r"Cell 3 failed\. ZeroDivisionError"):
        run(tmp_path, ["1 / 0", "print('never')"])
    assert statuses(tmp_path) == CUT_OFF
    assert saved(tmp_path)[2].metadata["sciagent"]["status"] == "failed"


@pytest.mark.parametrize("limit", ["cell_timeout_s", "timeout_s"])
def test_after_a_time_limit_only_the_cells_that_ran_are_marked(tmp_path: Path, limit: str) -> None:
    with pytest.raises(LimitError, match="were over in cell 3"):
        run(tmp_path, [HANG, "1"], limits=NotebookLimits(**{limit: 2.5}))
    assert statuses(tmp_path) == CUT_OFF
    assert saved(tmp_path)[2].metadata["sciagent"]["status"] == "interrupted"
    assert saved(tmp_path)[2].outputs[0]["text"] == "so far\n"


def test_after_a_killed_kernel_only_the_cells_that_ran_are_marked(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="The kernel died in cell 3"):
        run(tmp_path, ["import os; os.kill(os.getpid(), 9)", "1"])
    assert statuses(tmp_path) == CUT_OFF


@pytest.mark.parametrize("source", ["a = bytearray(10**9)", CHILDREN])
def test_after_a_memory_limit_only_the_cells_that_ran_are_marked(
    tmp_path: Path, source: str
) -> None:
    with pytest.raises(MemoryLimitError, match="ore than 500 MiB"):
        run(tmp_path, [source, "1"], limits=NotebookLimits(memory_mib=500))
    assert statuses(tmp_path) == CUT_OFF


def test_after_an_interrupt_only_the_cells_that_ran_are_marked(tmp_path: Path) -> None:
    source = notebook_of(tmp_path, "a = 1", ENTERED + HANG, "1")
    code = (
        "from pathlib import Path\n"
        "from sciagent.execution.papermill_engine import run_with_papermill\n"
        f"here = Path({str(tmp_path)!r})\n"
        f"run_with_papermill(Path({str(source)!r}), here / 'out.ipynb', {{'a': 2}}, "
        "directory=here, allow_unsandboxed=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    wait_for(tmp_path / "entered")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) != 0
    assert statuses(tmp_path) == CUT_OFF


def kernels_below(process: int) -> list[int]:
    """Kernels of notebooks, as this side of the sandbox counts processes."""
    found = []
    for below in tree_of(process):
        command = Path(f"/proc/{below}/cmdline").read_bytes().split(b"\0")
        if b"sciagent.execution.tethered_kernel" in command[:5]:
            found.append(below)
    return found


def running(processes: list[int]) -> list[int]:
    return [each for each in processes if Path(f"/proc/{each}/exe").exists()]


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} was not written"
        time.sleep(0.05)


def test_an_interrupted_kernel_is_a_cell_that_failed(tmp_path: Path) -> None:
    def interrupt() -> None:
        wait_for(tmp_path / "entered")
        (kernel,) = kernels_below(os.getpid())
        os.kill(kernel, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(CellError, match="KeyboardInterrupt"):
        run(tmp_path, [ENTERED + HANG, "1"])
    thread.join()
    assert statuses(tmp_path) == CUT_OFF


def test_the_command_papermill_runs_it_with_the_limits_of_the_notebook(tmp_path: Path) -> None:
    source = notebook_of(tmp_path, "a = 1", HANG, "1", limits={"cell_timeout_s": 1})
    command = [sys.executable, "-m", "papermill", "--engine", "sciagent", "--cwd", str(tmp_path)]
    ended = subprocess.run(
        [*command, "-p", "a", "2", str(source), str(tmp_path / "out.ipynb")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode != 0
    assert "The 1 s of a cell were over in cell 3" in ended.stderr
    assert statuses(tmp_path) == CUT_OFF


def test_limits_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    source = notebook_of(tmp_path, "a = 1", limits={"timeout_s": -1})
    with pytest.raises(InputError, match="limits cannot be used"):
        run_with_papermill(source, tmp_path / "out.ipynb", {}, directory=tmp_path)


def test_a_kernel_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    source = notebook_of(tmp_path, "a = 1", ENTERED + "while True: pass")
    code = (
        "from pathlib import Path\n"
        "from sciagent.execution.papermill_engine import run_with_papermill\n"
        f"here = Path({str(tmp_path)!r})\n"
        f"run_with_papermill(Path({str(source)!r}), here / 'out.ipynb', {{}}, "
        "directory=here, allow_unsandboxed=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    wait_for(tmp_path / "entered")
    started = tree_of(process.pid)[1:]
    assert kernels_below(process.pid)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while running(started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(started) == []

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

from sciagent.contracts.events import CellRan, EventBody, KernelChanged, Noted
from sciagent.execution.code_runner import KernelCode
from sciagent.execution.record import about, executed_cells
from sciagent.execution.sandbox import SandboxLimits, sandbox_mode
from sciagent.tools.approval import ApprovalRule
from sciagent.tools.code import code
from sciagent.tools.context import ToolContext
from sciagent.workspace.journal import JournalFile
from tests.execution.conftest import MakePool
from tests.tools.calls import used

pytestmark = pytest.mark.skipif(
    not sandbox_mode().is_confined, reason=f"no sandbox here: {sandbox_mode().remedy}"
)


def told(journal: JournalFile, kind: type[EventBody]) -> list[Any]:
    return [event.body for event in journal.events() if isinstance(event.body, kind)]


def statuses(root: Path) -> list[str]:
    """Statuses of the cells in the saved notebook, which must be a valid one."""
    nbformat.validate(nbformat.read(root / "record.ipynb", as_version=4))
    return [cell["metadata"]["sciagent"]["status"] for cell in executed_cells(root)]


def kernel_process(runner: KernelCode) -> int:
    """The process of the kernel as this machine sees it."""
    return runner._session.processes()[-1]


def all_end_soon(processes: list[int]) -> bool:
    """Whether processes are gone after a moment: who inherits them must take their end note."""
    for _ in range(100):
        if not any(Path(f"/proc/{each}").exists() for each in processes):
            return True
        time.sleep(0.05)
    return False


def test_variables_stay_and_every_cell_is_recorded_with_its_output(
    root: Path, runner: KernelCode
) -> None:
    assert runner.run("x = 6").status == "ok"
    assert runner.run("print('words')\nx * 7").output == "words\n42"
    first, second = executed_cells(root)
    assert (first["source"], first["execution_count"], first["outputs"]) == ("x = 6", 1, [])
    assert [each["output_type"] for each in second["outputs"]] == ["stream", "execute_result"]
    assert statuses(root) == ["ok", "ok"]


def test_figures_become_files_and_tables_stay_in_the_record(root: Path, runner: KernelCode) -> None:
    result = runner.run(
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()\n"
        "from IPython.display import HTML\nHTML('<table><tr><td>1</td></tr></table>')"
    )
    assert result.images == ("figures/cell-0001-1.png",)
    assert (root / result.images[0]).read_bytes().startswith(b"\x89PNG")
    outputs = executed_cells(root)[0]["outputs"]
    assert "<table>" in outputs[1]["data"]["text/html"]
    assert "image/png" in outputs[0]["data"]


def test_a_cell_journals_the_files_it_touched_and_the_connections_refused(
    journal: JournalFile, runner: KernelCode
) -> None:
    runner.run("open('data/a.json', 'w').write('1')\nopen('b.txt', 'w').write('1')")
    runner.run(
        "import os, socket\nos.remove('b.txt')\nopen('data/a.json', 'w').write('22')\n"
        "try: socket.create_connection(('192.0.2.1', 80), 1)\nexcept OSError: pass"
    )
    first, second = told(journal, CellRan)
    assert first.files == ("b.txt", "data/a.json")
    assert second.files == ("data/a.json", "b.txt (removed)")
    assert first.connections == ()
    assert "192.0.2.1 port 80" in second.connections


def test_a_file_may_have_a_name_that_is_not_text(root: Path, runner: KernelCode) -> None:
    answer = runner.run("open(b'caf\\xe9', 'w').close()\nprint('made')")
    assert "made" in answer.output
    (cell,) = executed_cells(root)
    assert about(cell)["files"] == ["caf\\xe9"]


def test_output_beyond_the_bound_goes_whole_into_a_file(root: Path, runner: KernelCode) -> None:
    result = runner.run("for n in range(40_000): print('line', n)")
    assert len(result.output) < 101_000
    assert "are in data/cell-0001-output.txt" in result.output.splitlines()[-1]
    lines = (root / "data/cell-0001-output.txt").read_text().splitlines()
    assert (len(lines), lines[-1]) == (40_000, "line 39999")


def test_a_time_limit_keeps_what_was_put_out_and_the_variables(
    root: Path, journal: JournalFile, make_pool: MakePool
) -> None:
    runner = make_pool(keep_alive_s=0.2).runner("main")
    runner.run("kept = 1")
    result = runner.run("import time\nprint('begun', flush=True)\ntime.sleep(60)", timeout_s=1.5)
    assert result.status == "timeout"
    assert "begun" in result.output
    assert "ended at its limit of 1.5 s" in result.output
    assert runner.run("kept").output == "1"
    assert statuses(root) == ["ok", "timeout", "ok"]
    assert any("cell-0002 has run for" in each.text for each in told(journal, Noted))


def test_a_cell_that_ignores_the_interrupt_costs_the_kernel_and_that_is_said(
    root: Path, journal: JournalFile, runner: KernelCode
) -> None:
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    result = runner.run(stubborn, timeout_s=0.5)
    assert result.status == "timeout"
    assert "its kernel was ended" in result.output
    assert [each.change for each in told(journal, KernelChanged)] == ["started", "died", "started"]
    assert statuses(root) == ["timeout"]


def test_a_kernel_killed_in_a_cell_is_noticed_said_and_replaced(
    root: Path, journal: JournalFile, runner: KernelCode
) -> None:
    runner.run("x = 1")
    result = runner.run("print('last words', flush=True)\nimport os, time\ntime.sleep(0.3)\n"
                        "os.kill(os.getpid(), 9)")  # fmt: skip
    assert result.status == "kernel_died"
    assert "last words" in result.output
    assert runner.run("x").status == "error"
    assert statuses(root) == ["ok", "kernel_died", "error"]
    assert [each.change for each in told(journal, KernelChanged)] == ["started", "died", "started"]


def test_a_kernel_that_died_between_cells_is_not_assumed_to_know_anything(
    runner: KernelCode,
) -> None:
    runner.run("x = 1")
    os.kill(kernel_process(runner), signal.SIGKILL)
    while runner._session.is_alive:
        pass
    result = runner.run("x")
    assert result.status == "error"
    assert "The kernel had died meanwhile" in result.output
    assert "variables of earlier cells are lost" in result.output


def test_an_interrupted_cell_is_marked_so_and_the_kernel_goes_on(
    root: Path, make_pool: MakePool
) -> None:
    stop = threading.Event()
    runner = make_pool(cancelled=stop.is_set).runner("main")
    threading.Timer(1.5, stop.set).start()
    result = runner.run("x = 5\nimport time\ntime.sleep(60)")
    stop.clear()
    assert result.status == "error"
    assert "[interrupted]" in result.output
    assert runner.run("x").output == "5"
    assert statuses(root) == ["interrupted", "ok"]


def test_an_exception_is_an_error_with_its_trace(root: Path, runner: KernelCode) -> None:
    result = runner.run("def f(): return 1 / 0\nf()")
    assert result.status == "error"
    assert "ZeroDivisionError" in result.output
    assert "\x1b" not in result.output
    assert statuses(root) == ["error"]


def test_memory_of_the_whole_tree_is_limited_and_the_reason_is_named(
    root: Path, make_pool: MakePool
) -> None:
    runner = make_pool(SandboxLimits(memory_mib=400)).runner("main")
    grown = runner.run("kept = b'1' * (600 << 20)")
    assert grown.status == "error"
    assert "MemoryError" in grown.output
    children = (
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n"
        "        kept = b'1' * (150 << 20); time.sleep(20); os._exit(0)\ntime.sleep(20)"
    )
    died = runner.run(children)
    assert died.status == "kernel_died"
    assert "its limit is 400 MiB" in died.output
    assert statuses(root) == ["error", "kernel_died"]


def test_a_cell_whose_owner_is_killed_is_not_called_finished(root: Path) -> None:
    program = (
        "import os, sys, threading\nfrom pathlib import Path\n"
        "from sciagent.execution.code_runner import *\n"
        "from sciagent.execution.session import KernelSettings\n"
        "from sciagent.workspace.journal import JournalFile\n"
        "root = Path(sys.argv[1])\n"
        "journal = JournalFile.create(root / 'events.jsonl')\n"
        "settings = CodeSettings(KernelSettings(workspace=root))\n"
        "runner = KernelPool(journal, settings).runner('main')\n"
        "runner.run('1 + 1')\nthreading.Timer(2, lambda: os.kill(os.getpid(), 9)).start()\n"
        "runner.run('import time; time.sleep(60)')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(root)], timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert statuses(root) == ["ok", "unfinished"]
    assert json.loads((root / "record.ipynb").read_text())["cells"][1]["execution_count"] is None


def test_each_agent_has_a_kernel_of_its_own_and_all_share_the_record(
    root: Path, journal: JournalFile, runner: KernelCode
) -> None:
    runner.run("x = 'main'")
    other = runner.for_agent("main/1.1")
    assert other.run("x").status == "error"
    assert runner.for_agent("main/1.1") is other
    agents = [cell["metadata"]["sciagent"]["agent"] for cell in executed_cells(root)]
    assert agents == ["main", "main/1.1"]
    ran = [event.span for event in journal.events() if event.kind == "cell_ran"]
    assert ran == agents


def test_a_subagent_of_the_code_tool_does_not_see_the_variables_of_its_parent(
    root: Path, journal: JournalFile, runner: KernelCode
) -> None:
    context = ToolContext(root=root, journal=journal, code=runner, approval=ApprovalRule("auto"))
    used(code, context, code="x = 1")
    child = context.child("main/1.1")
    assert "NameError" in used(code, child, code="x").text


def test_the_code_tool_tells_that_the_real_kernel_died_and_works_again(
    root: Path, journal: JournalFile, runner: KernelCode
) -> None:
    context = ToolContext(root=root, journal=journal, code=runner, approval=ApprovalRule("auto"))
    used(code, context, code="x = 1; open('kept.txt', 'w').write('file')")
    died = used(code, context, code="import os; os.kill(os.getpid(), 9)")
    assert "The kernel died; variables are lost, files are not." in died.text
    again = used(code, context, code="print(open('kept.txt').read()); x")
    assert "file" in again.text
    assert "NameError" in again.text


def test_run_all_makes_the_state_again_and_stops_at_the_first_other_output(
    journal: JournalFile, runner: KernelCode
) -> None:
    runner.run("x = 1")
    runner.run("print(x)")
    same = runner.run_all()
    assert (same.cells, same.differs) == (("cell-0001", "cell-0002"), "")
    assert runner.run("x").output == "1"
    runner.run("import os; print(os.urandom(8))")
    runner.run("y = 2")
    other = runner.run_all()
    assert other.differs == other.cells[-1] == "cell-0004"
    assert runner.run("y").status == "error"
    assert [each.change for each in told(journal, KernelChanged)].count("recreated") == 2


def test_cells_of_an_earlier_owner_stay_in_the_record(root: Path, make_pool: MakePool) -> None:
    first = make_pool()
    first.runner("main").run("x = 1")
    first.close()
    result = make_pool().runner("main").run("x")
    assert "variables of earlier cells are lost" in result.output
    assert statuses(root) == ["ok", "error"]


def test_an_idle_kernel_is_paused_and_answers_on_its_next_use(
    journal: JournalFile, make_pool: MakePool
) -> None:
    runner = make_pool(pause_after_s=0.3).runner("main")
    runner.run("kept = list(range(1000))")
    paused = threading.Event()
    journal.observer = lambda event: (
        paused.set() if getattr(event.body, "change", "") == "paused" else None
    )
    assert paused.wait(30)
    state = Path(f"/proc/{kernel_process(runner)}/stat").read_text().rpartition(")")[2].split()[0]
    assert state == "T"
    assert runner.run("sum(kept)").output == "499500"
    changes = told(journal, KernelChanged)
    assert [each.change for each in changes][:3] == ["started", "paused", "resumed"]
    assert changes[1].resident_before_mib > 10
    assert changes[1].resident_after_mib > 0
    assert ("no swap" in changes[1].detail) == (
        len(Path("/proc/swaps").read_text().splitlines()) == 1
    )


def test_a_paused_kernel_ends_with_its_owner(make_pool: MakePool) -> None:
    pool = make_pool()
    runner = pool.runner("main")
    runner.run("1")
    runner.pause()
    processes = runner._session.processes()
    assert len(processes) > 1
    pool.close()
    assert all_end_soon(processes)

"""Kernels whose variables are saved, and read back by another kernel."""

from pathlib import Path

import pytest

from sciagent.contracts.events import KernelChanged, Noted
from sciagent.execution.code_runner import KernelCode
from sciagent.execution.sandbox import sandbox_mode
from sciagent.workspace.journal import JournalFile
from tests.execution.test_code_runner import all_end_soon, told

pytestmark = pytest.mark.skipif(
    not sandbox_mode().is_confined, reason=f"no sandbox here: {sandbox_mode().remedy}"
)

_STATE = """
import random, collections
import numpy as np, numpy.linalg as algebra
x = np.arange(6.0).reshape(2, 3)
same = x
class Atom:
    def __init__(self, z): self.z = z
    def heavier(self, other): return self.z > other.z
atoms = [Atom(9), Atom(20)]
first = atoms[0]
def scaled(a, k=3): return k * a + offset
offset = 1
square = lambda value: value ** 2
counts = collections.Counter("aab")
random.seed(4); np.random.seed(4)
%cd -q figures
"""


def test_an_offloaded_kernel_is_gone_and_its_next_use_brings_its_variables_back(
    runner: KernelCode, journal: JournalFile
) -> None:
    assert runner.run(_STATE).status == "ok"
    processes = runner._session.processes()
    runner.offload()
    assert all_end_soon(processes)
    result = runner.run(
        "x[0, 0] = 7; print(same[0, 0], first is atoms[0], atoms[1].heavier(first), scaled(2),"
        " square(3), counts['a'], algebra.norm([3, 4]), random.random(), np.random.rand())\n"
        "import os; print(os.path.basename(os.getcwd()), get_ipython().execution_count)"
    )
    said, values, place = result.output.splitlines()
    assert said.startswith("The kernel was offloaded meanwhile: ")
    assert values == "7.0 True True 7 9 2 5.0 0.23604808973743452 0.9670298390136767"
    assert place == "figures 3"
    changes = [each.change for each in told(journal, KernelChanged)]
    assert changes == ["started", "saved", "ended", "started", "restored"]


def test_what_cannot_be_saved_is_named_as_lost_and_the_rest_is_kept(
    runner: KernelCode, root: Path
) -> None:
    runner.run("kept = [1, 2]; numbers = (i for i in range(3)); log = open('figures/log', 'w')")
    runner.offload()
    assert not list(root.rglob("*.dill"))
    result = runner.run("print(kept); numbers")
    assert "log (an open file), numbers (generator: cannot pickle" in result.output
    assert "[1, 2]" in result.output
    assert result.status == "error"


def test_an_open_file_in_a_container_is_lost_and_not_emptied(
    runner: KernelCode, root: Path
) -> None:
    runner.run(
        "import numpy as np, threading\na = np.zeros(3); held = {'a': a}\n"
        "d = {'log': open('figures/log', 'w')}; d['log'].write('kept'); d['log'].flush()\n"
        "lock = threading.Lock(); n = [1]; both = (n, n); g = (i for i in n)"
    )
    runner.offload()
    result = runner.run("a[:] = 9; print(held['a'][0], both[0] is both[1])")
    assert "d (dict: cannot pickle TextIOWrapper), g (generator: cannot pickle" in result.output
    assert "lock (lock: cannot pickle lock)" in result.output
    assert result.output.endswith("9.0 True")
    assert (root / "figures" / "log").read_text() == "kept"


def test_a_list_of_variables_that_leads_out_of_the_sandbox_is_not_read(
    runner: KernelCode, root: Path, tmp_path: Path, journal: JournalFile
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret of the host")
    runner.run(
        "x = 1\nimport sciagent.execution.saved_state as state, os\n"
        "def save(names, folder, count=0):\n"
        f"    os.symlink({str(secret)!r}, folder + '/manifest.json')\n"
        "state.save = save"
    )
    runner.offload()
    assert "the secret" not in (root / "events.jsonl").read_text()
    assert any("were not saved" in each.text for each in told(journal, Noted))


def test_a_snapshot_that_was_damaged_is_replaced_by_executing_the_cells_again(
    runner: KernelCode,
) -> None:
    runner.run("x = 1")
    runner.offload()
    assert runner._snapshot is not None
    (runner._snapshot.folder / "saved" / "objects.dill").write_bytes(b"no")
    result = runner.run("x")
    assert result.output.splitlines() == [
        "The state of the kernel was made again: 1 cell executed again.", "1",
    ]  # fmt: skip

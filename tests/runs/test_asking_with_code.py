"""An agent that runs code of its own, in the sandbox that a run gives it."""

import json
from pathlib import Path

import pytest

import sciagent
from sciagent.contracts.events import CellRan, KernelChanged, MessageAdded
from sciagent.execution.record import executed_cells
from sciagent.execution.sandbox import sandbox_mode
from sciagent.runs import Surroundings, ask
from sciagent.testing.model_server import ModelServer, calling, in_turn, saying
from tests.runs.asking import bodies, settings

pytestmark = pytest.mark.skipif(
    not sandbox_mode().is_confined, reason=f"no sandbox here: {sandbox_mode().remedy}"
)

CELLS = (
    'import pathlib\nopen(\'data/x.json\', \'w\').write(\'{"x": {"value": 2.5, "unit": "eV"}}\')',
    "print(len(list(pathlib.Path('data').iterdir())))",
    "import os; os.kill(os.getpid(), 9)",
    "pathlib",
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run whose agent ran cells, one of which cost the kernel."""
    turns = [calling("code", code=cell) for cell in CELLS]
    folder = tmp_path_factory.mktemp("coded")
    given = folder / "given.csv"
    given.write_text("1,2\n")
    with ModelServer(in_turn(*turns, saying("The value is in data/x.json."))) as server:
        around = Surroundings(readable=(given,))
        run = ask(
            settings(server), inputs={"table": given}, out=folder / "runs", surroundings=around
        )
    return run.path


def test_cells_of_an_agent_run_in_a_sandbox_and_stand_in_the_sealed_record(finished: Path) -> None:
    cells = executed_cells(finished)
    assert [cell["source"] for cell in cells] == list(CELLS)
    status = [cell["metadata"]["sciagent"]["status"] for cell in cells]
    assert status == ["ok", "ok", "kernel_died", "error"]
    assert [each.status for each in bodies(finished, CellRan)] == status
    assert bodies(finished, CellRan)[0].files == ("data/x.json",)
    assert sciagent.verify(finished).ok


def test_the_environment_says_how_the_code_was_confined(finished: Path) -> None:
    environment = json.loads((finished / "environment.json").read_text())
    assert environment["sandbox"].startswith("code of agents: bubblewrap: no network")
    assert "unsandboxed" not in environment["sandbox"]
    assert "code of agents: bubblewrap" in (finished / "report.html").read_text()


def test_the_kernels_of_a_run_end_before_it_is_sealed(finished: Path) -> None:
    changes = [each.change for each in bodies(finished, KernelChanged)]
    assert changes == ["started", "died", "started", "ended"]


def test_the_agent_is_told_that_its_kernel_died(finished: Path) -> None:
    heard = [body.message.content for body in bodies(finished, MessageAdded)]
    assert sum("The kernel died; variables are lost, files are not." in each for each in heard) == 1
    assert sum("NameError" in each for each in heard) == 1

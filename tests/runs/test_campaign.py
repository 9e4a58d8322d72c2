import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from sciagent.contracts.errors import ErrorRecord, InputError
from sciagent.execution.ledger import AttemptResult, Ledger
from sciagent.runs import open_run, verify
from sciagent.runs.campaign import Campaign, batch, plan
from sciagent.runs.campaign_progress import campaign_progress
from sciagent.workspace.seal import is_sealed

BOWLS: dict[str, Any] = {
    "campaign": "Bowls",
    "question": "toy/parabola",
    "grid": {"lowest_x_um": [1.0, 2.0]},
}


PARSL = pytest.param("parsl", marks=pytest.mark.slow)


@pytest.fixture(params=["local", PARSL])
def engine(request: pytest.FixtureRequest) -> str:
    """Every test of the ledger holds for both engines."""
    if request.param == "parsl":
        pytest.importorskip("parsl", reason="the extra [cluster] is not installed")
    return str(request.param)


def squares(workflow: Path, **more: Any) -> dict[str, Any]:
    return {"campaign": "squares", "workflow": str(workflow), "grid": {"x": [2, 3]}, **more}


def statuses(campaign: Campaign) -> list[str]:
    return [state.status for _, state in campaign.progress.rows]


def kinds(campaign: Campaign) -> list[str]:
    results = [state.result for _, state in campaign.progress.rows]
    return [each.error.kind if each and each.error else "" for each in results]


def begun(tmp_path: Path) -> list[str]:
    logs = tmp_path.rglob("files/log")
    return [line for log in logs for line in log.read_text().splitlines()]


def table(campaign: Campaign) -> list[dict[str, str]]:
    with (campaign.path / "table.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_each_row_of_a_question_is_a_verified_workspace(tmp_path: Path) -> None:
    campaign = batch(BOWLS, out=tmp_path / "out")
    assert campaign.path == tmp_path / "out" / "bowls"
    assert statuses(campaign) == ["finished", "finished"]
    rows = table(campaign)
    assert [row["x (µm)"] for row in rows] == ["1.0", "2.0"]
    for row in rows:
        root = campaign.path / row["workspace"]
        assert verify(root).ok
        assert open_run(root).request.settings["lowest_x_um"] == float(row["lowest_x_um"])
    assert (campaign.path / "figures" / "comparison.png").read_bytes().startswith(b"\x89PNG")
    assert "](#claim-count.finished) finished" in (campaign.path / "report.md").read_text()
    assert verify(campaign.path).ok


def test_each_row_of_a_workflow_is_a_sealed_workspace(tmp_path: Path, workflow: Path) -> None:
    campaign = batch(squares(workflow), out=tmp_path)
    rows = table(campaign)
    assert [row["square (µm²)"] for row in rows] == ["4.0", "9.0"]
    for row in rows:
        root = campaign.path / row["workspace"]
        assert is_sealed(root)
        assert open_run(root).summary.status == "completed"
        assert (root / "record.ipynb").is_file()
        assert (root / "ro-crate-metadata.json").is_file()


def test_what_is_finished_is_not_run_again(tmp_path: Path, workflow: Path, engine: Any) -> None:
    batch(squares(workflow), out=tmp_path, engine=engine)
    more = squares(workflow, grid={"x": [2, 3, 4]})
    campaign = batch(more, out=tmp_path, engine=engine)
    assert statuses(campaign) == ["finished"] * 3
    assert sorted(begun(tmp_path)) == ["2 begins", "3 begins", "4 begins"]


def test_bad_rows_end_with_their_own_error_while_the_others_finish(
    tmp_path: Path, workflow: Path, engine: Any
) -> None:
    spec = squares(
        workflow, grid={"how": ["raise", "kill", "hang", "memory", "", "fine"]},
        limits={"timeout_s": 6, "memory_mib": 500},
    )  # fmt: skip
    campaign = batch(spec, out=tmp_path, engine=engine)
    assert kinds(campaign) == ["input.cell", "resource", "limit", "resource.memory", "", ""]
    assert statuses(campaign) == ["failed"] * 4 + ["finished"] * 2
    report = (campaign.path / "report.md").read_text()
    assert "## Failed rows" in report
    assert "Allow more memory" in report


def test_failed_rows_are_run_again_alone_when_asked(tmp_path: Path, workflow: Path) -> None:
    missing = tmp_path / "missing"
    cells = nbformat.read(workflow, as_version=4)
    cells.cells[1].source += "\nif x == 3: open(missing).read()"
    nbformat.write(cells, workflow)
    spec = squares(workflow, parameters={"missing": str(missing)})
    assert kinds(batch(spec, out=tmp_path)) == ["", "input.cell"]
    assert statuses(batch(spec, out=tmp_path)) == ["finished", "failed"]
    assert begun(tmp_path).count("3 begins") == 1
    missing.write_text("here")
    assert statuses(batch(spec, out=tmp_path, failed=True)) == ["finished"] * 2
    assert begun(tmp_path).count("2 begins") == 1


@pytest.mark.parametrize(
    ("kind", "status"),
    [("random", "finished"), ("endpoint", "finished"), ("input", "failed"), ("limit", "failed")],
)
def test_only_errors_that_may_pass_are_tried_again(
    tmp_path: Path, workflow: Path, kind: str, status: str
) -> None:
    spec = squares(workflow, grid={"x": [2]})
    planned = plan(spec, out=tmp_path)
    row = planned.rows[0]
    with Ledger(planned.path).claim(row.id) as attempt:
        failed = AttemptResult(
            row=row.id, attempt=1, token=attempt.token, status="failed", succeeded=False,
            error=ErrorRecord(kind=kind, message="It failed."), started="", finished="", wall_s=1,
        )  # fmt: skip
        attempt.finish(failed)
    (planned.path / "campaign.json").write_text('{"spec": %s, "rows": []}' % (  # noqa: UP031
        planned.spec.model_dump_json()
    ))  # fmt: skip
    assert statuses(batch(spec, out=tmp_path)) == [status]


def wait_for(condition: Callable[[], bool], limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)


def driver(tmp_path: Path, spec: dict[str, Any], engine: str) -> "subprocess.Popen[bytes]":
    given = f"{spec!r}, out={str(tmp_path)!r}, engine={engine!r}"
    code = f"from sciagent.runs.campaign import batch; batch({given})"
    return subprocess.Popen([sys.executable, "-c", code])


def row_statuses(campaign: Path) -> list[str]:
    return [state.status for _, state in campaign_progress(campaign).rows]


def working_below(folder: Path) -> list[int]:
    """Processes that work below a folder or name it: kernels, workers and Parsl's own."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                names = str(folder).encode() in (process / "cmdline").read_bytes()
                if names or (process / "cwd").readlink().is_relative_to(folder):
                    found.append(int(process.name))
            except OSError:
                continue
    return found


def test_after_the_driver_was_killed_only_what_ran_is_repeated(
    tmp_path: Path, workflow: Path, engine: Any
) -> None:
    spec = squares(workflow, grid={"x": [1, 2, 3]}, parallel=1, parameters={"sleep_s": 1.0})
    process = driver(tmp_path, spec, engine)
    wait_for(lambda: len(begun(tmp_path)) == 2)
    process.kill()
    process.wait()
    wait_for(lambda: not working_below(tmp_path / "squares"), 10)
    # A killed process is there for some moments after it has let go of its files.
    wait_for(lambda: "running" not in row_statuses(tmp_path / "squares"), 10)
    progress = campaign_progress(tmp_path / "squares")
    first, second, third = row_statuses(tmp_path / "squares")
    # Parsl's worker ends some seconds after the driver and may finish its row in them.
    assert (first, third) == ("finished", "waiting")
    assert second in ({"interrupted"} if engine == "local" else {"interrupted", "finished"})
    assert progress.left_s is not None
    campaign = batch(spec, out=tmp_path, engine=engine)
    assert statuses(campaign) == ["finished"] * 3
    repeated = ["2 begins"] if second == "interrupted" else []
    assert sorted(begun(tmp_path)) == sorted(["1 begins", "2 begins", "3 begins", *repeated])


def test_after_a_worker_was_killed_only_its_row_is_repeated(
    tmp_path: Path, workflow: Path, engine: Any
) -> None:
    spec = squares(workflow, grid={"x": [1, 2, 3]}, parameters={"sleep_s": 1.0})
    process = driver(tmp_path, spec, engine)
    wait_for(lambda: len(begun(tmp_path)) >= 2)
    claims = sorted((tmp_path / "squares" / "runs").glob("*/attempt-1/claim.json"))
    worker = int(claims[0].read_text().split('"process": ')[1].split(",")[0])
    os.kill(worker, signal.SIGKILL)
    assert process.wait(90) == 0
    progress = campaign_progress(tmp_path / "squares")
    assert [state.status for _, state in progress.rows] == ["finished"] * 3
    assert sorted(state.attempts for _, state in progress.rows) == [1, 1, 2]


def test_after_an_interrupt_the_rows_that_run_come_to_their_end(
    tmp_path: Path, workflow: Path, engine: Any
) -> None:
    spec = squares(workflow, grid={"x": [1, 2, 3]}, parallel=1, parameters={"sleep_s": 1.0})
    process = driver(tmp_path, spec, engine)
    wait_for(lambda: bool(begun(tmp_path)))
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    progress = campaign_progress(tmp_path / "squares")
    assert [state.status for _, state in progress.rows] == ["finished", "waiting", "waiting"]
    assert "[2](#claim-count.waiting) waiting" in (tmp_path / "squares" / "report.md").read_text()


def test_a_plan_writes_nothing(tmp_path: Path, workflow: Path) -> None:
    planned = plan(squares(workflow), out=tmp_path / "out")
    assert [row.parameters for row in planned.rows] == [{"x": 2}, {"x": 3}]
    assert not (tmp_path / "out").exists()


def test_rows_can_be_chosen_by_number(tmp_path: Path, workflow: Path) -> None:
    campaign = batch(squares(workflow), out=tmp_path, only=[2])
    assert statuses(campaign) == ["waiting", "finished"]
    with pytest.raises(InputError, match="no row '7'"):
        batch(squares(workflow), out=tmp_path, only=[7])


def test_a_table_and_a_folder_of_files_give_rows(tmp_path: Path) -> None:
    (tmp_path / "starts").mkdir()
    (tmp_path / "starts" / "a.txt").write_text("1 1")
    (tmp_path / "starts" / "b.txt").write_text("2 2")
    (tmp_path / "rows.csv").write_text("lowest_x_um,hopeless\n1.5,false\n2,true\n")
    (tmp_path / "spec.yaml").write_text(
        "campaign: starts\nquestion: toy/parabola\ncsv: rows.csv\n"
        "files: {parameter: start, folder: starts, match: '*.txt'}\n"
    )
    planned = plan(tmp_path / "spec.yaml", out=tmp_path / "out")
    assert [row.shown for row in planned.rows] == [
        {"start": "a.txt", "lowest_x_um": 1.5, "hopeless": False},
        {"start": "b.txt", "lowest_x_um": 1.5, "hopeless": False},
        {"start": "a.txt", "lowest_x_um": 2, "hopeless": True},
        {"start": "b.txt", "lowest_x_um": 2, "hopeless": True},
    ]
    campaign = batch(tmp_path / "spec.yaml", out=tmp_path / "out", only=[2, 3])
    results = [state.result for _, state in campaign.progress.rows]
    assert [each.status if each else "" for each in results] == ["", "completed", "abstained", ""]


def test_files_are_given_to_a_workflow_as_copies_in_its_workspace(
    tmp_path: Path, workflow: Path
) -> None:
    notebook = nbformat.read(workflow, as_version=4)
    notebook.cells[0].source += "\nlengths = ''"
    notebook.cells[1].source += "\nx = float(open(lengths).read())"
    nbformat.write(notebook, workflow)
    (tmp_path / "a.txt").write_text("1.5")
    spec = squares(workflow, grid={"lengths": [str(tmp_path / "a.txt")]}, paths=["lengths"])
    campaign = batch(spec, out=tmp_path)
    (row,) = table(campaign)
    assert row["square (µm²)"] == "2.25"
    assert (campaign.path / row["workspace"] / "data" / "lengths" / "a.txt").is_file()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({**BOWLS, "question": None}, "either `workflow` or `question`"),
        ({**BOWLS, "grids": {}}, "grids"),
        ({**BOWLS, "grid": {"lowest": [1]}}, "lowest_x_um"),
        ({**BOWLS, "question": "toy/parabole"}, "toy/parabola"),
        ({**BOWLS, "grid": {"lowest_x_um": [1, 1]}}, "the same as row 1"),
        ({**BOWLS, "files": {"parameter": "start", "folder": "nowhere"}}, "no folder"),
        ({**BOWLS, "csv": "nowhere.csv"}, "nowhere.csv"),
        ({**BOWLS, "grid": {"start": ["nowhere.txt"]}}, "names no file"),
        ({"campaign": "w", "workflow": "nowhere.ipynb"}, "no notebook"),
        ({**BOWLS, "limits": {"timeout_s": -1}}, "timeout_s"),
    ],
)
def test_a_campaign_that_cannot_be_run_is_refused_before_anything_is_written(
    tmp_path: Path, spec: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        batch(spec, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_another_campaign_is_left_alone(tmp_path: Path, workflow: Path) -> None:
    batch({**BOWLS, "grid": {}}, out=tmp_path)
    with pytest.raises(InputError, match="campaign of toy/parabola"):
        batch(squares(workflow, campaign="bowls"), out=tmp_path)
    (tmp_path / "squares").mkdir()
    (tmp_path / "squares" / "mine.txt").write_text("kept")
    with pytest.raises(InputError, match="not that of a campaign"):
        batch(squares(workflow), out=tmp_path)


def test_an_engine_that_is_not_known_is_refused(tmp_path: Path, workflow: Path) -> None:
    unknown: Any = "slurm"
    with pytest.raises(InputError, match="no engine 'slurm'"):
        batch(squares(workflow), out=tmp_path, engine=unknown)
    with pytest.raises(InputError, match="for the engine `parsl`"):
        batch(squares(workflow), out=tmp_path, cluster="slurm.py")

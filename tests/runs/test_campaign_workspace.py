"""The folder of a campaign as a workspace: claims, seal, segments, rows that go on."""

import subprocess
import sys
from pathlib import Path

import nbformat

from sciagent.contracts.events import OwnerStarted, TrialDecided
from sciagent.execution.ledger import Ledger
from sciagent.runs import open_run, verify
from sciagent.runs.campaign import batch, plan
from sciagent.runs.campaign_rows import CampaignFile, task_of
from tests.runs.test_campaign import BOWLS, squares, statuses, table


def test_a_changed_digit_of_the_table_or_of_a_row_is_named(tmp_path: Path, workflow: Path) -> None:
    campaign = batch(squares(workflow), out=tmp_path)
    assert verify(campaign.path, rerun=True).ok
    events = (campaign.path / "events.jsonl").read_text()
    batch(squares(workflow), out=tmp_path)
    assert (campaign.path / "events.jsonl").read_text() == events
    (result, *_) = sorted(campaign.path.glob("runs/*/attempt-1/result.json"))
    result.write_text(result.read_text().replace("completed", "failed"))
    checked = verify(campaign.path)
    assert [(each.path, each.problem) for each in checked.findings] == [
        (result.relative_to(campaign.path).as_posix(), "changed")
    ]
    table = campaign.path / "table.csv"
    table.write_text(table.read_text().replace("4.0", "4.1"))
    checked = verify(campaign.path)
    assert "table.csv" in [each.path for each in checked.findings]
    assert "row.0001" in [each.claim for each in checked.verdicts if each.verdict == "mismatch"]


def test_more_rows_continue_the_sealed_folder_of_a_campaign(tmp_path: Path, workflow: Path) -> None:
    batch(squares(workflow), out=tmp_path)
    more = batch(squares(workflow, grid={"x": [2, 3, 5]}), out=tmp_path)
    assert verify(more.path).ok
    kinds = [event.kind for event in open_run(more.path).events()]
    assert kinds.count("sealed") == 2
    assert kinds.count("segment_opened") == 1


def test_names_of_parameters_may_be_those_of_columns(tmp_path: Path, workflow: Path) -> None:
    notebook = nbformat.read(workflow, as_version=4)
    notebook.cells[0].source += "\nstatus = 0"
    nbformat.write(notebook, workflow)
    campaign = batch(squares(workflow, parameters={"status": 7}), out=tmp_path)
    assert verify(campaign.path).ok
    assert [(row["status"], row["status 2"]) for row in table(campaign)] == [("finished", "7")] * 2


def test_one_failed_row_of_several_is_run_again_when_it_is_named(
    tmp_path: Path, workflow: Path
) -> None:
    spec = squares(workflow, grid={"how": ["raise"], "x": [1, 2]})
    batch(spec, out=tmp_path)
    again = batch(spec, out=tmp_path, failed=True, only=[2])
    attempts = [len(Ledger(again.path).attempts(row.id)) for row in again.rows]
    assert attempts == [1, 2]


def test_an_interrupted_row_of_a_question_goes_on_where_it_was(tmp_path: Path) -> None:
    spec = {**BOWLS, "grid": {"lowest_x_um": [1.0]}}
    campaign = plan(spec, out=tmp_path)
    campaign.path.mkdir()
    content = CampaignFile(spec=campaign.spec, rows=campaign.rows)
    (campaign.path / "campaign.json").write_text(content.model_dump_json())
    task = task_of(campaign.spec, campaign.rows[0], campaign.path)
    script = (
        "import os, sys\n"
        "from sciagent.execution.attempts import AttemptTask\n"
        "from sciagent.execution.ledger import Ledger\n"
        "from sciagent.runs import run\n"
        f"task = AttemptTask.model_validate_json({task.model_dump_json()!r})\n"
        "attempt = Ledger(__import__('pathlib').Path(task.campaign)).claim(task.row)\n"
        "def watch(event):\n"
        "    if event.kind == 'trial_decided': os.kill(os.getpid(), 9)\n"
        "run(task.source, settings=task.parameters, out=attempt.directory, observer=watch)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    done = batch(spec, out=tmp_path)
    assert statuses(done) == ["finished"]
    (result,) = Ledger(done.path).results(done.rows[0].id)
    run = open_run(done.path / "runs" / result.row / "attempt-2" / result.workspace)
    bodies = [event.body for event in run.events()]
    numbers = [body.trial for body in bodies if isinstance(body, TrialDecided)]
    assert len(numbers) == len(set(numbers)) > 1
    assert sum(isinstance(body, OwnerStarted) for body in bodies) == 2

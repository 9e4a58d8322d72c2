"""A run from its question to a sealed workspace with a verified report."""

import json
from pathlib import Path

import pytest

import sciagent
from sciagent.contracts.errors import InputError, UnknownNameError, WorkspaceError
from sciagent.contracts.study import Batch, Budget, Finish
from sciagent.contracts.tree import StudyView
from sciagent.runs import compare, export, invalidate, list_runs, stop
from sciagent.testing.toy import Bowl, Walker
from sciagent.workspace.lock import OwnerLock
from sciagent.workspace.seal import check_seal


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the toy question; only to be read."""
    return sciagent.run("toy/parabola", out=tmp_path_factory.mktemp("out")).path


def test_a_run_leaves_every_file_of_the_workspace_and_is_sealed(finished: Path) -> None:
    names = {path.name for path in finished.iterdir()}
    assert names >= {
        "report.md", "report.html", "claims.json", "verification.json", "study.json",
        "events.jsonl", "notebook.ipynb", "record.ipynb", "trials", "figures",
        "environment.json", "ro-crate-metadata.json",
    }  # fmt: skip
    assert check_seal(finished) == []


def test_verify_with_rerun_reproduces_every_number_statement_and_figure(finished: Path) -> None:
    verification = sciagent.verify(finished, rerun=True)
    assert verification.ok
    assert verification.reproduced == verification.claims == 6
    assert sciagent.open_run(finished).verification == verification


def test_a_single_claim_can_be_run_again_alone(finished: Path) -> None:
    verification = sciagent.verify(finished, rerun=True, claim="lowest.height")
    assert [(v.claim, v.verdict) for v in verification.verdicts] == [
        ("lowest.height", "reproduced")
    ]


def test_every_file_of_a_workspace_states_its_schema_version(finished: Path) -> None:
    for name in ("study.json", "claims.json", "verification.json", "environment.json"):
        assert json.loads((finished / name).read_text())["schema_version"] == 1


def test_the_notebook_of_a_run_also_runs_under_plain_papermill(
    finished: Path, tmp_path: Path
) -> None:
    import papermill

    executed = tmp_path / "executed.ipynb"
    papermill.execute_notebook(
        finished / "notebook.ipynb",
        executed,
        parameters={"workspace": str(finished), "output": str(tmp_path / "replay")},
        kernel_name="python3",
        progress_bar=False,
    )
    assert "equal" in executed.read_text()
    assert "DIFFERS" not in executed.read_text()


def test_two_runs_of_the_same_question_and_seed_claim_the_same(
    finished: Path, tmp_path: Path
) -> None:
    again = sciagent.run("toy/parabola", out=tmp_path)
    rows = compare(finished, again.path).rows
    assert rows
    assert all(row.equal for row in rows)


def test_comparing_different_runs_names_what_differs(finished: Path, tmp_path: Path) -> None:
    other = sciagent.run("toy/parabola", out=tmp_path, settings={"lowest_x_um": 5.0})
    different = {row.name for row in compare(finished, other.path).rows if not row.equal}
    assert "lowest_x_um" in different
    assert any(name.startswith("lowest.x") for name in different)


def test_an_exported_run_is_a_zip_with_the_crate_and_every_sealed_file(
    finished: Path, tmp_path: Path
) -> None:
    import zipfile

    archive = export(finished, tmp_path / "run.zip")
    names = set(zipfile.ZipFile(archive).namelist())
    assert f"{finished.name}/ro-crate-metadata.json" in names
    zipfile.ZipFile(archive).extractall(tmp_path / "unpacked")
    assert sciagent.verify(tmp_path / "unpacked" / finished.name).ok
    with pytest.raises(InputError, match="exists already"):
        export(finished, archive)


def test_a_budget_that_ends_early_still_gives_a_report_of_the_best_so_far(tmp_path: Path) -> None:
    run = sciagent.run("toy/parabola", out=tmp_path, budget=Budget(trials=4))
    assert run.result.status == "limit"
    assert run.result.trials == 4
    assert run.result.objective.value is not None
    assert sciagent.verify(run.path).ok


def test_a_run_that_abstains_leaves_a_verified_report_that_says_why(tmp_path: Path) -> None:
    run = sciagent.run("toy/parabola", out=tmp_path, settings={"hopeless": True})
    assert run.result.status == "abstained"
    assert "There is no bowl here." in run.report.read_text()
    assert sciagent.verify(run.path).ok


def test_a_finished_run_goes_on_with_a_new_budget_in_a_new_segment(tmp_path: Path) -> None:
    run = sciagent.run("toy/parabola", out=tmp_path, budget=Budget(trials=4))
    sealed = [event.hash for event in run.events() if event.kind == "sealed"]
    again = sciagent.resume(run.path, budget=Budget(trials=100))
    assert again.result.status == "completed"
    assert again.result.objective.value == 0.0
    kinds = [event.kind for event in again.events()]
    assert kinds.count("sealed") == 2
    assert kinds[kinds.index("sealed") + 1] == "segment_opened"
    assert sealed[0] in {event.hash for event in again.events()}
    assert sciagent.verify(again.path).ok


def test_resuming_a_finished_run_changes_nothing(finished: Path) -> None:
    before = (finished / "events.jsonl").read_bytes()
    assert sciagent.resume(finished).result.status == "completed"
    assert (finished / "events.jsonl").read_bytes() == before


def test_a_stopped_run_resumes_to_the_same_claims(finished: Path, tmp_path: Path) -> None:
    class StopsAfterFive(Walker):
        def propose(self, view: StudyView):  # type: ignore[no-untyped-def] # noqa: ANN202
            if len(view.trials) == 5:
                stop(view.directory, author="tester")
            return super().propose(view)

    run = sciagent.run("toy/parabola", out=tmp_path, policy=StopsAfterFive)  # type: ignore[arg-type]
    assert run.result.status == "stopped"
    resumed = sciagent.resume(run.path, policy=Walker)  # type: ignore[arg-type]
    assert resumed.result.status == "completed"
    claims = [row for row in compare(finished, resumed.path).rows if row.group == "claim"]
    assert claims
    assert all(row.equal for row in claims)


def test_a_person_can_propose_in_place_of_the_built_in_policy(tmp_path: Path) -> None:
    class Person:
        def __init__(self, bowl: Bowl) -> None:
            self.walker = Walker(bowl)

        def propose(self, view: StudyView) -> Batch | Finish:
            if len(view.trials) == 2:
                return Finish(reason="I have seen enough.")
            answer = self.walker.propose(view)
            assert isinstance(answer, Batch)
            return answer

    run = sciagent.run("toy/parabola", out=tmp_path, policy=Person)  # type: ignore[arg-type]
    assert run.request.policy == "human"
    assert "I have seen enough." in run.result.reason


def test_a_second_writer_is_refused_and_told_who_owns_the_run(tmp_path: Path) -> None:
    run = sciagent.run("toy/parabola", out=tmp_path, budget=Budget(trials=2))
    with OwnerLock(run.layout), pytest.raises(WorkspaceError, match="in use by") as refused:
        sciagent.resume(run.path, budget=Budget(trials=3))
    assert "process" in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"name": "toy/parabole"}, UnknownNameError, "Did you mean 'toy/parabola'"),
        ({"name": "toy/parabola", "dataset": "fluorapatit"}, UnknownNameError, "'fluorapatite'"),
        ({"name": "toy/parabola", "dataset": "fluorapatite"}, InputError, "is made for"),
        ({"name": "toy/parabola", "settings": {"step": 1}}, UnknownNameError, "'step_um'"),
        ({"name": "toy/parabola", "settings": {"step_um": -1}}, InputError, "'step_um'"),
        ({"name": "toy/parabola", "inputs": {"start": "nowhere"}}, InputError, "does not exist"),
        ({"name": "toy/parabola", "inputs": {"begin": "x"}}, UnknownNameError, "Known: start"),
        ({"name": "toy/parabola", "parallel": 0}, InputError, "1 or more"),
        ({"name": "toy/parabola", "policy": "bultin"}, UnknownNameError, "'builtin'"),
    ],
)
def test_bad_input_is_named_and_leaves_no_workspace(
    tmp_path: Path, arguments: dict, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sciagent.run(**arguments, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_the_domain_cannot_read_leaves_no_workspace(tmp_path: Path) -> None:
    bad = tmp_path / "start.txt"
    bad.write_text("here or there")
    with pytest.raises(InputError, match="is not two numbers"):
        sciagent.run("toy/parabola", inputs={"start": bad}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_runs_are_listed_newest_first_and_other_folders_are_passed_over(tmp_path: Path) -> None:
    first = sciagent.run("toy/parabola", out=tmp_path, budget=Budget(trials=1))
    second = sciagent.run("toy/parabola", out=tmp_path, budget=Budget(trials=1))
    (tmp_path / "notes").mkdir()
    assert [row.run for row in list_runs(tmp_path)] == [second.name, first.name]


def test_an_invalidated_trial_takes_its_descendants_with_it_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    run = sciagent.run("toy/parabola", out=tmp_path)
    before = run.best
    assert before is not None
    invalidate(run.path, 3, reason="The start was read wrongly.")
    again = sciagent.resume(run.path)
    trials = {trial.number: trial for trial in again.study.trials}
    assert trials[3].invalidated == "The start was read wrongly."
    assert "descends from trial 3" in (trials[before.number].invalidated or "")
    assert again.best is not None
    assert again.best.number not in {3, before.number}
    assert again.result.objective.value == 0.0
    assert sciagent.verify(again.path, rerun=True).ok

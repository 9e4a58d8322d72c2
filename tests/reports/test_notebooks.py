import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

import sciagent
from sciagent.contracts.claim import ClaimsFile
from sciagent.domains import registry
from sciagent.execution.notebook import run_notebook
from sciagent.reports.assemble import read_claims
from sciagent.reports.notebooks import (
    foreign_code,
    record_notebook,
    replay_call,
    replay_notebook,
    trials_to_replay,
    written,
)
from sciagent.testing.toy_reports import QUESTION, PretendedRun, checked
from sciagent.workspace.record import load_studies

PLUGINS = Path(__file__).resolve().parents[1] / "plugins"
BEST = PretendedRun(Path()).best


@pytest.fixture(scope="module")
def claims(pristine: Path) -> ClaimsFile:
    return read_claims(pristine)


def test_both_notebooks_are_valid_and_the_same_whenever_they_are_written(
    pristine: Path, claims: ClaimsFile
) -> None:
    studies = load_studies(pristine)
    for make, name in ((replay_notebook, "notebook.ipynb"), (record_notebook, "record.ipynb")):
        notebook = make(QUESTION, claims, studies)
        nbformat.validate(nbformat.from_dict(notebook))
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        ids = [cell["id"] for cell in notebook["cells"]]
        assert len(set(ids)) == len(ids)
        assert written(notebook) == (pristine / name).read_text()
        assert written(nbformat.reads((pristine / name).read_text(), as_version=4)) == written(
            notebook
        )


def test_the_replay_holds_the_accepted_path_and_every_cited_trial_in_order(
    pristine: Path, claims: ClaimsFile
) -> None:
    studies = load_studies(pristine)
    trials = trials_to_replay(claims, studies)
    accepted = [trial.number for trial in studies[0].trials if trial.accepted]
    assert [trial.number for trial in trials] == accepted
    cells = replay_notebook(QUESTION, claims, studies)["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code[0]["metadata"]["tags"] == ["parameters"]
    assert code[0]["source"] == 'workspace = "."\noutput = "replay"'
    assert code[2]["source"] == replay_call(trials[0])
    assert code[-1]["source"] == "replay.compare()"
    assert len(code) == len(accepted) + 3


def test_a_cited_trial_that_was_rejected_is_replayed_with_what_it_starts_from(
    pristine: Path, claims: ClaimsFile
) -> None:
    number = claims.claims[1]
    assert number.kind == "number"
    cited = number.model_copy(
        update={"produced_by": number.produced_by.model_copy(update={"trial": 8})}
    )
    study = load_studies(pristine)[0].model_copy(update={"best": 1, "head": 1})
    changed = claims.model_copy(update={"claims": (cited,)})
    assert [trial.number for trial in trials_to_replay(changed, (study,))] == [1, 5, 8]


def test_the_replay_holds_no_foreign_code(pristine: Path, claims: ClaimsFile) -> None:
    assert foreign_code(replay_notebook(QUESTION, claims, load_studies(pristine))) == ""


def test_hostile_names_and_arguments_stay_values_in_the_code(tmp_path: Path) -> None:
    texts = {"action": "x')\nimport os\n('", "rationale": "<img src=x> ![x](y)"}
    run = PretendedRun(tmp_path / "run", texts=texts)
    notebook = replay_notebook(QUESTION, run.make(), load_studies(run.root))
    assert foreign_code(notebook) == ""
    assert "import os" in notebook["cells"][4]["source"]
    assert r"\<img" in notebook["cells"][3]["source"]


def test_the_record_holds_every_trial_that_ran_and_says_who_ran_it(
    pristine: Path, claims: ClaimsFile
) -> None:
    studies = load_studies(pristine)
    notebook = record_notebook(QUESTION, claims, studies)
    assert notebook["metadata"]["sciagent"]["executed_by"] == "worker processes"
    assert "was not executed by a kernel" in notebook["cells"][0]["source"]
    cells = [cell for cell in notebook["cells"] if "sciagent" in cell["metadata"]]
    assert [cell["metadata"]["sciagent"]["trial"] for cell in cells] == list(range(1, BEST + 1))
    assert all(cell["execution_count"] is None for cell in cells)
    failed = [cell for cell in cells if cell["metadata"]["sciagent"]["status"] == "failed"]
    assert {cell["outputs"][1]["ename"] for cell in failed} == {"convergence"}
    assert "r_wp = 83.123 %" in cells[0]["outputs"][0]["text"]


@pytest.fixture
def toy_field(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the toy field for this process and those it starts."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("PYTHONPATH", str(PLUGINS))
    registry.domains.cache_clear()
    yield
    registry.domains.cache_clear()


def test_both_notebooks_of_a_real_run_compute_it_again_in_a_clean_kernel(
    toy_field: None, tmp_path: Path
) -> None:
    run = sciagent.run("toy/parabola", out=tmp_path / "artifacts")
    for name, output in (("notebook.ipynb", "replay"), ("record.ipynb", "replay-all")):
        copy = Path(shutil.copytree(run.path, tmp_path / name))
        ended = run_notebook(
            copy / name, tmp_path / f"executed-{name}", {}, timeout_s=100, directory=copy
        )
        assert ended.status == "completed"
        for outcome in (copy / output / "trials").glob("*/outcome.json"):
            then = json.loads((copy / "trials" / outcome.parent.name / "outcome.json").read_text())
            assert json.loads(outcome.read_text())["metrics"] == then["metrics"]
    executed = nbformat.read(tmp_path / "executed-notebook.ipynb", as_version=4)
    assert "DIFFERS" not in executed.cells[-1].outputs[0]["data"]["text/plain"]


def test_a_real_run_is_reproduced_by_its_notebook(toy_field: None, tmp_path: Path) -> None:
    run = sciagent.run("toy/parabola", out=tmp_path)
    verification = sciagent.verify(run.path, rerun=True)
    assert verification.ok
    assert verification.reproduced == verification.claims
    assert checked(Path(run.path)).ok

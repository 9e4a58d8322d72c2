"""A notebook run as a run of its own: recorded, verified, and run again."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.events import EffectStarted, Noted
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.execution.workflow import recorded_limits
from sciagent.runs import open_run, resume, run_notebook, verify
from sciagent.workspace.layout import Layout
from sciagent.workspace.seal import is_sealed
from tests.runs.asking import bodies

WORK = """
import json
found = {'square': {'value': x * x + 0.5, 'unit': 'eV', 'uncertainty': 0.1}}
if table:
    found['characters'] = len(open(table).read())
json.dump(found, open('results.json', 'w'))
"""


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    cells = [new_code_cell("x = 2\ntable: str = ''"), new_code_cell(WORK)]
    cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(new_notebook(cells=cells), tmp_path / "square.ipynb")
    return tmp_path / "square.ipynb"


def test_a_run_of_a_notebook_is_sealed_verified_and_reproduced(
    tmp_path: Path, notebook: Path
) -> None:
    table = tmp_path / "table.csv"
    table.write_text("1,2\n")
    run = run_notebook(notebook, parameters={"x": 3}, inputs={"table": table}, out=tmp_path / "out")
    assert run.summary.status == "completed"
    assert run.claims is not None
    values = {claim.id: getattr(claim, "value", None) for claim in run.claims.claims}
    assert values == {"result.square": 9.5, "result.characters": 4.0}
    checked = verify(run.path, rerun=True)
    assert checked.ok
    assert checked.reproduced == 2
    environment = json.loads((run.path / "environment.json").read_text())
    assert environment["sandbox"].split(":")[0] in {"bubblewrap", "unsandboxed"}
    assert environment["sandbox"] in (run.path / "report.html").read_text()


def test_a_changed_digit_of_a_result_is_named(tmp_path: Path, notebook: Path) -> None:
    run = run_notebook(notebook, out=tmp_path / "out")
    results = run.path / "results.json"
    results.write_text(results.read_text().replace("4.5", "4.6"))
    checked = verify(run.path)
    assert not checked.ok
    assert [each.verdict for each in checked.verdicts] == ["mismatch"]
    assert [(each.path, each.problem) for each in checked.findings] == [("results.json", "changed")]


def test_a_notebook_that_fails_leaves_a_verified_report_of_the_failure(
    tmp_path: Path, notebook: Path
) -> None:
    run = run_notebook(notebook, parameters={"x": "three"}, out=tmp_path / "out")
    assert run.summary.status == "failed"
    assert verify(run.path).ok
    report = (run.path / "report.md").read_text()
    assert "input.cell" in report
    assert "TypeError" in report


@pytest.mark.parametrize(
    ("given", "error"),
    [({"y": 3}, UnknownNameError), ({"inputs": "table"}, InputError), ({"path": "no"}, InputError)],
)
def test_what_a_notebook_cannot_use_is_refused_before_anything_is_made(
    tmp_path: Path, notebook: Path, given: dict[str, object], error: type[Exception]
) -> None:
    missing = {"table": tmp_path / "missing"} if "inputs" in given else {}
    path = tmp_path / "no.ipynb" if "path" in given else notebook
    parameters = {"y": 3} if "y" in given else {}
    with pytest.raises(error):
        run_notebook(path, parameters=parameters, inputs=missing, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_interrupted_notebook_is_run_again_from_its_beginning(
    tmp_path: Path, notebook: Path
) -> None:
    def interrupt(event: object) -> None:
        if isinstance(getattr(event, "body", None), Noted):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_notebook(notebook, parameters={"x": 5}, out=tmp_path / "out", observer=interrupt)
    (path,) = (tmp_path / "out").iterdir()
    assert not is_sealed(path)
    assert open_run(path).summary.status == "stopped"
    run = resume(path)
    assert run.summary.status == "completed"
    assert len(bodies(run, EffectStarted)) == 2
    assert any("from its beginning" in each.text for each in bodies(run, Noted))
    assert verify(run.path).ok


def written_notebook(folder: Path, work: str) -> Path:
    cells = [new_code_cell("note = ''"), new_code_cell(work)]
    cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(new_notebook(cells=cells), folder / "work.ipynb")
    return folder / "work.ipynb"


def test_names_that_differ_in_case_alone_and_braces_in_a_parameter_are_reported(
    tmp_path: Path,
) -> None:
    work = "import json\njson.dump({'R wp': 1.5, 'r_wp': 2.5}, open('results.json', 'w'))"
    notebook = written_notebook(tmp_path, work)
    run = run_notebook(notebook, parameters={"note": "```{{{claim:no}}"}, out=tmp_path / "out")
    assert run.claims is not None
    assert [each.id for each in run.claims.claims] == ["result.r_wp", "result.r_wp_1"]
    assert verify(run.path).ok


def test_the_numbers_of_a_run_that_the_notebook_made_are_claims_whatever_lies_beside_it(
    tmp_path: Path,
) -> None:
    pytest.importorskip("rietx", reason="the extra [diffraction] is not installed")
    work = (
        "from pathlib import Path\n"
        "from sciagent import runs\n"
        "from sciagent.contracts.study import Budget\n"
        "for name in ('.tool/1', 'other'):\n"
        "    Path(name).mkdir(parents=True)\n"
        "    Path(name, 'events.jsonl').write_text('{\"record\": \"run\"}\\n')\n"
        "Path('drawn 1.svg').write_text('<svg/>')\n"
        "runs.run('powder_diffraction/refine', dataset='sc2au6', budget=Budget(trials=1))\n"
    )
    run = run_notebook(written_notebook(tmp_path, work), out=tmp_path / "out")
    assert run.claims is not None
    assert "result.r_wp" in {each.id for each in run.claims.claims}
    assert verify(run.path).ok
    report = (run.path / "report.md").read_text()
    assert report.count("made a run of its own") == 1
    assert "by its own verification that run is in order" in report
    assert "(files/drawn%201.svg)" in report


def test_a_notebook_is_run_again_within_the_bounds_that_it_had(
    tmp_path: Path, notebook: Path
) -> None:
    limits = NotebookLimits(timeout_s=100.0, memory_mib=3000.0)
    run = run_notebook(notebook, out=tmp_path / "out", limits=limits)
    assert recorded_limits(Layout(run.path)) == limits

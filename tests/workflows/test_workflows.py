import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from sciagent.domains.registry import question
from sciagent.literature.library.adding import add
from sciagent.literature.library.library import Library
from sciagent.runs import list_runs, run
from sciagent.testing.model_server import (
    ModelServer,
    Policy,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    saying,
)

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / "workflows").glob("*.ipynb"))
LITERATURE = [path for path in WORKFLOWS if path.stem.startswith("literature__")]
STUDIES = [path for path in WORKFLOWS if path not in LITERATURE]
REFINE = ROOT / "workflows" / "powder_diffraction__refine.ipynb"


def code_of(path: Path) -> list[str]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def parameters_of(path: Path) -> set[str]:
    (cell,) = (
        cell
        for cell in nbformat.read(path, as_version=4).cells
        if "parameters" in cell.metadata.get("tags", [])
    )
    targets = [
        node.targets[0] for node in ast.parse(cell.source).body if isinstance(node, ast.Assign)
    ]
    return {ast.unparse(target) for target in targets}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_parameters_and_calls(path: Path) -> None:
    nodes = [node for source in code_of(path) for node in ast.walk(ast.parse(source))]
    forbidden = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assert not [node for node in nodes if isinstance(node, forbidden)]
    assert all(cell.get("outputs", []) == [] for cell in nbformat.read(path, as_version=4).cells)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_input_of_the_question_is_a_parameter_of_its_workflow(path: Path) -> None:
    asked = question(path.stem.replace("__", "/"))
    inputs = {each.name for each in asked.inputs}
    assert inputs | {"dataset", "settings", "seed", "out"} <= parameters_of(path)


@pytest.mark.parametrize("engine", [[], ["--engine", "sciagent"]], ids=["plain", "sciagent"])
def test_the_refinement_runs_under_papermill(tmp_path: Path, engine: list[str]) -> None:
    pytest.importorskip("rietx", reason="the extra [diffraction] is not installed")
    command = [sys.executable, "-m", "papermill", *engine, "--cwd", str(tmp_path), str(REFINE)]
    given = ["-p", "budget_trials", "1", "-p", "dataset", "sc2au6"]
    ended = subprocess.run(
        [*command, str(tmp_path / "out.ipynb"), *given], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    (made,) = list_runs(tmp_path / "artifacts")
    assert (made.dataset, made.trials, made.sealed) == ("sc2au6", 1, True)


def under_papermill(
    notebook: str, folder: Path, library: Path, given: list[str]
) -> subprocess.CompletedProcess[str]:
    path = ROOT / "workflows" / f"{notebook}.ipynb"
    command = [sys.executable, "-m", "papermill", "--cwd", str(folder), str(path)]
    environment = {**os.environ, "SCIAGENT_LIBRARY": str(library)}
    return subprocess.run(
        [*command, str(folder / "out.ipynb"), *given], env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "note.md").write_text(
        "# Melting of iron\n\nIron melts at 1538 °C under normal pressure, as many have measured."
    )
    place = tmp_path / "own.sqlite"
    assert [each.outcome for each in add(Library(place), [tmp_path / "note.md"])] == ["added"]
    return place


def test_evidence_is_gathered_under_papermill(tmp_path: Path, library: Path) -> None:
    given = ["-p", "query", "melting of iron"]
    ended = under_papermill("literature__evidence", tmp_path, library, given)
    assert ended.returncode == 0, ended.stderr
    (made,) = list_runs(tmp_path / "artifacts")
    assert (made.status, made.sealed) == ("completed", True)


def test_a_survey_is_made_under_papermill(tmp_path: Path, library: Path) -> None:
    url = (tmp_path / "note.md").resolve().as_uri()
    with ModelServer(one_facet_survey(url)) as server:
        given = ["-p", "base_url", server.endpoint.base_url, "-p", "question", "Where iron melts?"]
        ended = under_papermill("literature__survey", tmp_path, library, given)
    assert ended.returncode == 0, ended.stderr
    (made,) = list_runs(tmp_path / "artifacts")
    assert (made.status, made.sealed) == ("completed", True)


def one_facet_survey(url: str) -> Policy:
    """Play the agents of a survey that reads one note."""
    said = "Iron melts at 1538 °C under normal pressure"
    finding = {"subject": "Iron", "statement": f"{said}.", "url": url, "quote": said}
    answers = {
        "You plan": {
            "title": "Melting",
            "facets": [{"id": "iron", "name": "Iron", "question": "Where does it melt?"}],
            "chapters": [{"title": "Iron", "facets": ["iron"]}],
        },
        "You look for evidence": {"findings": [finding]},
        "You read all findings": {"summary": "Known: {{claim:iron.1}}"},
        "You write one chapter": {"source": "It is so: {{claim:iron.1}}"},
    }

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if request.system.startswith("You look") and not request.results("visit"):
            return calling("visit", url=url)
        found = next(each for start, each in answers.items() if request.system.startswith(start))
        return saying(json.dumps(found))

    return policy


def test_the_notebook_of_a_run_is_carried_out_by_the_engine(tmp_path: Path) -> None:
    made = run("toy/parabola", out=tmp_path / "artifacts")
    command = [sys.executable, "-m", "papermill", "--engine", "sciagent", "--cwd", str(tmp_path)]
    given = ["-p", "workspace", str(made.path), "-p", "output", str(tmp_path / "replayed")]
    output = tmp_path / "out.ipynb"
    ended = subprocess.run(
        [*command, str(made.path / "notebook.ipynb"), str(output), *given],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    cells = nbformat.read(output, as_version=4).cells
    assert {cell.metadata["papermill"]["status"] for cell in cells} == {"completed"}
    assert (tmp_path / "replayed").is_dir()

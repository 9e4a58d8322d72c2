import ast
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from sciagent.domains.registry import question
from sciagent.runs import list_runs, run

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / "workflows").glob("*.ipynb"))
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


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
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

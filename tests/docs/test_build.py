"""The documentation builds without a warning, and its notebooks run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sciagent.execution.notebook import run_notebook
from tests.cli.terminal import environment
from tests.docs.pages import DOCS, ROOT

NOTEBOOKS = [pytest.param(path, id=path.stem) for path in (ROOT / "notebooks").glob("*.ipynb")]


def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html",
         "-D", "nb_execution_mode=off", "-d", str(tmp_path / "trees"), str(DOCS),
         str(tmp_path / "html")],
        cwd=ROOT, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "Your first verified run" in (tmp_path / "html" / "index.html").read_text("utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None), cell["id"]
            compile("".join(cell["source"]), str(path), "exec")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_runs_to_its_end(path: Path, tmp_path: Path) -> None:
    executed = tmp_path / path.name
    run = run_notebook(path, executed, {}, timeout_s=600.0, directory=tmp_path)
    assert run.status == "completed"
    assert run.completed == run.cells

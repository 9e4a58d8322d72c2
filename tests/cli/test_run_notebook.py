"""``sciagent run NOTEBOOK.ipynb`` at the terminal."""

import json

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests.cli.terminal import Terminal
from tests.cli.test_running import runs_in

WORK = "import json\njson.dump({'double': 2 * x}, open('results.json', 'w'))"


def write_notebook(terminal: Terminal) -> None:
    cells = [new_code_cell("x = 2"), new_code_cell(WORK)]
    cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(new_notebook(cells=cells), terminal.folder / "double.ipynb")


def test_a_notebook_is_run_with_its_parameters_and_its_cells_are_told(terminal: Terminal) -> None:
    write_notebook(terminal)
    done = terminal.type("run", "double.ipynb", "--set", "x=4", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert told["results"]["double"]["value"] == 8.0
    assert done.stderr.splitlines()[-1].endswith("completed.")
    (run,) = runs_in(terminal)
    assert told["run"] == f"artifacts/{run.name}"
    verified = terminal.type("verify", told["run"])
    assert verified.returncode == 0


def test_a_parameter_that_the_notebook_does_not_have_is_bad_input(terminal: Terminal) -> None:
    write_notebook(terminal)
    done = terminal.type("run", "double.ipynb", "--set", "y=4")
    assert done.returncode == 2
    assert "There is no parameter 'y'." in done.stderr
    assert runs_in(terminal) == []

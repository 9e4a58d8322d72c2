"""``sciagent run NOTEBOOK.ipynb`` at the terminal."""

import json

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests.cli.terminal import Terminal
from tests.cli.test_running import runs_in

WORK = "import json\njson.dump({'double': 2 * x}, open('results.json', 'w'))"


ODD_NAME = "import os\nopen(os.fsencode('caf') + bytes([0xE9]), 'w').close()"


def write_notebook(terminal: Terminal, name: str = "double.ipynb", *more: str) -> None:
    cells = [new_code_cell(source) for source in ("x = 2", WORK, *more)]
    cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(new_notebook(cells=cells), terminal.folder / name)


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


def test_options_that_a_notebook_does_not_take_are_refused(terminal: Terminal) -> None:
    write_notebook(terminal)
    done = terminal.type("run", "double.ipynb", "--seed", "3")
    assert done.returncode == 2
    assert "A notebook takes no --seed." in done.stderr
    assert runs_in(terminal) == []


def test_braces_in_the_name_of_a_notebook_mean_nothing(terminal: Terminal) -> None:
    write_notebook(terminal, "a{x}{}.ipynb")
    done = terminal.type("run", "a{x}{}.ipynb", "--set", "x=4", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"]["double"]["value"] == 8.0


def test_a_file_whose_name_is_not_text_gets_one_that_is(terminal: Terminal) -> None:
    write_notebook(terminal, "double.ipynb", ODD_NAME)
    done = terminal.type("run", "double.ipynb", "--json")
    assert done.returncode == 0, done.stderr
    (run,) = runs_in(terminal)
    assert (run / "files" / "caf\\xe9").is_file()
    assert "The name files/caf\\\\xe9 is not UTF-8" in (run / "events.jsonl").read_text()
    assert terminal.type("verify", str(run)).returncode == 0

import re
import shlex
import subprocess
import sys

import pytest
import typer

import sciagent
from sciagent.cli.application import application
from tests.cli.commands import Documented, documented_commands
from tests.cli.terminal import ROOT, Terminal, environment

HEAVY = ("numpy", "scipy", "pandas", "matplotlib", "rietx", "nbclient", "rocrate")


def loaded_by(*arguments: str) -> set[str]:
    """Top-level packages that are in memory after a command has ended."""
    program = (
        "import sys\nfrom sciagent.cli import main\n"
        f"try:\n    main({list(arguments)!r})\nexcept SystemExit:\n    pass\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return set(finished.stderr.split())


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["run", "--help"], []])
def test_help_and_version_load_no_heavy_library(arguments: list[str]) -> None:
    assert loaded_by(*arguments) & set(HEAVY) == set()


def test_importing_the_command_line_loads_not_even_typer() -> None:
    program = "import sys, sciagent.cli; print('typer' in sys.modules, 'rich' in sys.modules)"
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert finished.stdout.split() == ["False", "False"]


def test_the_version_is_that_of_the_package(terminal: Terminal) -> None:
    finished = terminal.type("--version")
    assert (finished.returncode, finished.stdout) == (0, f"sciagent {sciagent.__version__}\n")


def test_no_command_at_all_shows_what_there_is(terminal: Terminal) -> None:
    finished = terminal.type()
    assert finished.returncode == 0
    for command in documented_commands():
        assert command.words[0] in finished.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["run"],
        ["run", "toy/parabola", "--polcy", "builtin"],
        ["run", "toy/parabola", "--policy", "oracle"],
        ["run", "toy/parabola", "--parallel", "0"],
        ["run", "toy/parabola", "--budget-trials", "many"],
        ["show", "RUN", "--trial", "0"],
        ["data"],
    ],
)
def test_a_command_that_is_written_wrongly_exits_with_two_and_prints_nothing_to_stdout(
    terminal: Terminal, arguments: list[str]
) -> None:
    finished = terminal.type(*arguments)
    assert finished.returncode == 2
    assert finished.stdout == "" or arguments == ["data"]
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize("command", documented_commands(), ids=lambda each: each.name)
def test_every_command_has_help_with_examples_that_can_be_typed(command: Documented) -> None:
    assert command.examples, f"{command.name} has no examples"
    for example in command.examples:
        words = shlex.split(example)
        assert words[0] == "sciagent"
        assert words[1 : 1 + len(command.words)] == list(command.words), example
        command.parse(words[1 + len(command.words) :])


def test_examples_of_the_whole_are_examples_of_its_commands() -> None:
    known = {command.words[0] for command in documented_commands()}
    lines = re.findall(r"^\s+sciagent (\w+)", str(application.info.epilog), re.MULTILINE)
    assert lines
    assert set(lines) <= known


def test_help_shows_the_examples_line_by_line(terminal: Terminal) -> None:
    shown = terminal.type("verify", "--help").stdout
    assert re.search(r"^\s*sciagent verify \S+ --rerun\s*$", shown, re.MULTILINE)


def test_the_shells_get_a_completion_script(terminal: Terminal) -> None:
    terminal.variables["_SCIAGENT_COMPLETE"] = "source_bash"
    finished = terminal.type_apart()
    assert finished.returncode == 0
    assert "_SCIAGENT_COMPLETE=complete_bash" in finished.stdout


def completed(terminal: Terminal, line: str) -> list[str]:
    terminal.variables |= {
        "_SCIAGENT_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    return terminal.type_apart().stdout.split()


def test_questions_are_completed_from_the_registry(terminal: Terminal) -> None:
    assert completed(terminal, "sciagent run to") == ["toy/parabola"]


def test_datasets_are_completed_from_their_folder(terminal: Terminal) -> None:
    assert completed(terminal, "sciagent data fetch fluor") == ["fluorapatite"]
    assert completed(terminal, "sciagent run toy/parabola --dataset sc2") == ["sc2au6"]


def test_runs_are_completed_by_name_and_by_path(terminal: Terminal) -> None:
    run = terminal.folder / "artifacts" / "20260101-toy-1a2b3c"
    run.mkdir(parents=True)
    (run / "events.jsonl").touch()
    assert completed(terminal, "sciagent show 2026") == [run.name]
    assert completed(terminal, "sciagent show artifacts/2") == [f"artifacts/{run.name}"]


def test_the_application_is_a_typer_application() -> None:
    assert isinstance(application, typer.Typer)

import json
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

RESULT_KEYS = {
    "run", "status", "reason", "objective", "trials", "accepted", "rejected", "metrics",
}  # fmt: skip
SLOW = (
    "run", "toy/parabola", "--set", "sleep_s=0.3", "--set", "smallest_step_um=1", "--json",
)  # fmt: skip


def runs_in(terminal: Terminal) -> list[Path]:
    return sorted(path.parent for path in terminal.folder.glob("artifacts/*/events.jsonl"))


def wait_for(process: "subprocess.Popen[str]", words: str) -> None:
    """Read what a process says until it says this."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    pytest.fail(f"ended without saying {words!r}")


def test_a_run_prints_one_json_object_and_says_all_else_on_stderr(terminal: Terminal) -> None:
    done = terminal.type_apart("run", "toy/parabola", "--json")
    result = json.loads(done.stdout)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert set(result) == RESULT_KEYS
    assert result["status"] == "completed"
    assert result["objective"] == {"name": "height", "value": pytest.approx(0.0), "unit": "um"}
    assert result["trials"] >= result["accepted"] + result["rejected"] > 0
    assert (terminal.folder / result["run"] / "report.html").is_file()
    assert done.stderr.startswith("trial 1 accepted: start: height 17 µm")
    assert " rejected: leap" in done.stderr


def test_a_quiet_run_says_nothing_on_stderr(terminal: Terminal) -> None:
    done = terminal.type("run", "toy/parabola", "--quiet", "--budget-trials", "2")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_says_what_it_came_to_and_how_to_check_it(terminal: Terminal) -> None:
    done = terminal.type("run", "toy/parabola", "--quiet", "--seed", "3", "--parallel", "2")
    (run,) = runs_in(terminal)
    assert done.stdout.startswith("completed: ")
    assert "height: 0 µm" in done.stdout
    assert f"sciagent verify artifacts/{run.name} --rerun" in done.stdout


def test_settings_and_inputs_reach_the_question(terminal: Terminal) -> None:
    (terminal.folder / "start.txt").write_text("5 -2")
    done = terminal.type(
        "run", "toy/parabola", "--input", "start=start.txt", "--set", "lowest_x_um=6", "--out",
        "runs", "--json", "--quiet",
    )  # fmt: skip
    assert json.loads(done.stdout)["metrics"]["x"]["value"] == pytest.approx(6.0)
    assert json.loads(done.stdout)["run"].startswith("runs/")


@pytest.mark.parametrize(
    ("options", "code", "status"),
    [
        (["--set", "hopeless=true"], 0, "abstained"),
        (["--budget-trials", "3"], 0, "limit"),
        (["--budget-trials", "1", "--set", "fail_every=1"], 3, "limit"),
        (["--set", "fail_every=1"], 1, "failed"),
    ],
)
def test_the_exit_code_tells_how_a_run_ended(
    terminal: Terminal, options: Sequence[str], code: int, status: str
) -> None:
    done = terminal.type("run", "toy/parabola", "--json", "--quiet", *options)
    assert (done.returncode, json.loads(done.stdout)["status"]) == (code, status)


@pytest.mark.parametrize(
    ("arguments", "sentence", "remedy"),
    [
        (["toy/parabole"], "no question 'toy/parabole'", "Did you mean 'toy/parabola'?"),
        (
            ["toy/parabola", "--dataset", "fluorapatit"],
            "no dataset 'fluorapatit'",
            "Did you mean 'fluorapatite'?",
        ),
        (
            ["toy/parabola", "--set", "stepum=1"],
            "no setting 'stepum'",
            "Did you mean 'step_um'?",
        ),
        (["toy/parabola", "--set", "step_um=big"], "'step_um' cannot be 'big'", "First step."),
        (["toy/parabola", "--set", "step_um=-1"], "'step_um' cannot be -1", "First step."),
        (["toy/parabola", "--set", "step_um"], "'step_um' is not KEY=VALUE", "--set"),
        (["toy/parabola", "--input", "strat=a"], "no input 'strat'", "Did you mean 'start'?"),
        (["toy/parabola", "--input", "start=gone.txt"], "'gone.txt'", "does not exist"),
        (["toy/parabola", "--input", "start=empty.txt"], "'empty.txt'", "is empty"),
        (["toy/parabola", "--input", "start=words.txt"], "not two numbers", "Write x and y"),
        (["toy/parabola", "--dataset", "fluorapatite"], "is made for", "data list"),
        (["toy/parabola", "--out", "words.txt/runs"], "no workspace can be made", "words.txt"),
    ],
)
def test_bad_input_is_one_sentence_with_a_remedy_and_leaves_nothing_behind(
    terminal: Terminal, arguments: list[str], sentence: str, remedy: str
) -> None:
    (terminal.folder / "empty.txt").touch()
    (terminal.folder / "words.txt").write_text("here, there")
    done = terminal.type("run", *arguments, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert sentence in done.stderr
    assert remedy in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert not (terminal.folder / "artifacts").exists()


def test_ctrl_c_stops_cleanly_and_the_run_is_resumed_to_its_end(terminal: Terminal) -> None:
    with terminal.begin(*SLOW) as process:
        wait_for(process, "trial 2")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    (run,) = runs_in(terminal)
    assert (process.returncode, out) == (130, "")
    assert f"sciagent resume artifacts/{run.name}" in err
    assert "Traceback" not in err
    done = terminal.type("resume", f"artifacts/{run.name}", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "completed"
    assert "trial 1 accepted" not in done.stderr


def test_a_run_is_stopped_from_another_terminal(terminal: Terminal) -> None:
    with terminal.begin(*SLOW) as process:
        wait_for(process, "trial 1 ")
        (run,) = runs_in(terminal)
        shown = terminal.type("show", run.name, "--json")
        asked = terminal.type("stop", run.name)
        out, err = process.communicate(timeout=60)
    assert json.loads(shown.stdout)["summary"]["status"] == "running"
    assert asked.returncode == 0
    assert process.returncode == 130
    assert json.loads(out)["status"] == "stopped"
    assert "sciagent resume" in err


def test_a_second_writer_is_refused_and_told_who_the_owner_is(terminal: Terminal) -> None:
    with terminal.begin(*SLOW) as process:
        wait_for(process, "trial 1 ")
        (run,) = runs_in(terminal)
        second = terminal.type("resume", run.name, "--json")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert (second.returncode, second.stdout) == (2, "")
    assert str(process.pid) in second.stderr


def test_a_person_proposes_through_piped_answers(terminal: Terminal) -> None:
    answers = (
        "start\nTo begin.\n"
        "east\nstep_um=1\n\nDown the slope.\n"
        "leap\nWhy not?\n"
        "back 1\nsouth\nstep_um=2\n\nAnother way.\n"
        "finish\nFar enough.\n"
    )
    options = ("--policy", "human", "--json")
    done = terminal.type("run", "toy/parabola", *options, answers=answers)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["trials"], result["accepted"], result["rejected"]) == (4, 3, 1)
    assert result["objective"]["value"] == pytest.approx(9.0)
    shown = terminal.type("show", result["run"], "--trial", "4").stdout
    assert shown.startswith("trial 4, from trial 1: south step_um=2")
    assert "rationale: Another way." in shown


def test_when_the_answers_end_the_run_stops_and_goes_on_with_more_answers(
    terminal: Terminal,
) -> None:
    options = ("--policy", "human", "--json")
    done = terminal.type("run", "toy/parabola", *options, answers="start\nTo begin.\n")
    (run,) = runs_in(terminal)
    assert (done.returncode, done.stdout) == (130, "")
    assert f"sciagent resume artifacts/{run.name}" in done.stderr
    more = terminal.type("resume", run.name, "--json", answers="finish\nEnough.\n")
    assert more.returncode == 0, more.stderr
    assert json.loads(more.stdout)["trials"] == 1


def test_a_finished_run_goes_on_with_a_new_budget_only(terminal: Terminal) -> None:
    first = terminal.type("run", "toy/parabola", "--budget-trials", "3", "--json", "--quiet")
    run = json.loads(first.stdout)["run"]
    again = terminal.type("resume", run, "--json", "--quiet")
    assert json.loads(again.stdout)["trials"] == json.loads(first.stdout)["trials"]
    more = terminal.type("resume", run, "--budget-trials", "200", "--json", "--quiet")
    assert json.loads(more.stdout)["status"] == "completed"
    assert json.loads(more.stdout)["objective"]["value"] == pytest.approx(0.0)

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from sciagent.datasets import list_datasets
from sciagent.domains.registry import questions
from sciagent.runs import open_run
from tests.cli.commands import documented_commands
from tests.cli.terminal import Terminal

VERIFY_KEYS = [
    "run", "claims", "reproduced", "matched", "mismatch", "unresolved", "unsupported", "quoted",
    "not_found", "retracted", "inference", "not_machine_checked", "ok",
]  # fmt: skip
Finished = tuple[Terminal, str]


def copied(finished: Finished, folder: Path) -> Path:
    """A copy of the finished run that may be damaged."""
    terminal, run = finished
    return Path(shutil.copytree(terminal.folder / run, folder / Path(run).name))


def test_verifying_prints_the_counts_as_one_json_object(finished: Finished) -> None:
    terminal, run = finished
    done = terminal.type("verify", run, "--json")
    counts = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(counts) == VERIFY_KEYS
    assert counts["ok"] is True
    assert counts["claims"] == counts["reproduced"] + counts["matched"] > 0


def test_running_again_reproduces_the_numbers(finished: Finished, tmp_path: Path) -> None:
    terminal, _ = finished
    done = terminal.type("verify", str(copied(finished, tmp_path)), "--rerun", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["reproduced"] > 0


def test_verdicts_are_listed_for_people(finished: Finished) -> None:
    terminal, run = finished
    done = terminal.type("verify", run)
    assert "lowest.height" in done.stdout
    assert done.stdout.rstrip().endswith(": ok")


def test_one_claim_can_be_verified_alone(finished: Finished) -> None:
    terminal, run = finished
    done = terminal.type("verify", run, "--claim", "lowest.x")
    assert "lowest.x" in done.stdout
    assert "lowest.y" not in done.stdout


def test_an_unknown_claim_is_bad_input(finished: Finished) -> None:
    terminal, run = finished
    done = terminal.type("verify", run, "--claim", "lowest.xx")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'lowest.x'?" in done.stderr


def test_a_changed_file_is_named_and_verifying_fails(finished: Finished, tmp_path: Path) -> None:
    terminal, _ = finished
    run = copied(finished, tmp_path)
    outcome = run / "trials" / "0001" / "outcome.json"
    outcome.write_text(outcome.read_text().replace("17", "18"))
    done = terminal.type("verify", str(run))
    assert done.returncode == 1
    assert "trials/0001/outcome.json" in done.stdout
    assert done.stdout.rstrip().endswith("not ok")


def test_showing_tells_the_path_the_last_events_and_the_report(finished: Finished) -> None:
    terminal, run = finished
    shown = terminal.type("show", run, "--events", "2").stdout
    assert ": completed: " in shown
    assert "objective  height 0 ± 0.01 µm" in shown
    assert "   1  start: height 17 ± 0.01 µm" in shown
    assert f"report     {run}/report.html" in shown
    assert "sealed: completed" in shown.splitlines()[-1]
    assert len(shown.partition("last events:\n")[2].splitlines()) == 2


def test_showing_as_json_gives_the_summary_and_the_path(finished: Finished) -> None:
    terminal, run = finished
    shown = json.loads(terminal.type("show", run, "--json").stdout)
    assert shown["summary"]["sealed"] is True
    assert shown["result"]["status"] == "completed"
    assert shown["accepted_path"][0][0] == 1
    assert shown["verified"] is True


def test_a_rejected_trial_is_shown_with_the_check_it_failed(finished: Finished) -> None:
    terminal, run = finished
    (study,) = open_run(terminal.folder / run).studies
    rejected = next(t.number for t in study.trials if t.proposal.action.name == "leap")
    shown = terminal.type("show", run, "--trial", str(rejected))
    assert f"trial {rejected}, from trial " in shown.stdout
    assert "check height failed: -1 um is >= 0" in shown.stdout
    assert "rejected: " in shown.stdout
    as_json = terminal.type("show", run, "--trial", str(rejected), "--json")
    assert json.loads(as_json.stdout)["number"] == rejected


def test_a_trial_that_does_not_exist_is_bad_input(finished: Finished) -> None:
    terminal, run = finished
    done = terminal.type("show", run, "--trial", "9999")
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no trial 9999" in done.stderr


def test_runs_are_listed_as_a_table_and_as_json(finished: Finished) -> None:
    terminal, run = finished
    assert Path(run).name in terminal.type("list").stdout
    (listed,) = json.loads(terminal.type("list", "--json").stdout)["runs"]
    assert (listed["run"], listed["status"]) == (Path(run).name, "completed")


def test_an_empty_folder_has_no_runs_and_that_is_no_error(terminal: Terminal) -> None:
    done = terminal.type("list", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"runs": []})
    assert "There are no runs in artifacts." in terminal.type("list").stderr


def test_a_run_is_found_by_its_name_too(finished: Finished) -> None:
    terminal, run = finished
    assert terminal.type("show", Path(run).name).stdout == terminal.type("show", run).stdout


def test_comparing_a_run_with_itself_finds_no_difference(finished: Finished) -> None:
    terminal, run = finished
    done = terminal.type("compare", run, run)
    assert done.returncode == 0
    assert done.stdout.startswith("0 different, ")


def test_comparing_shows_what_differs(finished: Finished) -> None:
    terminal, run = finished
    other = terminal.type(
        "run", "toy/parabola", "--set", "lowest_x_um=5", "--quiet", "--json", "--out", "other"
    )
    compared = terminal.type("compare", run, json.loads(other.stdout)["run"]).stdout
    assert "lowest_x_um" in compared
    assert "lowest_y_um" not in compared
    rows = json.loads(
        terminal.type("compare", run, json.loads(other.stdout)["run"], "--json").stdout
    )["rows"]
    assert {"first": "3.0", "second": "5.0"}.items() <= next(
        row for row in rows if row["name"] == "lowest_x_um"
    ).items()


def test_an_exported_run_is_an_archive_with_its_description(
    finished: Finished, tmp_path: Path
) -> None:
    terminal, run = finished
    target = tmp_path / "run.zip"
    done = terminal.type("export", run, "--to", str(target))
    assert (done.returncode, done.stdout) == (0, f"{target}\n")
    with zipfile.ZipFile(target) as archive:
        assert any(name.endswith("ro-crate-metadata.json") for name in archive.namelist())
    assert terminal.type("export", run, "--to", str(target)).returncode == 2


@pytest.mark.parametrize("command", ["show", "verify", "resume", "stop", "export"])
def test_a_folder_that_is_no_run_is_refused(terminal: Terminal, command: str) -> None:
    (terminal.folder / "empty").mkdir()
    for folder in ("empty", "nowhere"):
        done = terminal.type(command, folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("Error: ")
        assert folder in done.stderr


def test_a_run_of_a_newer_version_is_refused(finished: Finished, tmp_path: Path) -> None:
    terminal, _ = finished
    run = copied(finished, tmp_path)
    journal = run / "events.jsonl"
    newer = journal.read_text().replace('"schema_version":1', '"schema_version":99', 1)
    journal.write_text(newer)
    done = terminal.type("show", str(run))
    assert (done.returncode, done.stdout) == (2, "")
    assert "newer" in done.stderr


def test_datasets_are_listed_with_source_and_licence(terminal: Terminal) -> None:
    listed = json.loads(terminal.type("data", "list", "--json").stdout)["datasets"]
    assert {"fluorapatite", "sc2au6"} <= {each["name"] for each in listed}
    assert all(each["licence"] and each["source"] for each in listed)
    assert "fluorapatite" in terminal.type("data", "list").stdout


def test_fetching_a_dataset_prints_where_each_file_is(terminal: Terminal) -> None:
    done = terminal.type("data", "fetch", "sc2au6")
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        name, _, path = line.partition("=")
        assert name.isidentifier()
        assert Path(path).is_file()


def test_fetching_an_unknown_dataset_offers_the_nearest(terminal: Terminal) -> None:
    done = terminal.type("data", "fetch", "sc2au")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'sc2au6'?" in done.stderr


def test_doctor_says_what_works_and_how_to_mend_the_rest(terminal: Terminal) -> None:
    done = terminal.type("doctor", "--json")
    items = json.loads(done.stdout)["items"]
    assert any(item["name"] == "Python" and item["status"] == "ok" for item in items)
    assert all(item["remedy"] for item in items if item["status"] != "ok")
    assert done.returncode == int(any(item["status"] == "missing" for item in items))
    assert "Python" in terminal.type("doctor").stdout


def test_examples_name_questions_and_datasets_that_exist() -> None:
    datasets = {each.name for each in list_datasets()}
    for command in documented_commands():
        for example in command.examples:
            words = example.split()
            if command.name == "run":
                assert words[2] in questions() or Path(words[2]).is_file()
            named = [words[i + 1] for i, word in enumerate(words) if word == "--dataset"]
            named += words[3:4] if command.name == "data fetch" else []
            assert set(named) <= datasets, example

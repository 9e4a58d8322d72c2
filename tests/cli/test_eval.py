"""``sciagent eval`` at the terminal: a scripted model, an own library, no network."""

import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sciagent.testing.model_server import (
    Latency,
    ModelServer,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from tests.cli.terminal import Terminal
from tests.cli.test_running import wait_for

NOTE = "The lighthouse of Hollow Point was lit for the first time in 1871 by Ada Brink."
QUESTIONS = ("When was it lit?", "Who lit it?", "Where does it stand?")


def from_the_library(request: ScriptedRequest) -> ScriptedAnswer:
    """Look a question up, and answer with what stands there."""
    if pages := request.results("read_page"):
        found = re.search(r"1871|Ada Brink|Hollow Point", pages[-1])
        return saying(f"<answer>{found[0] if found else 'unknown'}</answer>")
    if hits := request.results("google_search"):
        address = re.search(r"file:\S+", hits[-1])
        return calling("read_page", url=address[0] if address else "", goal="lighthouse")
    return calling("google_search", query=["lighthouse"])


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(from_the_library) as server:
        yield server


@pytest.fixture
def desk(terminal: Terminal) -> Terminal:
    """A terminal with questions and an own library, where no server of the web is asked."""
    folder = terminal.folder
    (folder / "papers").mkdir()
    (folder / "papers" / "note.md").write_text(NOTE)
    (folder / "config.toml").write_text(
        f'[literature]\nmode = "offline"\nlibrary = "{folder}/own.sqlite"\n'
        "[endpoint]\nattempts = 1\n"
    )
    terminal.variables["SCIAGENT_CONFIG"] = str(folder / "config.toml")
    done = terminal.type("library", "add", "papers", "--library", "own.sqlite")
    assert done.returncode == 0, done.stderr
    lines = [json.dumps({"question": each, "answer": "1871"}) for each in QUESTIONS]
    (folder / "light.jsonl").write_text("\n".join(lines))
    return terminal


def words(server: ModelServer, *options: str) -> tuple[str, ...]:
    return (
        "eval", "--profile", "a1", "light.jsonl", "out", "--base-url", server.base_url,
        "--model", "scripted", *options,
    )  # fmt: skip


def rows(desk: Terminal) -> list[dict[str, Any]]:
    path = desk.folder / "out" / "scripted" / "light" / "iter1.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_questions_are_answered_from_the_own_library_and_summed_up_in_one_json_object(
    desk: Terminal, server: ModelServer
) -> None:
    done = desk.type_apart(*words(server, "--json", "--limit", "2", "--parallel", "2"))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    summary = json.loads(done.stdout)
    (iteration,) = summary["iterations"]
    assert (summary["model"], summary["dataset"], summary["questions"]) == ("scripted", "light", 2)
    assert iteration["terminations"] == {"answer": 2}
    assert (iteration["rows"], iteration["exact_match_accuracy"]) == (2, 0.0)
    assert {row["prediction"] for row in rows(desk)} == {"Hollow Point"}
    assert NOTE in rows(desk)[0]["messages"][5]["content"]


def test_the_same_command_goes_on_and_says_what_exact_match_means(
    desk: Terminal, server: ModelServer
) -> None:
    desk.type(*words(server, "--limit", "1"))
    done = desk.type(*words(server))
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == 3 * len(QUESTIONS)
    assert "out/scripted/light/iter1.jsonl" in done.stdout
    assert "  3 rows\n  3 answer\n  0 exact matches (0.0%; exact match only)" in done.stdout
    assert "a lower bound" in done.stdout


def test_limits_are_those_that_are_given(desk: Terminal) -> None:
    with ModelServer(in_turn(calling("google_search", query=["a"]))) as server:
        done = desk.type(*words(server, "--max-calls", "2", "--json"))
        assert len(server.requests) == 2 * len(QUESTIONS)
    (iteration,) = json.loads(done.stdout)["iterations"]
    assert iteration["terminations"] == {"exceed available llm calls": 3}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("light.jsonl", "out", "--base-url", "localhost"), "no address of a server"),
        (("gone.jsonl", "out"), "cannot be read: no such file"),
        (("papers", "out"), "cannot be read: is a directory"),
        (("papers/note.md", "out"), "Line 1 of papers/note.md is no JSON"),
        (("light.jsonl", "out", "--profile", "b2"), "b2"),
        (("light.jsonl", "out", "--max-calls", "0"), "--max-calls"),
        (("light.jsonl", "out", "--dataset", "../x"), "--dataset"),
        (("light.jsonl", "config.toml"), "config.toml"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(
    desk: Terminal, options: tuple[str, ...], sentence: str
) -> None:
    done = desk.type("eval", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert not (desk.folder / "out").exists()


def test_an_endpoint_that_is_not_there_gives_rows_that_are_made_again(
    desk: Terminal, server: ModelServer
) -> None:
    gone = ("--base-url", "http://127.0.0.1:9/v1", "--json")
    done = desk.type(*words(server, *gone))
    assert done.returncode == 1
    assert json.loads(done.stdout)["iterations"][0]["terminations"] == {"error": 3}
    assert "cannot be reached" in rows(desk)[0]["error"]
    done = desk.type(*words(server, "--json"))
    assert (done.returncode, len(rows(desk))) == (0, 3)
    assert {row["termination"] for row in rows(desk)} == {"answer"}


def test_ctrl_c_lets_the_question_that_was_begun_end(desk: Terminal) -> None:
    slow = Latency(rtt_s=0.4)
    with ModelServer(from_the_library, latency=slow) as server:
        with desk.begin(*words(server, "--json")) as process:
            wait_until_asked(server)
            process.send_signal(signal.SIGINT)
            wait_for(process, "press Ctrl-C again")
            out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert json.loads(out)["stopped"] is True
        assert "the same command goes on" in err
        assert [row["termination"] for row in rows(desk)] == ["answer"]


@pytest.mark.parametrize("end", ["interrupted twice", "killed"])
def test_an_end_in_the_middle_of_a_question_leaves_whole_rows_to_go_on_from(
    desk: Terminal, server: ModelServer, end: str
) -> None:
    desk.type(*words(server, "--limit", "1"))
    before = rows(desk)
    endless = Latency(decode_tokens_per_s=2.0)
    with (
        ModelServer(in_turn(saying("word " * 2000)), latency=endless) as slow,
        desk.begin(*words(slow, "--parallel", "2")) as process,
    ):
        wait_until_asked(slow)
        if end == "killed":
            process.kill()
        else:
            process.send_signal(signal.SIGINT)
            wait_for(process, "press Ctrl-C again")
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == (-9 if end == "killed" else 130)
    assert "Traceback" not in err
    assert rows(desk) == before
    done = desk.type(*words(server, "--json"))
    assert done.returncode == 0, done.stderr
    assert [row["question"] for row in rows(desk)] == list(QUESTIONS)
    assert not [path for path in hidden(desk) if path.name != ".lock"]


def hidden(desk: Terminal) -> list[Path]:
    return list((desk.folder / "out" / "scripted" / "light").glob(".*"))


def wait_until_asked(server: ModelServer) -> None:
    while not server.requests:
        time.sleep(0.01)

import io
import json
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from rich.console import Console

from sciagent.cli.approval import TerminalApproval
from sciagent.cli.conversation import ConversationDisplay
from sciagent.contracts.conversation import Message, ToolCall
from sciagent.contracts.events import Event, EventBody, MessageAdded
from sciagent.testing.model_server import (
    Latency,
    ModelServer,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from sciagent.testing.study_script import StudyScript
from sciagent.tools.approval import ApprovalQuestion
from tests.cli.terminal import Terminal
from tests.cli.test_running import runs_in, wait_for

SCRIPT = StudyScript("toy/parabola", tolerance=1e-9)
RESULT_KEYS = {"run", "status", "answer", "claims", "usage", "turns", "trials"}
QUESTION = "Where is the bowl lowest?"
PROMPT = "y or n> "


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(SCRIPT) as server:
        yield server


def asked(terminal: Terminal, server: ModelServer, *options: str) -> tuple[str, ...]:
    """Words of a question to a scripted server; no configuration file is read."""
    terminal.variables["XDG_CONFIG_HOME"] = str(terminal.folder / "config")
    return ("ask", QUESTION, "--base-url", server.base_url, "--model", "scripted", *options)


def test_a_question_prints_one_json_object_and_shows_the_tools_on_stderr(
    terminal: Terminal, server: ModelServer
) -> None:
    done = terminal.type_apart(*asked(terminal, server, "--approve", "auto", "--json"))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    result = json.loads(done.stdout)
    assert set(result) == RESULT_KEYS
    assert (result["status"], result["claims"], result["trials"]) == ("completed", 1, 27)
    assert result["turns"] == result["usage"]["calls"] == 6
    lines = done.stderr.splitlines()
    assert "✓ start_study question=toy/parabola dataset= settings={}" in lines
    assert "  trial 1 accepted: start: height 17 µm" in lines
    assert lines[-1].startswith("  sealed with ")
    assert (terminal.folder / result["run"] / "report.html").is_file()


def test_a_question_answers_on_stdout_and_says_how_to_check_it(
    terminal: Terminal, server: ModelServer
) -> None:
    done = terminal.type(*asked(terminal, server, "--approve", "auto", "--quiet"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Trial 12 is the best; the report states its height.\n")
    (run,) = runs_in(terminal)
    assert f"sciagent verify artifacts/{run.name} --rerun" in done.stdout


def test_show_and_list_know_a_question(terminal: Terminal, server: ModelServer) -> None:
    terminal.type(*asked(terminal, server, "--approve", "auto", "--quiet"))
    (run,) = runs_in(terminal)
    shown = terminal.type("show", run.name, "--events", "200").stdout
    assert f"question   {QUESTION}" in shown
    assert f"model      scripted at {server.base_url}" in shown
    assert "27 trials, 1 claims" in shown
    assert "answer     Trial 12 is the best" in shown
    assert "accepted path of toy/parabola:" in shown
    assert "message_added: assistant, calls start_study" in shown
    assert "1 claims compared with their evidence" in shown
    whole = json.loads(terminal.type("show", run.name, "--json").stdout)
    assert set(whole["ask"]) == RESULT_KEYS
    assert "agent/ask" in terminal.type("list").stdout
    assert terminal.type("show", run.name, "--trial", "12").returncode == 0


def test_where_nobody_can_be_asked_a_tool_is_denied_with_the_reason(
    terminal: Terminal, server: ModelServer
) -> None:
    done = terminal.type(*asked(terminal, server, "--json"))
    result = json.loads(done.stdout)
    assert (result["trials"], result["claims"]) == (0, 0)
    assert "nobody could be asked" in result["answer"]
    assert "not approved: nobody could be asked" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "status"),
    [
        (["--budget-turns", "1"], 3, "limit"),
        (["--budget-tokens", "100"], 3, "limit"),
        (["--approve", "auto", "--budget-turns", "5"], 0, "limit"),
    ],
)
def test_the_exit_code_tells_how_a_question_ended(
    terminal: Terminal, server: ModelServer, options: Sequence[str], code: int, status: str
) -> None:
    done = terminal.type(*asked(terminal, server, *options, "--json", "--quiet"))
    assert (done.returncode, json.loads(done.stdout)["status"]) == (code, status)


def test_options_reach_the_endpoint_and_the_agent(terminal: Terminal, server: ModelServer) -> None:
    (terminal.folder / "notes.txt").write_text("hello")
    options = (
        "--verification", "--subagents", "--local-only", "--approve", "auto",
        "--input", "notes=notes.txt", "--budget-wall-s", "60", "--out", "runs", "--json", "--quiet",
    )  # fmt: skip
    done = terminal.type(*asked(terminal, server, *options))
    body = server.requests[0].body
    assert body["chat_template_kwargs"] == {"verification": True}
    assert "spawn_subagent" in str(body["tools"])
    assert "data/notes/notes.txt" in body["messages"][1]["content"]
    assert json.loads(done.stdout)["run"].startswith("runs/")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["ask", " "], "There is no question."),
        (["ask", "Well?", "--base-url", "localhost"], "no address of a server"),
        (["ask", "Well?", "--base-url", "https://me:12345678@a.org"], "holds a key"),
        (["ask", "Well?", "--input", "a=gone.txt"], "does not exist"),
        (["ask", "Well?", "--input", "a"], "not KEY=VALUE"),
        (["ask", "Well?", "--approve", "sometimes"], "sometimes"),
        (["run", "toy/parabola", "--policy", "model", "--base-url", "a"], "no address"),
    ],
)
def test_bad_input_leaves_nothing_behind(
    terminal: Terminal, words: list[str], sentence: str
) -> None:
    terminal.variables["XDG_CONFIG_HOME"] = str(terminal.folder / "config")
    done = terminal.type(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert not (terminal.folder / "artifacts").exists()


def test_an_endpoint_that_is_not_there_is_an_error_that_says_how_to_go_on(
    terminal: Terminal, server: ModelServer
) -> None:
    terminal.variables["XDG_CONFIG_HOME"] = str(terminal.folder)
    (terminal.folder / "sciagent").mkdir()
    (terminal.folder / "sciagent" / "config.toml").write_text(
        '[endpoint]\nbase_url = "http://127.0.0.1:9/v1"\nattempts = 1\n'
    )
    done = terminal.type("ask", QUESTION, "--json", "--approve", "auto")
    (run,) = runs_in(terminal)
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot be reached" in done.stderr
    assert f"sciagent resume artifacts/{run.name}" in done.stderr
    more = terminal.type(
        "resume", run.name, "--base-url", server.base_url, "--model", "scripted", "--json"
    )
    assert more.returncode == 0, more.stderr
    assert json.loads(more.stdout)["claims"] == 1


def test_ctrl_c_stops_a_question_cleanly_and_it_is_resumed(terminal: Terminal) -> None:
    settings = {"sleep_s": 0.15, "smallest_step_um": 1.0}
    slow = StudyScript("toy/parabola", tolerance=1e-9, settings=settings)
    with ModelServer(slow) as server:
        with terminal.begin(*asked(terminal, server, "--approve", "auto", "--json")) as process:
            wait_for(process, "trial 2")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        (run,) = runs_in(terminal)
        assert process.returncode == 130
        assert json.loads(out)["status"] == "stopped"
        assert f"sciagent resume artifacts/{run.name}" in err
        assert "Traceback" not in err
        done = terminal.type("resume", run.name, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == 17
    assert "trial 1 accepted" not in done.stderr


def test_ctrl_c_stops_an_answer_in_the_middle_of_a_word(terminal: Terminal) -> None:
    with (
        ModelServer(
            in_turn(saying("word " * 2000)), latency=Latency(decode_tokens_per_s=20.0)
        ) as server,
        terminal.begin(*asked(terminal, server, "--json")) as process,
    ):
        wait_for(process, "began:")
        while not any(each.started_s for each in server.requests):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["status"] == "stopped"


def test_a_model_drives_a_study_from_the_command_line(terminal: Terminal) -> None:
    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if '"trial": 1' in request.texts("user")[0]:
            return saying(json.dumps({"hand_back": "Enough."}))
        return saying(json.dumps({"parent": None, "action": "start", "arguments": {}}))

    terminal.variables["XDG_CONFIG_HOME"] = str(terminal.folder / "config")
    with ModelServer(policy) as server:
        done = terminal.type(
            "run", "toy/parabola", "--policy", "model", "--base-url", server.base_url,
            "--model", "scripted", "--verification", "--json",
        )  # fmt: skip
        assert len(server.requests) == 2
    assert json.loads(done.stdout)["status"] == "completed"
    assert "The model hands back" in done.stderr


def test_doctor_looks_at_the_endpoint_that_is_given(terminal: Terminal) -> None:
    terminal.variables["XDG_CONFIG_HOME"] = str(terminal.folder / "config")
    with ModelServer(lambda _: saying("Oslo")) as server:
        options = ("--base-url", server.base_url, "--model", "scripted", "--json")
        items = json.loads(terminal.type("doctor", *options).stdout)["items"]
    found = {item["name"]: item["status"] for item in items}
    assert (found["endpoint"], found["streaming"], found["tool calls"]) == ("ok", "ok", "missing")


def typed_at_a_terminal(
    terminal: Terminal, words: Sequence[str], answers: Sequence[str]
) -> tuple[int, str]:
    """Type a command at a pseudo-terminal and answer what it asks; give its code and screen."""
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        terminal.command(*words), cwd=terminal.folder, env=terminal.variables,
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    screen, waiting = "", list(answers)
    while select.select([own], [], [], 60)[0]:
        try:
            piece = os.read(own, 65536)
        except OSError:  # the terminal is gone with its last process
            break
        screen += piece.decode("utf-8", "replace")
        if waiting and screen.count(PROMPT) > len(answers) - len(waiting):
            os.write(own, waiting.pop(0).encode())
    os.close(own)
    return process.wait(60), screen


def test_a_person_at_a_terminal_is_asked_with_tool_and_arguments_and_sees_the_words(
    terminal: Terminal,
) -> None:
    steps = (
        calling("write_file", path="data/files/a.txt", text="hello\x1b[31m"),
        calling("write_file", path="data/files/b.txt", text="hello"),
        saying("Both \x1b[2Jtried.", reasoning="I thought so."),
    )
    with ModelServer(in_turn(*steps)) as server:
        words = asked(terminal, server)
        answers = ["what?\n", "no, not this one\n", "y\n"]
        code, screen = typed_at_a_terminal(terminal, words, answers)
    assert code == 0, screen
    assert "May main use write_file?" in screen
    assert "path = data/files/a.txt" in screen
    assert "Answer y or n" in screen
    assert "not approved: not this one" in screen
    assert "I thought so." in screen
    assert screen.count("tried.") == 1, "what was streamed is not printed again"
    assert "\x1b[2J" not in screen
    (run,) = runs_in(terminal)
    assert [path.name for path in (run / "data/files").iterdir()] == ["b.txt"]


def test_ctrl_c_at_a_question_denies_it_and_stops(terminal: Terminal) -> None:
    steps = (calling("write_file", path="data/files/a.txt", text="hello"), saying("Done."))
    with ModelServer(in_turn(*steps)) as server:
        words = asked(terminal, server)
        own, theirs = pty.openpty()
        process = subprocess.Popen(
            terminal.command(*words), cwd=terminal.folder, env=terminal.variables,
            stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        os.close(theirs)
        assert process.stderr is not None
        while "text = hello" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        os.close(own)
    assert process.returncode == 130
    (run,) = runs_in(terminal)
    assert not (run / "data/files").exists()


def event(body: EventBody, span: str = "main") -> Event:
    return Event(sequence=1, time="2026-01-01T00:00:00.000Z", span=span, body=body, hash="")


def shown(act: Callable[[ConversationDisplay], None], *, terminal: bool) -> str:
    """What a display shows of something."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, color_system=None, width=100)
    act(ConversationDisplay(console))
    return out.getvalue()


def test_words_are_streamed_at_a_terminal_only_and_rows_begin_on_lines_of_their_own() -> None:
    call = ToolCall(id="1", name="code", arguments={"code": "x"})
    message = Message(role="assistant", content="Let me see.", tool_calls=(call,))

    def act(display: ConversationDisplay) -> None:
        display.heard("reasoning", "Hm.")
        display.heard("content", "Let me ")
        display.heard("content", "see.")
        display(event(MessageAdded(message=message)))

    assert shown(act, terminal=True) == "Hm.\nLet me see.\n▸ code code=x\n"
    assert shown(act, terminal=False) == "Let me see.\n"


def test_rows_of_subagents_name_them_and_failures_say_what_went_wrong() -> None:
    call = ToolCall(id="1", name="visit", arguments={"url": "a\x1b[31m\nb"})
    fenced = "⟦result 0123abcd tool=visit origin=outside status=failed⟧\nNo.\n⟦end 0123abcd⟧"

    def act(display: ConversationDisplay) -> None:
        display(event(MessageAdded(message=Message(role="assistant", tool_calls=(call,))), "m/1"))
        result = Message(role="tool", content=fenced, tool_call_id="1")
        display(event(MessageAdded(message=result), "m/1"))

    assert shown(act, terminal=False) == "m/1  ✗ visit url=a b: failed: No.\n"


def test_nothing_is_written_while_a_person_is_asked() -> None:
    call = ToolCall(id="1", name="code", arguments={})

    def act(display: ConversationDisplay) -> None:
        with display.alone():
            display(event(MessageAdded(message=Message(role="assistant", tool_calls=(call,)))))
            display._console.print("asked")

    assert shown(act, terminal=True) == "asked\n▸ code\n"


@pytest.mark.parametrize(
    ("lines", "approved", "comment"),
    [
        (["y"], True, ""), (["YES go on"], True, "go on"), (["n"], False, ""),
        (["no, because"], False, "because"), (["", "perhaps", "y"], True, ""),
        ([], False, "there was no answer"),
    ],
)  # fmt: skip
def test_answers_are_read_until_they_can_be_understood(
    tmp_path: Path, lines: list[str], approved: bool, comment: str
) -> None:
    console = Console(file=io.StringIO())
    display = ConversationDisplay(console)
    waiting = iter(lines)
    person = TerminalApproval(
        console, lambda: False, display.alone, read_line=lambda _: next(waiting, None)
    )
    answer = person(ApprovalQuestion("main:1", "code", {"code": "x"}, "It acts."))
    assert (answer.approved, answer.comment) == (approved, comment)

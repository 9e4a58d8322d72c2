"""People and an agent: stop and steer, approval, and whom a run may reach."""

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CommandTaken,
    Event,
    MessageAdded,
)
from sciagent.contracts.literature import Document, Found
from sciagent.runs import Surroundings, ask, ask_result, resume, stop
from sciagent.testing.model_server import (
    ModelServer,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from sciagent.testing.pretended_literature import page
from sciagent.tools.approval import ApprovalAnswer, ApprovalQuestion
from sciagent.workspace.inbox import send_command
from sciagent.workspace.layout import Layout
from tests.runs.asking import SCRIPT, bodies, notes, settings, workspace


def test_a_stop_left_in_the_inbox_ends_a_run_that_is_then_resumed(tmp_path: Path) -> None:
    stopped = threading.Event()

    def observer(event: Event) -> None:
        if event.kind == "trial_decided" and not stopped.is_set():
            stopped.set()
            stop(workspace(tmp_path), author="tester")

    with ModelServer(SCRIPT) as server:
        run = ask(settings(server), surroundings=Surroundings(observer=observer), out=tmp_path)
        assert (run.summary.status, run.summary.sealed) == ("stopped", False)
        assert ask_result(run).status == "stopped"
        assert [each.command.author for each in bodies(run, CommandTaken)] == ["tester"]
        again = resume(run.path)
    assert (again.summary.status, again.summary.trials) == ("completed", 27)


def test_whoever_surrounds_an_agent_can_stop_it_too(tmp_path: Path) -> None:
    around = Surroundings(cancelled=lambda: True)
    with ModelServer(SCRIPT) as server:
        run = ask(settings(server), surroundings=around, out=tmp_path)
        assert server.requests == ()
        assert run.summary.status == "stopped"
        assert resume(run.path).summary.status == "completed"


def test_an_agent_is_steered_through_the_inbox(tmp_path: Path) -> None:
    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if "Stay short." in request.texts("user"):
            return saying("Short.")
        folder = workspace(tmp_path)
        if not bodies(folder, CommandTaken) and not list((folder / "inbox").iterdir()):
            send_command(Layout(folder), "steer", {"text": "Stay short."}, author="tester")
        return calling("take_note", text=f"Note {len(request.messages)}.")

    with ModelServer(policy) as server:
        run = ask(settings(server), out=tmp_path)
    assert ask_result(run).answer == "Short."
    assert [each.command.command for each in bodies(run, CommandTaken)] == ["steer"]


def answering(folder: Path, word: str) -> Any:
    """Answer a question about approval through the inbox, once it stands in the journal."""

    def observer(event: Event) -> None:
        if isinstance(event.body, ApprovalAsked):
            arguments = {"effect": event.body.effect, "comment": "I looked."}
            send_command(Layout(workspace(folder)), word, arguments, author="tester")  # type: ignore[arg-type]

    return observer


@pytest.mark.parametrize(("word", "approved"), [("approve", True), ("deny", False)])
def test_approval_is_asked_for_and_answered_through_the_inbox(
    tmp_path: Path, word: str, approved: bool
) -> None:
    around = Surroundings(observer=answering(tmp_path, word))
    steps = (calling("write_file", path="data/files/a.txt", text="hello"), saying("Done."))
    with ModelServer(in_turn(*steps)) as server:
        run = ask(settings(server, approval="ask"), surroundings=around, out=tmp_path)
    (asked,) = bodies(run, ApprovalAsked)
    assert (asked.tool, asked.arguments) == (
        "write_file", {"path": "data/files/a.txt", "text": "hello"},
    )  # fmt: skip
    (answered,) = bodies(run, ApprovalAnswered)
    assert (answered.approved, answered.author, answered.comment) == (
        approved, "tester", "I looked.",
    )  # fmt: skip
    assert (run.path / "data/files/a.txt").exists() == approved


@pytest.mark.parametrize("approved", [True, False])
def test_approval_is_asked_for_by_a_callback(tmp_path: Path, approved: bool) -> None:
    questions: list[ApprovalQuestion] = []

    def person(question: ApprovalQuestion) -> ApprovalAnswer:
        questions.append(question)
        return ApprovalAnswer(approved, "not today", "me")

    steps = (calling("start_study", question="toy/parabola"), saying("Done."))
    around = Surroundings(ask_approval=person)
    with ModelServer(in_turn(*steps)) as server:
        run = ask(settings(server, approval="ask"), surroundings=around, out=tmp_path)
    assert [each.tool for each in questions] == ["start_study"]
    assert bool(run.studies) == approved
    told = [each.message.content for each in bodies(run, MessageAdded)]
    assert any("Not approved: not today" in text for text in told) != approved


class CallingHome:
    """A library that wants to reach somebody when it is searched (a `Literature`)."""

    def __init__(self, port: int) -> None:
        self._port = port

    def search(self, query: str) -> Found:
        socket.create_connection(("127.0.0.1", self._port), timeout=5).close()
        return Found(query=query, pages=(page("https://example.org", query),))

    def scholar(self, query: str) -> Found:
        return self.search(query)

    def visit(self, url: str) -> Document:
        return Document(source=self.search(url).pages[0])


@pytest.mark.parametrize("local_only", [True, False])
def test_a_local_only_run_reaches_its_endpoint_and_journals_what_was_refused(
    tmp_path: Path, local_only: bool
) -> None:
    steps = (calling("search", query="bowls"), saying("Done."))
    with ModelServer(in_turn(*steps)) as server, ModelServer(SCRIPT) as other:
        run = ask(
            settings(server, local_only=local_only),
            surroundings=Surroundings(literature=CallingHome(other.port)), out=tmp_path,
        )  # fmt: skip
    assert run.summary.status == "completed"
    text = f"A connection to 127.0.0.1 port {other.port} was refused: the run is local only."
    assert notes(run) == ([text] if local_only else [])
    told = [each.message.content for each in bodies(run, MessageAdded)]
    assert any("this run may only talk to its endpoint" in each for each in told) == local_only
    assert "SCIAGENT_ONLY_ENDPOINT" not in os.environ

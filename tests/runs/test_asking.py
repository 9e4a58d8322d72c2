"""A question to an agent, from its words to a sealed workspace with a verified report."""

from pathlib import Path
from typing import Any

import pytest

import sciagent
from sciagent.contracts.errors import EndpointError, InputError
from sciagent.contracts.events import (
    AgentEnded,
    Event,
    MessageAdded,
    OwnerStopped,
)
from sciagent.contracts.study import Budget
from sciagent.runs import Surroundings, ask, ask_result, list_runs, resume
from sciagent.testing.model_server import (
    Fault,
    Faults,
    Latency,
    ModelServer,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from tests.runs.asking import (
    QUESTION,
    SCRIPT,
    all_text,
    bodies,
    effects,
    notes,
    settings,
    workspace,
)

KEY = "nobody-may-read-this-0815"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run in which an agent let a study be made; only to be read."""
    with ModelServer(SCRIPT) as server:
        return ask(settings(server), out=tmp_path_factory.mktemp("asked")).path


def test_an_agent_leaves_a_workspace_like_any_study(finished: Path) -> None:
    run = sciagent.open_run(finished)
    names = {path.name for path in finished.iterdir()}
    assert names >= {
        "report.md", "report.html", "claims.json", "verification.json", "study.json",
        "events.jsonl", "notebook.ipynb", "record.ipynb", "trials", "environment.json",
        "ro-crate-metadata.json",
    }  # fmt: skip
    result = ask_result(run)
    assert (result.status, result.claims, result.trials) == ("completed", 1, 27)
    assert result.answer == "Trial 12 is the best; the report states its height."
    assert result.usage.prompt_tokens > result.usage.completion_tokens > 0
    assert (finished / "environment.json").read_text().count('"model": "scripted"') == 1
    assert "0.00 µm" in run.layout.root.joinpath("report.md").read_text()


def test_the_claims_of_an_agent_are_reproduced_in_a_clean_kernel(finished: Path) -> None:
    verification = sciagent.verify(finished, rerun=True)
    assert verification.ok
    assert (verification.claims, verification.reproduced) == (1, 1)


def test_a_finished_question_is_listed_and_resuming_it_changes_nothing(finished: Path) -> None:
    before = (finished / "events.jsonl").read_bytes()
    assert resume(finished).summary.status == "completed"
    assert (finished / "events.jsonl").read_bytes() == before
    assert [row.question for row in list_runs(finished.parent)] == ["agent/ask"]
    with pytest.raises(InputError, match="cannot be changed"):
        resume(finished, budget=Budget(trials=3))


def test_an_answer_without_claims_is_labelled_as_that(tmp_path: Path) -> None:
    with ModelServer(lambda _: saying("It is 42, {{claim:x}} and ```so on.")) as server:
        run = ask(settings(server), out=tmp_path)
    report = (run.path / "report.md").read_text()
    assert "recorded no claims, so that nothing here is verified" in report
    assert "The agent's answer, not machine-checked" in report
    assert "It is 42" in report
    assert "{{claim" not in report
    assert sciagent.verify(run.path).ok


def test_claims_without_a_report_are_printed_all_the_same(tmp_path: Path) -> None:
    steps = (
        calling("start_study", question="toy/parabola"),
        calling("propose_trial", action="start", arguments={}, rationale="To begin."),
        calling("record_claim", id="x", subject="start", quantity="x", unit="um", decimals=1,
                path="trials/0001/outcome.json", pointer="/metrics/x/value", tolerance=0.0),
        saying("It starts there."),
    )  # fmt: skip
    with ModelServer(in_turn(*steps)) as server:
        run = ask(settings(server), out=tmp_path)
    report = (run.path / "report.md").read_text()
    assert "The agent wrote no report. It recorded:" in report
    assert "0.0 µm" in report
    assert sciagent.verify(run.path, rerun=True).reproduced == 1


def test_files_reach_the_agent_as_copies_and_answers_are_told_as_they_come(
    tmp_path: Path,
) -> None:
    (tmp_path / "start.txt").write_text("1 1")
    heard: list[tuple[str, str]] = []
    events: list[Event] = []
    steps = (
        calling("start_study", question="toy/parabola", inputs={"start": ["data/begin/start.txt"]}),
        calling("propose_trial", action="start", arguments={}, rationale="To begin."),
        saying("Done.", reasoning="That was easy."),
    )
    around = Surroundings(heard=lambda *piece: heard.append(piece), observer=events.append)
    with ModelServer(in_turn(*steps)) as server:
        run = ask(
            settings(server), inputs={"begin": tmp_path / "start.txt"}, surroundings=around,
            out=tmp_path / "out",
        )  # fmt: skip
        assert "Files in the workspace: data/begin/start.txt" in str(server.requests[0].body)
    assert run.study.trials[0].metric("x") == 1.0
    assert "".join(text for channel, text in heard if channel == "content") == "Done."
    assert "".join(text for channel, text in heard if channel == "reasoning") == "That was easy."
    assert [event.sequence for event in events] == [event.sequence for event in run.events()]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"question": "  "}, "There is no question"),
        ({"endpoint": {"base_url": "localhost"}}, "no address of a server"),
        ({"endpoint": {"extra_body": {"api_key": KEY}}}, "holds a key"),
        ({"endpoint": {"base_url": f"https://me:{KEY}@example.org/v1"}}, "holds a key"),
    ],
)
def test_what_cannot_be_asked_leaves_no_workspace(
    tmp_path: Path, given: dict[str, Any], words: str
) -> None:
    with ModelServer(SCRIPT) as server, pytest.raises(InputError, match=words):
        ask(settings(server, **given), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_public_function_takes_what_is_configured_and_what_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(lambda _: saying("Yes.")) as server:
        monkeypatch.setenv("SCIAGENT_BASE_URL", server.base_url)
        monkeypatch.setenv("SCIAGENT_CONFIG", str(tmp_path / "config.toml"))
        (tmp_path / "config.toml").write_text("[agent.budget]\nturns = 5\n")
        run = sciagent.ask(
            "Well?", model="scripted", verification=True, subagents=True, approval="auto",
            local_only=True, settings={"agent.budget.tokens": 100_000}, out=tmp_path / "out",
        )  # fmt: skip
        (request,) = server.requests
    kept = run.request.settings
    assert kept["agent"]["budget"]["turns"] == 5  # type: ignore[call-overload,index]
    assert kept["agent"]["budget"]["tokens"] == 100_000  # type: ignore[call-overload,index]
    assert kept["local_only"] is True
    assert request.body["model"] == "scripted"
    assert "spawn_subagent" in str(request.body["tools"])


@pytest.mark.parametrize("asked", [True, False])
def test_verification_reaches_the_endpoint_as_a_json_boolean(tmp_path: Path, asked: bool) -> None:
    with ModelServer(lambda _: saying("Yes.")) as server:
        ask(settings(server, verification=asked), out=tmp_path)
    switches = server.requests[0].body.get("chat_template_kwargs")
    assert switches == ({"verification": True} if asked else None)


def test_a_key_reaches_the_endpoint_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_ENDPOINT", KEY)
    steps = (
        calling("take_note", text=f"The key is {KEY}."),
        calling("write_file", path="data/files/key.txt", text=KEY),
        calling("start_study", question="toy/parabola"),
        calling("propose_trial", action="start", arguments={}, rationale=f"Because of {KEY}."),
        saying(f"The key is {KEY}.", reasoning=f"{KEY}, so to say."),
    )
    asked = {"question": f"What is {KEY}?", "endpoint": {"api_key_variable": "MY_ENDPOINT"}}
    with ModelServer(in_turn(*steps)) as server:
        run = ask(settings(server, **asked), out=tmp_path)
    assert {each.authorization for each in server.requests} == {f"Bearer {KEY}"}
    assert KEY not in all_text(run.path)
    assert "What is [redacted]?" in all_text(run.path)


def gone_after(answers: int) -> ModelServer:
    """A server that gives so many answers and hangs up on every later request."""
    return ModelServer(SCRIPT, faults=Faults(Fault("dropped_connection", at=answers, times=99)))


def test_a_question_whose_endpoint_dies_goes_on_when_another_one_answers(
    tmp_path: Path, finished: Path
) -> None:
    with gone_after(3) as server, pytest.raises(EndpointError, match="sciagent resume"):
        ask(settings(server), out=tmp_path)
    folder = workspace(tmp_path)
    run = sciagent.open_run(folder)
    assert (run.summary.status, run.summary.sealed) == ("stopped", False)
    assert "cannot be reached" in bodies(folder, OwnerStopped)[-1].reason
    with ModelServer(SCRIPT) as other:
        moved = {"endpoint.base_url": other.base_url, "endpoint.model": "another"}
        run = resume(folder, asked=moved)
        assert {each.body["model"] for each in other.requests} == {"another"}
    assert run.summary.status == "completed"
    assert any("The endpoint is now" in text for text in notes(run))
    assert (run.path / "report.md").read_text() == (finished / "report.md").read_text()
    assert len(effects(run)) == len(set(effects(run))) == len(effects(finished))
    assert '"model": "another"' in (run.path / "environment.json").read_text()


def test_an_endpoint_that_never_answers_leaves_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    with ModelServer(SCRIPT) as server:
        wanted = settings(server)
    with pytest.raises(EndpointError, match="cannot be reached"):
        ask(wanted, out=tmp_path)
    with ModelServer(SCRIPT) as other:
        run = resume(workspace(tmp_path), asked={"endpoint.base_url": other.base_url})
    assert run.summary.status == "completed"


def test_an_answer_that_cannot_be_used_ends_a_run_as_failed_with_a_report(tmp_path: Path) -> None:
    with ModelServer(lambda _: ScriptedAnswer(reasoning="Hm.")) as server:
        run = ask(settings(server), out=tmp_path)
    assert (run.summary.status, run.summary.sealed) == ("failed", True)
    assert "The answer could not be used" in (run.path / "report.md").read_text()


@pytest.mark.parametrize(
    "budget", [{"turns": 2}, {"tokens": 6000}, {"wall_s": 0.4}], ids=lambda each: next(iter(each))
)
def test_every_budget_ends_with_a_partial_report(tmp_path: Path, budget: dict[str, Any]) -> None:
    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if not request.tools:
            return saying("So far only a note.")
        return calling("take_note", text=f"Note {len(request.messages)}.")

    slow = Latency(rtt_s=0.1 if "wall_s" in budget else 0.0)
    with ModelServer(policy, latency=slow) as server:
        run = ask(settings(server, budget=budget), out=tmp_path)
    assert (run.summary.status, run.summary.sealed) == ("limit", True)
    report = (run.path / "report.md").read_text()
    assert "The agent did not come to its own end." in report
    assert "is reached." in report
    assert "ote" in ask_result(run).answer
    assert sciagent.verify(run.path).ok


def test_a_study_is_cut_off_when_the_time_of_the_agent_is_up(tmp_path: Path) -> None:
    steps = (
        calling("start_study", question="toy/parabola", settings={"sleep_s": 0.3}),
        calling("hand_back_study"),
        saying("That took long."),
    )
    with ModelServer(in_turn(*steps)) as server:
        run = ask(settings(server, budget={"wall_s": 1.5}), out=tmp_path)
    assert run.summary.status == "limit"
    assert 0 < run.summary.trials < 27
    told = [body.message.content for body in bodies(run, MessageAdded)]
    assert any("The study was cut off" in text for text in told)


def test_a_study_that_has_ended_takes_no_more_proposals(tmp_path: Path) -> None:
    start = calling("propose_trial", action="start", arguments={}, rationale="To begin.")
    again = calling("propose_trial", action="east", arguments={"step_um": 1.0}, rationale="More.")
    steps = (
        calling("start_study", question="toy/parabola"), start,
        calling("finish_study", reason="Enough."), again,
        calling("finish_study", reason="Enough again."), calling("hand_back_study"),
        saying("Done."),
    )  # fmt: skip
    with ModelServer(in_turn(*steps)) as server:
        run = ask(settings(server), out=tmp_path)
    told = [each.message.content for each in bodies(run, MessageAdded)]
    ended = "The study 'parabola' has ended as completed"
    assert sum(ended in text and "Its result is trial 1." in text for text in told) == 3
    assert run.summary.trials == 1


def test_nothing_starts_from_a_trial_that_was_rejected(tmp_path: Path) -> None:
    def step(action: str, parent: int = 0, **arguments: float) -> ScriptedAnswer:
        return calling(
            "propose_trial", action=action, arguments=arguments, rationale="Try.", parent=parent
        )

    steps = (
        calling("start_study", question="toy/parabola"), step("start"),
        step("west", step_um=1.0), step("west", parent=2, step_um=1.0), saying("Done."),
    )  # fmt: skip
    with ModelServer(in_turn(*steps)) as server:
        run = ask(settings(server), out=tmp_path)
    told = [each.message.content for each in bodies(run, MessageAdded)]
    assert any("Trial 2 was not accepted" in text and "Accepted: 1." in text for text in told)
    assert run.summary.trials == 2


def test_two_studies_of_one_question_stand_side_by_side_and_are_replayed(tmp_path: Path) -> None:
    def claim(name: str, trial: int) -> ScriptedAnswer:
        return calling(
            "record_claim", id=name, subject=name, quantity="height", unit="um", decimals=2,
            path=f"trials/{trial:04d}/outcome.json", pointer="/metrics/height/value",
            tolerance=0.0,
        )  # fmt: skip

    steps = (
        calling("start_study", question="toy/parabola"),
        calling("start_study", question="toy/parabola", settings={"lowest_x_um": 1.0}),
        calling("propose_trial", study="parabola", action="start", arguments={}, rationale="A."),
        calling("propose_trial", study="parabola-2", action="start", arguments={}, rationale="B."),
        claim("first", 1), claim("second", 2), saying("Done."),
    )  # fmt: skip
    with ModelServer(in_turn(*steps)) as server:
        run = ask(settings(server), out=tmp_path)
    assert [each.study for each in run.studies] == ["parabola", "parabola-2"]
    report = (run.path / "report.md").read_text()
    assert "17.00 µm" in report
    assert "9.00 µm" in report
    assert sciagent.verify(run.path, rerun=True).reproduced == 2


def test_the_prompt_of_a_resumed_run_begins_as_it_did(tmp_path: Path) -> None:
    with gone_after(2) as server, pytest.raises(EndpointError):
        ask(settings(server), out=tmp_path)
    with ModelServer(SCRIPT) as other:
        resume(workspace(tmp_path), asked={"endpoint.base_url": other.base_url})
    before, after = (each.requests[0].body["messages"] for each in (server, other))
    assert after[: len(before)] == before
    assert QUESTION in after[1]["content"]
    nonce = before[0]["content"].partition("⟦result ")[2][:8]
    assert all(nonce in each["content"] for each in after if each["role"] == "tool")
    assert [each.outcome.status for each in bodies(workspace(tmp_path), AgentEnded)] == [
        "failed", "completed",
    ]  # fmt: skip

import threading

import pytest

from sciagent.contracts.events import AgentEnded, AgentStarted, CommandTaken, ModelAnswered
from sciagent.contracts.run import Command
from sciagent.testing.agents import ScriptedRun
from sciagent.testing.model_server import (
    Latency,
    ModelServer,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from sciagent.tools.context import ToolContext
from sciagent.tools.secrets import RedactingJournal, Redactor
from sciagent.tools.tool import Tool, tool
from sciagent.workspace.inbox import send_command
from tests.agent.conftest import MakeRun
from tests.agent.scripts import URL, calling_each

read_iron = calling("read_page", url=URL)


def test_an_answer_without_calls_completes_the_work(scripted: MakeRun) -> None:
    run = scripted(in_turn(read_iron, saying("1538 °C")))
    outcome = run.ask("Where does iron melt?")
    assert (outcome.status, outcome.answer, outcome.turns) == ("completed", "1538 °C", 2)
    roles = [message.role for message in run.messages()]
    assert roles == ["system", "user", "assistant", "tool", "assistant"]
    assert "Iron melts at 1538 °C" in run.messages()[3].content
    assert outcome.usage.prompt_tokens == run.server.usage.prompt_tokens
    assert isinstance(run.bodies()[0], AgentStarted)
    assert isinstance(run.bodies()[-1], AgentEnded)


def test_a_finished_agent_is_not_asked_again(scripted: MakeRun) -> None:
    run = scripted(in_turn(saying("42")))
    assert run.ask() == run.ask()
    assert len(run.server.requests) == 1


def meeting(name: str, barrier: threading.Barrier) -> Tool:
    @tool(read_only=True, approval="never", name=name)
    def meet(_context: ToolContext) -> str:
        """Wait for the other."""
        barrier.wait(timeout=20)
        return f"{name} met"

    return meet


def test_reading_calls_of_one_answer_run_side_by_side_and_answer_in_order(
    scripted: MakeRun,
) -> None:
    barrier = threading.Barrier(2)
    tools = (meeting("first", barrier), meeting("second", barrier))
    policy = in_turn(calling_each(("first", {}), ("second", {})), saying("done"))
    run = scripted(policy, tools=tools)
    assert run.ask().answer == "done"
    texts = [message.content for message in run.messages() if message.role == "tool"]
    assert ["first met" in texts[0], "second met" in texts[1]] == [True, True]


def test_writing_calls_run_one_after_the_other_in_their_order(scripted: MakeRun) -> None:
    lines = [("write_line", {"line": str(number)}) for number in range(4)]
    run = scripted(in_turn(calling_each(*lines), saying("done")))
    run.ask()
    assert (run.folder / "register.txt").read_text().split() == ["0", "1", "2", "3"]


def reading_on(request: ScriptedRequest) -> ScriptedAnswer:
    if not request.tools:
        return saying("Known so far: 1538 °C.")
    line = f"line {len(request.messages)}"
    return calling_each(("write_line", {"line": line}))


def test_the_limit_of_turns_is_closed_by_one_call_without_tools(scripted: MakeRun) -> None:
    run = scripted(reading_on, budget={"turns": 3})
    outcome = run.ask()
    assert (outcome.status, outcome.answer) == ("limit", "Known so far: 1538 °C.")
    assert outcome.turns == 4
    assert "3 turns" in outcome.reason
    assert "tools" not in run.server.requests[-1].body


def test_calls_made_although_no_tools_were_offered_are_not_carried_out(scripted: MakeRun) -> None:
    stubborn = in_turn(*[calling("write_line", line=f"line {number}") for number in range(9)])
    run = scripted(stubborn, budget={"turns": 2})
    outcome = run.ask()
    assert outcome.status == "limit"
    assert outcome.answer
    assert len((run.folder / "register.txt").read_text().splitlines()) == 2


def test_the_limit_of_tokens_ends_with_what_is_noted_and_without_another_call(
    scripted: MakeRun,
) -> None:
    review = calling("record_review", assumptions=["It melts near 1500 °C."], gaps=["Pressure."])
    run = scripted(in_turn(review, read_iron, read_iron), budget={"tokens": 1500})
    outcome = run.ask()
    assert outcome.status == "limit"
    assert "It melts near 1500 °C." in outcome.answer
    assert "Pressure." in outcome.answer
    assert outcome.usage.tokens < 1500 + run.server.requests[-1].prompt_tokens


def test_the_limit_of_wall_time_cuts_an_answer_that_is_being_streamed(scripted: MakeRun) -> None:
    slow = {"latency": Latency(decode_tokens_per_s=400.0)}
    long = saying("It is known that " + "iron melts " * 2000)
    run = scripted(in_turn(long), budget={"wall_s": 0.5}, behaves=slow)
    outcome = run.ask()
    assert outcome.status == "limit"
    assert "It is known that" in outcome.answer


@pytest.mark.parametrize("useless", [saying(""), ScriptedAnswer(reasoning="Hm.")])
def test_an_empty_answer_is_sent_back(scripted: MakeRun, useless: ScriptedAnswer) -> None:
    answers = iter([useless, useless, saying("1538 °C")])
    run = scripted(lambda _: next(answers))
    assert run.ask().answer == "1538 °C"
    assert [message.role for message in run.messages()].count("user") == 3


def test_a_model_that_never_answers_still_ends_with_something(scripted: MakeRun) -> None:
    run = scripted(in_turn(read_iron, saying("")))
    outcome = run.ask()
    assert outcome.status == "failed"
    assert "read_page" in outcome.answer
    assert outcome.turns == 5


def test_an_agent_that_learns_nothing_new_is_warned_and_then_ended(scripted: MakeRun) -> None:
    def circling(request: ScriptedRequest) -> ScriptedAnswer:
        return read_iron if request.tools else saying("Only that it melts.")

    run = scripted(circling)
    outcome = run.ask()
    assert (outcome.status, outcome.answer) == ("limit", "Only that it melts.")
    assert "Nothing new" in outcome.reason
    assert outcome.turns < 15
    told = [message.content for message in run.messages() if message.role == "user"]
    assert any("same arguments" in text for text in told)


def test_what_the_user_says_meanwhile_reaches_the_model(scripted: MakeRun) -> None:
    runs: list[ScriptedRun] = []

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if len(request.messages) == 2:
            send_command(runs[0].layout, "steer", {"text": "Only gold matters."})
            return read_iron
        return saying(request.texts("user")[-1])

    runs.append(scripted(policy))
    assert runs[0].ask().answer == "Only gold matters."
    assert any(isinstance(body, CommandTaken) for body in runs[0].bodies())
    assert not list(runs[0].layout.inbox.glob("*.json"))


def test_a_stopped_agent_ends_with_what_it_knows_and_goes_on_later(scripted: MakeRun) -> None:
    runs: list[ScriptedRun] = []
    commands: list[Command] = []

    def policy(_request: ScriptedRequest) -> ScriptedAnswer:
        if not commands:
            commands.append(send_command(runs[0].layout, "stop"))
            return read_iron
        return saying("1538 °C")

    runs.append(scripted(policy))
    first = runs[0].ask()
    assert (first.status, bool(first.answer)) == ("stopped", True)
    assert runs[0].ask().answer == "1538 °C"
    assert not list(runs[0].layout.inbox.glob("*.json"))


def test_a_stop_that_was_taken_but_not_removed_does_not_stop_twice(scripted: MakeRun) -> None:
    runs: list[ScriptedRun] = []
    commands: list[Command] = []

    def policy(_request: ScriptedRequest) -> ScriptedAnswer:
        if not commands:
            commands.append(send_command(runs[0].layout, "stop"))
            return read_iron
        return saying("done")

    runs.append(scripted(policy))
    assert runs[0].ask().status == "stopped"
    left = runs[0].layout.inbox / f"{commands[0].id}.json"
    left.write_text(commands[0].model_dump_json())
    assert runs[0].ask().answer == "done"


def test_an_endpoint_that_is_gone_leaves_a_partial_answer_to_go_on_from(
    scripted: MakeRun,
) -> None:
    def vanishing(request: ScriptedRequest) -> ScriptedAnswer:
        if len(request.messages) > 2:
            server.restart(60.0)
        return read_iron

    with ModelServer(vanishing) as server:
        run = scripted(vanishing, server=server, endpoint={"attempts": 1})
        outcome = run.ask()
    assert (outcome.status, bool(outcome.answer)) == ("failed", True)
    again = scripted(in_turn(read_iron, saying("1538 °C")), folder=run.folder)
    assert again.ask().answer == "1538 °C"


def test_each_answer_is_journaled_with_what_it_used(scripted: MakeRun) -> None:
    run = scripted(in_turn(read_iron, saying("done")))
    outcome = run.ask()
    answered = [body for body in run.bodies() if isinstance(body, ModelAnswered)]
    assert sum(body.usage.tokens for body in answered) == outcome.usage.tokens
    assert [body.finish for body in answered] == ["tool_calls", "stop"]


def test_a_call_is_made_as_it_was_meant_where_the_journal_hides_a_secret(
    scripted: MakeRun,
) -> None:
    @tool(read_only=True, approval="never")
    def look_up(_context: ToolContext, key: str) -> str:
        """Look a key up."""
        return f"{len(key)} characters"

    policy = in_turn(calling("look_up", key="not-a-secret"), saying("done"))
    run = scripted(
        policy, tools=(look_up,), journal=lambda each: RedactingJournal(each, Redactor())
    )
    run.ask()
    assert "12 characters" in run.messages()[3].content
    assert "not-a-secret" not in run.layout.journal.read_text()

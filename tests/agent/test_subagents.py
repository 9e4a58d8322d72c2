import json
import threading
from typing import Any

import pytest

from sciagent.agent.subagents import SCHEMA, composition_of
from sciagent.contracts.agent import SubagentTask
from sciagent.contracts.events import AgentStarted, Delegated, DelegationReturned
from sciagent.testing.model_server import (
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from sciagent.tools.context import ToolContext
from sciagent.tools.tool import tool
from tests.agent.conftest import MakeRun
from tests.agent.scripts import (
    URL,
    calling_each,
    delegating,
    finding,
    is_subagent,
    reading_then_finding,
    results_in_answer,
)


def test_the_schema_is_the_one_of_the_contract() -> None:
    tasks: Any = SCHEMA["properties"]
    items = tasks["tasks"]["items"]
    assert SCHEMA["required"] == ["tasks"]
    assert tasks["tasks"]["minItems"] == 1
    assert items["required"] == ["task", "context", "expected_output"]
    assert {each["type"] for each in items["properties"].values()} == {"string"}


def test_results_come_back_in_the_order_of_the_tasks(scripted: MakeRun) -> None:
    later = threading.Event()

    def subagent(request: ScriptedRequest) -> ScriptedAnswer:
        name = request.texts("user")[0].split()[2]
        if not request.results("read_page"):
            return calling("read_page", url=URL)
        if name == "first":
            assert later.wait(20)
        else:
            later.set()
        return finding(answer=name)

    outcome = scripted(delegating(["first", "second"], subagent), subagents=True).ask()
    answers = [each["answer"] for each in results_in_answer(outcome.answer)]
    assert answers == ["first", "second"]


def test_a_batch_of_six_is_refused_whole_and_five_go_through(scripted: MakeRun) -> None:
    six = delegating([f"task {number}" for number in range(6)], reading_then_finding)
    run = scripted(six, subagents=True)
    answer = run.ask().answer
    assert "6 tasks" in answer
    assert "nothing was started" in answer
    assert not any(isinstance(body, Delegated) for body in run.bodies())
    five = delegating([f"task {number}" for number in range(5)], reading_then_finding)
    run = scripted(five, folder=run.folder.parent / "five", subagents=True)
    assert len(results_in_answer(run.ask().answer)) == 5


@pytest.mark.parametrize("tasks", [[], [{"task": "x", "context": "y"}], "x", [{"task": 1}]])
def test_a_batch_that_breaks_the_schema_is_refused_with_the_reason(
    scripted: MakeRun, tasks: object
) -> None:
    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        results = request.results("spawn_subagent")
        return saying(results[0]) if results else calling("spawn_subagent", tasks=tasks)

    answer = scripted(policy, subagents=True).ask().answer
    assert "status=refused" in answer
    assert "expected_output" in answer


def test_a_subagent_sees_its_task_and_nothing_else(scripted: MakeRun) -> None:
    run = scripted(delegating(["first", "second"], reading_then_finding), subagents=True)
    run.ask("The secret question.")
    for request in run.server.requests:
        text = json.dumps(request.body["messages"], ensure_ascii=False)
        if request.body["messages"][0]["content"].startswith("You are a subagent"):
            assert "secret question" not in text
            assert ("first" in text) != ("second" in text)


def test_subagents_have_the_tools_that_the_description_names_and_cannot_delegate(
    scripted: MakeRun,
) -> None:
    run = scripted(delegating(["first"], reading_then_finding), subagents=True)
    run.ask()
    assert described(run.server.requests[0].body["tools"]) == [
        "read_page", "write_line", "record_review", "recall",
    ]  # fmt: skip
    started = [body for body in run.bodies("main/1.1") if isinstance(body, AgentStarted)]
    assert started[0].tools == ("read_page", "write_line", "record_review", "recall")


def test_subagents_can_be_given_fewer_tools(scripted: MakeRun) -> None:
    greedy = in_turn(
        calling_each(("write_line", {"line": "x"}), ("spawn_subagent", {"tasks": []})),
        calling("read_page", url=URL),
        finding(),
    )
    run = scripted(delegating(["first"], greedy), subagents=True, subagent_tools=("read_page",))
    assert results_in_answer(run.ask().answer)[0]["status"] == "ok"
    assert described(run.server.requests[0].body["tools"]) == [
        "read_page",
        "record_review",
        "recall",
    ]
    refused = [m.content for m in run.messages("main/1.1") if "status=refused" in m.content]
    assert len(refused) == 2
    assert not (run.folder / "register.txt").exists()


def described(tools: list[dict[str, Any]]) -> list[str]:
    spawn = next(each for each in tools if each["function"]["name"] == "spawn_subagent")
    text: str = spawn["function"]["description"]
    return text.partition("have these tools: ")[2].rstrip(".").split(", ")


def test_a_false_quote_lowers_the_status_with_the_reason(scripted: MakeRun) -> None:
    false = [{"url": URL, "quote": "Iron melts at 1200 °C", "claim": "It melts."}]
    lying = in_turn(calling("read_page", url=URL), finding("1200", evidence=false))
    run = scripted(delegating(["first"], lying), subagents=True)
    result = results_in_answer(run.ask().answer)[0]
    assert result["status"] == "insufficient_evidence"
    assert result["answer"] == "UNKNOWN"
    assert "is not in the stored text" in result["unresolved_issues"][0]


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        [{"url": "https://nowhere.org", "quote": "Iron melts at 1538 °C", "claim": ""}],
        [{"url": URL, "quote": "Iron", "claim": "It melts at 1538 °C."}],
        [{"url": URL, "quote": "Iron melts at 1538 °C", "claim": "It melts at 1583 °C."}],
    ],
    ids=["none", "never fetched", "too short", "another number"],
)
def test_evidence_that_proves_nothing_is_not_ok(
    scripted: MakeRun, evidence: list[dict[str, str]]
) -> None:
    policy = in_turn(calling("read_page", url=URL), finding(evidence=evidence))
    result = results_in_answer(scripted(delegating(["x"], policy), subagents=True).ask().answer)
    assert result[0]["status"] == "insufficient_evidence"


@pytest.mark.parametrize("status", ["unknown", "insufficient_evidence", "conflict", "ambiguous"])
def test_each_status_passes_and_what_is_unresolved_answers_unknown(
    scripted: MakeRun, status: str
) -> None:
    policy = in_turn(calling("read_page", url=URL), finding("perhaps 1538", status))
    result = results_in_answer(scripted(delegating(["x"], policy), subagents=True).ask().answer)[0]
    assert result["status"] == status
    unresolved = status in {"unknown", "insufficient_evidence"}
    assert result["answer"] == ("UNKNOWN" if unresolved else "perhaps 1538")


def test_other_names_of_evidence_are_understood(scripted: MakeRun) -> None:
    item = {"source": URL, "snippet": "Iron melts at 1538 °C", "supports": "1538 °C"}
    policy = in_turn(calling("read_page", url=URL), finding(evidence=[item]))
    result = results_in_answer(scripted(delegating(["x"], policy), subagents=True).ask().answer)[0]
    assert result["status"] == "ok"
    assert set(result["evidence"][0]) == {"url", "quote", "claim"}


def test_a_subagent_that_does_not_answer_in_json_is_corrected(scripted: MakeRun) -> None:
    def stubborn(request: ScriptedRequest) -> ScriptedAnswer:
        if not request.results("read_page"):
            return calling("read_page", url=URL)
        return finding() if "no JSON object" in request.last else saying("It melts at 1538 °C.")

    run = scripted(delegating(["x"], stubborn), subagents=True)
    assert results_in_answer(run.ask().answer)[0]["status"] == "ok"


def test_a_subagent_that_never_answers_in_json_is_unresolved(scripted: MakeRun) -> None:
    run = scripted(delegating(["x"], in_turn(saying("It melts at 1538 °C."))), subagents=True)
    result = results_in_answer(run.ask().answer)[0]
    assert (result["answer"], result["status"]) == ("UNKNOWN", "insufficient_evidence")
    assert "It melts at 1538 °C." in " ".join(result["unresolved_issues"])


def test_a_subagent_out_of_turns_returns_what_it_found(scripted: MakeRun) -> None:
    def endless(request: ScriptedRequest) -> ScriptedAnswer:
        if not request.tools:
            return saying("Only that iron melts.")
        return calling("write_line", line=f"{len(request.messages)}")

    run = scripted(delegating(["x"], endless), subagents=True, subagent_max_turns=3)
    result = results_in_answer(run.ask().answer)[0]
    assert result["answer"] == "UNKNOWN"
    assert "3 turns" in result["unresolved_issues"][0]
    assert "Only that iron melts." in result["unresolved_issues"][1]


def test_a_subagent_that_breaks_does_not_harm_its_siblings(scripted: MakeRun) -> None:
    @tool(read_only=True, approval="never")
    def explode(_context: ToolContext) -> str:
        """Explode."""
        raise MemoryError("no memory")

    def subagent(request: ScriptedRequest) -> ScriptedAnswer:
        if "first" not in request.texts("user")[0]:
            return reading_then_finding(request)
        return saying("") if request.results("explode") else calling("explode")

    made = scripted(delegating(["first", "second"], subagent), subagents=True)
    run = scripted(subagent, server=made.server, subagents=True, tools=(*made.tools, explode))
    results = results_in_answer(run.ask().answer)
    assert [each["status"] for each in results] == ["insufficient_evidence", "ok"]


def test_the_ledger_keeps_delegations_outside_of_the_conversation(scripted: MakeRun) -> None:
    run = scripted(delegating(["first", "second"], reading_then_finding), subagents=True)
    outcome = run.ask()
    with run.team() as team:
        conversation = team.main().conversation
    ledger = conversation.delegations
    assert [each.body.composition for each in ledger] == ["exploratory"]
    assert sorted(ledger[0].results) == [0, 1]
    assert ledger[0].usage.calls == 4
    returned = [body for body in run.bodies() if isinstance(body, DelegationReturned)]
    delegated = sum(body.usage.tokens for body in returned)
    assert outcome.usage.tokens == delegated + own_tokens(run.server.requests)


def own_tokens(requests: Any) -> int:
    return sum(
        each.prompt_tokens + each.completion_tokens
        for each in requests
        if not is_subagent(ScriptedRequest(tuple(each.body["messages"])))
    )


def test_parts_of_one_answer_are_told_from_attempts_at_one_question() -> None:
    def tasks(*texts: tuple[str, str]) -> list[SubagentTask]:
        return [SubagentTask(task=t, context="c", expected_output=o) for t, o in texts]

    rivals = tasks(("Is it due to water?", "cause"), ("Or the tip?", "cause"))
    parts = tasks(("Find the melting point.", "°C"), ("Who discovered it?", "name"))
    assert composition_of(rivals) == "exploratory"
    assert composition_of(parts) == "constructive"
    assert composition_of(parts[:1]) == "constructive"

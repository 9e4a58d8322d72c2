"""What is shown of a long conversation, and what stays of the rest."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.events import StageCompacted
from sciagent.testing.agents import ScriptedRun, library
from sciagent.testing.model_server import (
    Behaviour,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    calling,
    saying,
)
from sciagent.tools.history import recall
from tests.agent.conftest import MakeRun
from tests.agent.scripts import calling_each

COUNT = 12
LONG = {
    f"https://example.org/{number}": f"Fact {number}: the mass is {number * 7} mg. "
    + f"filling {number} " * 500
    for number in range(COUNT)
}
FACT = re.compile(r"Fact (\d+): the mass is (\d+) mg")


def seen(request: ScriptedRequest) -> dict[str, str]:
    return dict(FACT.findall(" ".join(str(each.get("content")) for each in request.messages)))


def reviewing(request: ScriptedRequest) -> ScriptedAnswer:
    """Read page after page, and write facts down when asked to."""
    facts = seen(request)
    if len(facts) == COUNT:
        return saying(json.dumps(facts))
    calls = [ScriptedCall("read_page", {"url": f"https://example.org/{len(facts)}"})]
    if "Verification point" in request.last:
        here = FACT.findall(" ".join(request.results("read_page")))
        confirmed = [
            {
                "claim": f"Fact {number}: the mass is {mass} mg",
                "url": f"https://example.org/{number}",
                "quote": f"Fact {number}: the mass is {mass} mg",
            }
            for number, mass in here
        ]
        calls.insert(0, ScriptedCall("record_review", {"confirmed": confirmed}))
    return ScriptedAnswer(calls=tuple(calls))


def silent(request: ScriptedRequest) -> ScriptedAnswer:
    """Read page after page and never write anything down."""
    facts = seen(request)
    if len(facts) == COUNT:
        return saying(json.dumps(facts))
    return calling("read_page", url=f"https://example.org/{len(facts)}")


@pytest.fixture
def reading(scripted: MakeRun) -> ScriptedRun:
    return scripted(reviewing, tools=(library(LONG), recall))


def stages(run: ScriptedRun) -> list[StageCompacted]:
    return [body for body in run.bodies() if isinstance(body, StageCompacted)]


def test_a_long_reading_is_compacted_at_verification_points_and_nothing_is_lost(
    reading: ScriptedRun,
) -> None:
    outcome = reading.ask()
    assert json.loads(outcome.answer) == {str(n): str(7 * n) for n in range(COUNT)}
    assert len(stages(reading)) >= 3
    longest = max(each.prompt_tokens for each in reading.server.requests)
    assert longest < sum(len(text) for text in LONG.values()) / 4 / 2


def test_each_stretch_is_compacted_once_and_none_is_left_out(reading: ScriptedRun) -> None:
    reading.ask()
    records = [body.record for body in stages(reading)]
    assert records[0].first_message == 2
    for before, after in pairwise(records):
        assert after.first_message == before.last_message + 1
        assert after.stage == before.stage + 1
    messages = reading.messages()
    for record in records:
        called = {
            call.id
            for message in messages[record.first_message : record.last_message + 1]
            for call in message.tool_calls
        }
        answered = {
            message.tool_call_id
            for message in messages[record.first_message : record.last_message + 1]
            if message.role == "tool"
        }
        assert called == answered


def test_the_prompt_only_grows_between_compactions(reading: ScriptedRun) -> None:
    reading.ask()
    prompts = [each.body["messages"] for each in reading.server.requests]
    broken = 0
    for before, after in pairwise(prompts):
        if after[: len(before)] != before:
            broken += 1
            # The system message, the task and all records until now stay as they were.
            assert after[0] == before[0]
            assert after[1]["content"].startswith(before[1]["content"].partition("\n⟦end")[0])
    assert broken == len(stages(reading))
    tools = [each.body.get("tools") for each in reading.server.requests]
    assert all(each == tools[0] for each in tools)


def test_a_resumed_agent_sends_the_same_prompt(reading: ScriptedRun, scripted: MakeRun) -> None:
    reading.ask()
    whole = [each.body["messages"] for each in reading.server.requests]
    journal = reading.layout.journal.read_text().splitlines(keepends=True)
    kinds = [json.loads(line)["body"]["kind"] for line in journal]
    answers = [place for place, kind in enumerate(kinds) if kind == "model_answered"]
    for number in (3, 7, 10):
        folder = Path(reading.folder.parent / f"again-{number}")
        run = scripted(reviewing, tools=reading.tools, folder=folder)
        folder.mkdir()
        (folder / "sources").symlink_to(reading.folder / "sources")
        run.layout.journal.write_text("".join(journal[: answers[number]]))
        run.ask()
        assert parsed(run.server.requests[0].body["messages"]) == parsed(whole[number])


def parsed(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages with the arguments of calls read: the journal sorts their names."""
    calls = [call["function"] for each in messages for call in each.get("tool_calls", ())]
    for function in calls:
        if isinstance(function["arguments"], str):
            function["arguments"] = json.loads(function["arguments"])
    return messages


def test_what_was_taken_out_of_the_prompt_comes_back_by_recall(scripted: MakeRun) -> None:
    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        recalled = request.results("recall")
        if recalled:
            return saying(recalled[0])
        if len(seen(request)) == COUNT:
            record = request.texts("user")[0]
            assert "filling 0" not in json.dumps(request.messages)
            assert "messages 2 to" in record
            return calling("recall", message=3)
        return reviewing(request)

    run = scripted(policy, tools=(library(LONG), recall))
    assert "filling 0" in run.ask().answer


def test_pages_of_which_nothing_was_written_down_stay_longer(scripted: MakeRun) -> None:
    run = scripted(silent, tools=(library(LONG),))
    outcome = run.ask()
    assert len(json.loads(outcome.answer)) == COUNT
    assert len(stages(run)) <= 1


@pytest.mark.parametrize("overflow", ["openai", "vllm", "sglang", "llama_cpp", "lm_studio"])
def test_a_window_of_unknown_size_is_learned_from_the_endpoint(
    scripted: MakeRun, overflow: str
) -> None:
    behaviour = Behaviour(context_tokens=6000, overflow=overflow)  # type: ignore[arg-type]
    run = scripted(
        silent, tools=(library(LONG),), stretch_tokens=100_000, behaves={"behaviour": behaviour}
    )
    outcome = run.ask()
    assert outcome.status == "completed"
    assert len(json.loads(outcome.answer)) == COUNT


def test_a_known_window_is_kept_to_without_an_error(scripted: MakeRun) -> None:
    behaviour = Behaviour(context_tokens=8000)
    run = scripted(
        silent, tools=(library(LONG),), stretch_tokens=100_000, context_tokens=8000,
        behaves={"behaviour": behaviour},
    )  # fmt: skip
    assert len(json.loads(run.ask().answer)) == COUNT
    assert {each.status for each in run.server.requests} == {200}


def test_one_result_that_is_longer_than_the_window_is_shown_by_its_ends(
    scripted: MakeRun,
) -> None:
    page = {"https://example.org/0": f"Begin. {'word ' * 3000} The end."}

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        results = request.results("read_page")
        if results:
            return saying("both" if "Begin." in results[0] and "The end." in results[0] else "no")
        return calling("read_page", url="https://example.org/0")

    run = scripted(
        policy, tools=(library(page),), behaves={"behaviour": Behaviour(context_tokens=2500)}
    )
    outcome = run.ask()
    assert (outcome.status, outcome.answer) == ("completed", "both")


def test_a_window_that_was_burst_once_can_be_burst_again(scripted: MakeRun) -> None:
    count = 4
    pages = {
        f"https://example.org/{number}": f"Begin {number}. {'word ' * 4000} The end."
        for number in range(count)
    }

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        told = " ".join(str(each.get("content")) for each in request.messages)
        read = len(set(re.findall(r"Begin (\d)\.", told)))
        if read == count or "Begin 3." in told:
            return saying("all")
        last = max((int(each) for each in re.findall(r"Begin (\d)\.", told)), default=-1)
        return calling("read_page", url=f"https://example.org/{last + 1}")

    run = scripted(
        policy, tools=(library(pages),), stretch_tokens=100_000,
        behaves={"behaviour": Behaviour(context_tokens=3000)},
    )  # fmt: skip
    outcome = run.ask()
    assert (outcome.status, outcome.answer) == ("completed", "all")


def test_a_prompt_that_can_never_fit_ends_with_a_partial_answer(scripted: MakeRun) -> None:
    behaviour = Behaviour(context_tokens=200)
    run = scripted(silent, tools=(library(LONG),), behaves={"behaviour": behaviour})
    outcome = run.ask()
    assert (outcome.status, bool(outcome.answer)) == ("failed", True)


def test_notes_survive_the_compaction_of_a_stage(scripted: MakeRun) -> None:
    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        facts = seen(request)
        if len(facts) == COUNT:
            return saying(json.dumps(facts))
        read = ("read_page", {"url": f"https://example.org/{len(facts)}"})
        if "Verification point" in request.last:
            notes = FACT.findall(" ".join(request.results("read_page")))
            text = "; ".join(f"Fact {number}: the mass is {mass} mg" for number, mass in notes)
            return calling_each(("take_note", {"text": text}), read)
        return calling_each(read)

    from sciagent.tools.notes import take_note

    run = scripted(policy, tools=(library(LONG), take_note))
    assert len(json.loads(run.ask().answer)) == COUNT
    assert len(stages(run)) >= 3

"""Whatever a server breaks, the next message is what the model meant, or says what is wrong."""

import time
from typing import Any

import pytest

from sciagent.contracts.conversation import Answer, Message
from sciagent.contracts.errors import ContextOverflowError, EndpointError
from sciagent.testing.model_server import (
    Behaviour,
    Fault,
    Faults,
    ModelServer,
    ScriptedAnswer,
    ScriptedCall,
    in_turn,
    saying,
)
from tests.llm.conversations import CONVERSATION, QUESTION, TOOLS, model

BOTH = pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])
ARGUMENTS = {"key": 'print("</parameter>")\nAnd more'}
CALLS = ScriptedAnswer(
    content="I look.",
    reasoning="It is known.",
    calls=(ScriptedCall("lookup", ARGUMENTS), ScriptedCall("lookup", {"key": "b"})),
)
# What has to be recorded, and how many requests it takes.
RECOVERED = {
    "call_in_reasoning": ("call_in_reasoning", 1),
    "double_encoded_arguments": ("double_encoded_arguments", 1),
    "dropped_connection": ("retried_connection", 2),
    "dropped_stream": ("retried_connection", 2),
    "duplicate_ids": ("duplicate_id", 1),
    "http_429": ("retried_rate_limit", 2),
    "http_429_retry_after": ("retried_rate_limit", 2),
    "http_500_parser": ("retried_server_error", 2),
    "http_503_burst": ("retried_overload", 4),
    "json_call_in_content": ("call_in_content", 1),
    "malformed_json": ("retried_malformed", 2),
    "parameter_end_inside_argument": ("call_in_content", 1),
    "xml_call_in_content": ("call_in_content", 1),
}
RECOVERED_WHILE_STREAMING = {
    "lmstudio_empty_stream": ("retried_empty_stream", 2),
    "stream_error": ("retried_stream_error", 2),
}


def asked(fault: str | Fault, stream: bool) -> tuple[Answer, ModelServer]:
    faults = Faults(fault)
    with (
        ModelServer(in_turn(CALLS), faults=faults) as server,
        model(server, stream=stream) as client,
    ):
        return client.complete(CONVERSATION, TOOLS), server


def assert_meant(answer: Answer) -> None:
    first, second = answer.message.tool_calls
    assert (first.name, first.arguments, first.fault) == ("lookup", ARGUMENTS, "")
    assert (second.name, second.arguments, second.fault) == ("lookup", {"key": "b"}, "")
    assert first.id != second.id
    assert answer.finish == "tool_calls"


@BOTH
@pytest.mark.parametrize("name", sorted(RECOVERED))
def test_the_calls_that_were_meant_are_recovered_from(name: str, stream: bool) -> None:
    answer, server = asked(name, stream)
    assert_meant(answer)
    repair, requests = RECOVERED[name]
    assert repair in answer.repairs
    assert len(server.requests) == requests
    assert answer.message.reasoning.startswith("It is known.")
    assert "<tool_call>" not in answer.message.content + answer.message.reasoning


@pytest.mark.parametrize("name", sorted(RECOVERED_WHILE_STREAMING))
def test_an_answer_is_asked_for_in_one_piece_when_streaming_fails(name: str) -> None:
    answer, server = asked(name, stream=True)
    assert_meant(answer)
    repair, requests = RECOVERED_WHILE_STREAMING[name]
    assert (answer.repairs, len(server.requests)) == ((repair,), requests)
    assert [bool(each.body.get("stream")) for each in server.requests] == [True, False]


def test_parallel_calls_with_one_index_are_told_apart() -> None:
    answer, _ = asked("merged_parallel_calls", stream=True)
    assert_meant(answer)


@BOTH
def test_an_endpoint_that_restarts_is_waited_for(stream: bool) -> None:
    script = in_turn(CALLS)
    with (
        ModelServer(script, faults=Faults("restart")) as server,
        model(server, stream=stream, pause=lambda _: time.sleep(0.15)) as client,
    ):
        answer = client.complete(CONVERSATION, TOOLS)
    assert_meant(answer)
    assert set(answer.repairs) == {"retried_connection"}


@BOTH
def test_truncated_arguments_become_a_fault_and_are_never_completed(stream: bool) -> None:
    answer, _ = asked("truncated_arguments", stream)
    first, second = answer.message.tool_calls
    assert (first.name, first.arguments) == ("lookup", {})
    assert "cut off" in first.fault
    assert (second.arguments, second.fault) == ({"key": "b"}, "")


@BOTH
@pytest.mark.parametrize("name", ["truncated_arguments", "empty_arguments", "unknown_tool"])
def test_a_broken_call_goes_back_in_a_form_that_strict_servers_take(
    name: str, stream: bool
) -> None:
    script = in_turn(CALLS, saying("Done."))
    with (
        ModelServer(script, faults=Faults(name)) as server,
        model(server, stream=stream) as client,
    ):
        first = client.complete(CONVERSATION, TOOLS).message
        results = [
            Message(role="tool", content=call.fault or "ok", tool_call_id=call.id)
            for call in first.tool_calls
        ]
        answer = client.complete([*CONVERSATION, first, *results], TOOLS)
    assert answer.message.content == "Done."
    assert len(server.requests) == 2


@BOTH
@pytest.mark.parametrize(
    ("name", "reasoning"), [("think_only", "It is known."), ("empty_message", "")]
)
def test_a_message_without_an_answer_is_given_as_it_is(
    name: str, reasoning: str, stream: bool
) -> None:
    answer, _ = asked(name, stream)
    assert answer.message == Message(role="assistant", reasoning=reasoning)
    assert answer.finish == "stop"


@BOTH
@pytest.mark.parametrize("form", ["openai", "vllm", "sglang", "llama_cpp", "lm_studio"])
def test_a_conversation_that_is_too_long_is_recognised_in_every_dialect(
    form: Any, stream: bool
) -> None:
    behaviour = Behaviour(context_tokens=500, overflow=form)
    long = [Message(role="user", content="word " * 2000)]
    with (
        ModelServer(in_turn(saying("Yes.")), behaviour=behaviour) as server,
        model(server, stream=stream) as client,
    ):
        with pytest.raises(ContextOverflowError) as caught:
            client.complete(long, TOOLS)
        assert client.complete([QUESTION], ()).message.content == "Yes."
    told = None if form == "lm_studio" else 500
    assert caught.value.n_ctx == told
    if told is not None:
        assert caught.value.n_prompt_tokens == server.requests[0].prompt_tokens


def test_nothing_in_answer_to_a_short_conversation_is_no_overflow() -> None:
    faults = Faults(Fault("lmstudio_empty_stream", times=9))
    with (
        ModelServer(in_turn(saying("Yes.")), faults=faults) as server,
        model(server, stream=True) as client,
    ):
        assert client.complete([QUESTION], ()).message.content == "Yes."
    assert len(server.requests) == 2


@pytest.mark.parametrize("attempts", [1, 3])
def test_tries_are_bounded_and_the_last_failure_is_told(attempts: int) -> None:
    faults = Faults(Fault("http_500_parser", times=99))
    with (
        ModelServer(in_turn(saying("Yes.")), faults=faults) as server,
        model(server, attempts=attempts) as client,
        pytest.raises(EndpointError, match=r"answered 500: Failed to parse input"),
    ):
        client.complete([QUESTION], ())
    assert len(server.requests) == attempts


def waits(server: ModelServer, calls: int = 1) -> list[float]:
    """Waits of a client between its tries, which are told and not made."""
    found: list[float] = []
    with model(server, pause=found.append) as client:
        for _ in range(calls):
            client.complete([QUESTION], ())
    return found


def test_waits_grow_and_differ_by_chance() -> None:
    faults = Faults(Fault("http_503_burst", times=4))
    with ModelServer(in_turn(saying("Yes.")), faults=faults) as server:
        found = waits(server)
    assert len(found) == 4
    for place, seconds in enumerate(found):
        assert 0.25 * 2**place <= seconds <= 0.5 * 2**place
    assert len({seconds / 2**place for place, seconds in enumerate(found)}) == 4


def test_the_time_that_the_server_asks_for_is_waited() -> None:
    faults = Faults("http_429_retry_after")
    with ModelServer(in_turn(saying("Yes.")), faults=faults) as server:
        (seconds,) = waits(server)
    assert 1.0 <= seconds <= 1.1


def test_what_is_heard_of_an_answer_that_breaks_off_is_declared_void() -> None:
    heard: list[tuple[str, str]] = []
    faults = Faults("dropped_stream")
    script = in_turn(saying("A long answer. " * 30))
    with ModelServer(script, faults=faults) as server, model(server) as client:
        answer = client.complete([QUESTION], (), heard=lambda *piece: heard.append(piece))
    again = heard.index(("again", ""))
    assert again > 0
    assert "".join(text for _, text in heard[again + 1 :]) == answer.message.content


@BOTH
def test_a_field_that_the_endpoint_does_not_know_is_left_out_from_then_on(stream: bool) -> None:
    behaviour = Behaviour(refuses=("top_k", "min_p", "stream_options"))
    with (
        ModelServer(in_turn(saying("Yes.")), behaviour=behaviour) as server,
        model(server, stream=stream, attempts=1) as client,
    ):
        first = client.complete([QUESTION], ())
        tries = len(server.requests)
        second = client.complete([QUESTION], ())
    assert {"dropped_top_k", "dropped_min_p"} <= set(first.repairs)
    assert second.repairs == ()
    assert len(server.requests) == tries + 1
    assert server.requests[-1].body["temperature"] == 1.0


def test_verification_is_never_left_out_in_silence() -> None:
    behaviour = Behaviour(refuses=("chat_template_kwargs",))
    with (
        ModelServer(in_turn(saying("Yes.")), behaviour=behaviour) as server,
        model(server) as client,
        pytest.raises(EndpointError, match="chat_template_kwargs"),
    ):
        client.complete(CONVERSATION, (), verification=True)

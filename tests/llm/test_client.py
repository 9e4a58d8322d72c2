"""The client asks, hears, gives up when it is told to, and counts."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.conversation import Image, Message
from sciagent.contracts.endpoint import Sampling
from sciagent.contracts.errors import EndpointError, InputError
from sciagent.contracts.ports import Model
from sciagent.llm import EndpointModel
from sciagent.testing.model_server import (
    Behaviour,
    Latency,
    ModelServer,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from sciagent.testing.model_server.frames import ReasoningField
from tests.llm.conversations import CONVERSATION, LOOKUP, QUESTION, SYSTEM, TOOLS, model

BOTH = pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])
THINKING = ScriptedAnswer(
    content="I look it up.",
    reasoning="The table has it.",
    calls=(ScriptedCall("lookup", {"key": "Å"}), ScriptedCall("spread", {"count": 3})),
)


@BOTH
def test_an_answer_with_thought_and_parallel_calls_is_read(stream: bool) -> None:
    with ModelServer(in_turn(THINKING)) as server, model(server, stream=stream) as client:
        answer = client.complete(CONVERSATION, TOOLS)
    assert answer.message.content == "I look it up."
    assert answer.message.reasoning == "The table has it."
    assert [call.arguments for call in answer.message.tool_calls] == [{"key": "Å"}, {"count": 3}]
    assert (answer.finish, answer.repairs) == ("tool_calls", ())
    assert answer.usage.prompt_tokens > answer.usage.completion_tokens > 0


def test_the_client_is_a_model_as_the_contract_says() -> None:
    with ModelServer(in_turn(saying("Yes."))) as server, model(server) as client:
        port: Model = client
        assert port.complete([QUESTION], ()).message.content == "Yes."


def test_the_sampling_of_the_model_card_is_sent_unless_it_is_changed() -> None:
    cold = Sampling(temperature=0.0, top_k=None, max_tokens=9)
    with ModelServer(in_turn(saying("Yes."))) as server:
        with model(server) as client:
            client.complete([QUESTION], ())
        with model(server, sampling=cold, extra_body={"min_tokens": 2}) as client:
            client.complete([QUESTION], ())
    first, second = (request.body for request in server.requests)
    card = {
        "temperature": 1.0, "top_p": 0.95, "top_k": 20, "min_p": 0.0, "presence_penalty": 1.5,
        "repetition_penalty": 1.0,
    }  # fmt: skip
    assert {name: first[name] for name in card} == card
    assert "max_tokens" not in first
    assert (second["temperature"], second["max_tokens"], second["min_tokens"]) == (0.0, 9, 2)
    assert "top_k" not in second


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "think_tags"])
@BOTH
def test_reasoning_is_read_wherever_it_stands_and_echoed_in_both_fields(
    field: ReasoningField, stream: bool
) -> None:
    behaviour = Behaviour(reasoning_field=field)
    script = in_turn(THINKING, saying("Done."))
    heard: dict[str, str] = {"content": "", "reasoning": ""}

    def hear(channel: str, text: str) -> None:
        heard[channel] += text

    with ModelServer(script, behaviour=behaviour) as server, model(server, stream=stream) as client:
        first = client.complete(CONVERSATION, TOOLS, heard=hear).message
        results = [
            Message(role="tool", content="80", tool_call_id=call.id) for call in first.tool_calls
        ]
        client.complete([*CONVERSATION, first, *results], TOOLS)
    assert first.reasoning == "The table has it."
    assert heard["content"].strip() == first.content == "I look it up."
    assert heard["reasoning"].strip() == first.reasoning
    echoed = server.requests[1].body["messages"][2]
    assert echoed["reasoning"] == echoed["reasoning_content"] == first.reasoning


def test_pieces_are_heard_as_they_arrive_and_make_up_the_answer() -> None:
    text = "All the words of an answer that is longer than one piece of a stream. " * 9
    heard: list[tuple[str, str]] = []
    with ModelServer(in_turn(saying(text))) as server, model(server) as client:
        answer = client.complete(
            [QUESTION], (), heard=lambda channel, piece: heard.append((channel, piece))
        )
    assert len(heard) > 5
    assert "".join(piece for _, piece in heard) == answer.message.content == text


@pytest.mark.parametrize(
    "latency", [Latency(rtt_s=30.0), Latency(decode_tokens_per_s=2.0)], ids=["silent", "slow"]
)
def test_a_call_is_given_up_soon_after_it_is_cancelled_even_while_nothing_arrives(
    latency: Latency,
) -> None:
    asked = threading.Event()
    with (
        ModelServer(in_turn(saying("word " * 400)), latency=latency) as server,
        model(server) as client,
    ):
        threading.Timer(0.2, asked.set).start()
        answer = client.complete([QUESTION], TOOLS, cancelled=asked.is_set)
    assert answer.finish == "interrupted"
    assert answer.wall_s < 5.0
    assert answer.message.tool_calls == ()


def test_what_had_arrived_of_a_cancelled_answer_is_kept_without_half_a_call() -> None:
    stop = threading.Event()
    script = in_turn(ScriptedAnswer("Word " * 40, calls=(ScriptedCall("lookup", {"key": "a"}),)))
    latency = Latency(decode_tokens_per_s=400.0)
    with ModelServer(script, latency=latency) as server, model(server) as client:
        answer = client.complete(
            [QUESTION], TOOLS, heard=lambda *_: stop.set(), cancelled=stop.is_set
        )
    assert answer.finish == "interrupted"
    assert answer.message.content.startswith("Word Word")
    assert answer.message.tool_calls == ()
    assert answer.usage.calls == 1


def test_the_server_learns_that_nobody_waits_for_a_cancelled_answer() -> None:
    stop = threading.Event()
    latency = Latency(decode_tokens_per_s=2000.0)
    with ModelServer(in_turn(saying("word " * 4000)), latency=latency) as server:
        with model(server) as client:
            client.complete([QUESTION], (), heard=lambda *_: stop.set(), cancelled=stop.is_set)
        while not server.requests[0].ended_s:
            time.sleep(0.01)
    assert server.requests[0].aborted


def test_a_wait_between_two_tries_ends_when_the_call_is_cancelled() -> None:
    stop = threading.Event()

    def pause(seconds: float) -> None:
        stop.set()

    with ModelServer(in_turn(saying("Yes."))) as server:
        server.restart(down_s=30.0)
        time.sleep(0.1)
        with model(server, pause=pause) as client:
            answer = client.complete([QUESTION], (), cancelled=stop.is_set)
    assert (answer.finish, answer.repairs[0]) == ("interrupted", "retried_connection")


def test_a_cancelled_call_leaves_the_client_usable() -> None:
    with ModelServer(in_turn(saying("Yes."))) as server, model(server) as client:
        assert client.complete([QUESTION], (), cancelled=lambda: True).finish == "interrupted"
        assert client.complete([QUESTION], ()).message.content == "Yes."


def test_verification_is_a_json_boolean_beside_other_switches_of_the_template() -> None:
    switches = {"chat_template_kwargs": {"enable_thinking": True}}
    with (
        ModelServer(in_turn(saying("Yes."))) as server,
        model(server, extra_body=switches) as client,
    ):
        client.complete(CONVERSATION, (), verification=True)
        client.complete(CONVERSATION, ())
    asked, plain = (request.body for request in server.requests)
    assert asked["chat_template_kwargs"] == {"enable_thinking": True, "verification": True}
    assert plain["chat_template_kwargs"] == {"enable_thinking": True}
    assert asked["messages"] == plain["messages"]


def test_verification_by_prompt_ends_the_system_message_with_the_protocol() -> None:
    with (
        ModelServer(in_turn(saying("Yes."))) as server,
        model(server, verification="prompt") as client,
    ):
        client.complete(CONVERSATION, (), verification=True)
    body = server.requests[0].body
    system = body["messages"][0]["content"]
    assert system.startswith(f"{SYSTEM.content}\n\nVerification protocol: enabled\n")
    assert "chat_template_kwargs" not in body


@pytest.mark.parametrize("content", ["", "  \n"])
@pytest.mark.parametrize("way", ["template", "prompt"])
def test_verification_without_a_system_message_is_refused_before_anything_is_sent(
    content: str, way: str
) -> None:
    blank = Message(role="system", content=content)
    with ModelServer(in_turn(saying("Yes."))) as server, model(server, verification=way) as client:
        with pytest.raises(InputError, match="system message that is not empty"):
            client.complete([blank, QUESTION], (), verification=True)
        assert server.requests == ()


def test_cached_tokens_and_cost_are_counted() -> None:
    prices: dict[str, Any] = {"prompt_usd_per_million": 2.0, "completion_usd_per_million": 10.0}
    with ModelServer(in_turn(saying("Yes."))) as server, model(server, **prices) as client:
        first = client.complete(CONVERSATION, TOOLS).usage
        second = client.complete(CONVERSATION, TOOLS).usage
    assert (first.cached_tokens, second.cached_tokens) == (0, second.prompt_tokens)
    both = first + second
    assert both == server.usage.model_copy(update={"cost_usd": both.cost_usd})
    assert both.cost_usd == pytest.approx(
        (2.0 * both.prompt_tokens + 10.0 * both.completion_tokens) / 1e6
    )


@BOTH
def test_usage_is_estimated_where_the_endpoint_does_not_tell_it(stream: bool) -> None:
    silent = Behaviour(tells_usage=False)
    script = in_turn(saying("Eighty degrees."))
    with ModelServer(script, behaviour=silent) as server, model(server, stream=stream) as client:
        answer = client.complete(CONVERSATION, TOOLS)
    assert answer.repairs == ("usage_estimated",)
    told = server.usage
    assert answer.usage.prompt_tokens == pytest.approx(told.prompt_tokens, rel=0.1)
    assert answer.usage.completion_tokens > 0


def test_pictures_are_sent_where_the_endpoint_takes_them(tmp_path: Path) -> None:
    (tmp_path / "figure.png").write_bytes(b"picture")
    image = Image(path="figure.png", sha256="0" * 64)
    gone = Image(path="gone.png", sha256="0" * 64)
    shown = Message(role="user", content="Look.", images=(image, gone))
    with ModelServer(in_turn(saying("Blue."))) as server:
        seeing = server.endpoint.model_copy(update={"images": True})
        for endpoint in (seeing, server.endpoint):
            client = EndpointModel(endpoint, root=tmp_path)
            client.complete([shown], ())
            client.close()
    parts, text = (request.body["messages"][0]["content"] for request in server.requests)
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert urls == ["data:image/png;base64,cGljdHVyZQ=="]
    assert any("no longer there" in part.get("text", "") for part in parts)
    assert text == "Look.\n[picture: figure.png]\n[picture: gone.png]"


def test_the_key_comes_from_the_variable_that_the_endpoint_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KEY_OF_THE_TEST", "a secret")
    script = in_turn(saying("Yes."))
    with ModelServer(script) as server, model(server, api_key_variable="KEY_OF_THE_TEST") as client:
        client.complete([QUESTION], ())
    assert server.requests[0].authorization == "Bearer a secret"


def test_serial_endpoints_are_asked_for_one_call_at_a_time() -> None:
    script = in_turn(calling("lookup", key="a"))
    with ModelServer(script) as server, model(server, parallel_tool_calls=False) as client:
        client.complete(CONVERSATION, TOOLS)
        client.complete(CONVERSATION, ())
    with_tools, without = (request.body for request in server.requests)
    assert with_tools["parallel_tool_calls"] is False
    assert "parallel_tool_calls" not in without


def test_a_hundred_conversations_at_once_do_not_touch_each_other() -> None:
    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        told = request.results("lookup")
        return (
            calling("lookup", key=request.texts("user")[0]) if len(told) < 3 else saying(told[-1])
        )

    with ModelServer(policy) as server, model(server) as client:

        def converse(name: str) -> str:
            messages = [Message(role="user", content=name)]
            while True:
                messages.append(client.complete(messages, (LOOKUP,)).message)
                if not messages[-1].tool_calls:
                    return messages[-1].content
                for call in messages[-1].tool_calls:
                    found = f"found {call.arguments['key']}"
                    messages.append(Message(role="tool", content=found, tool_call_id=call.id))

        with ThreadPoolExecutor(100) as pool:
            answers = list(pool.map(converse, [str(number) for number in range(100)]))
    assert answers == [f"found {number}" for number in range(100)]
    assert len(server.requests) == 400


def test_a_wrong_address_is_said_with_what_to_do() -> None:
    with ModelServer(in_turn(saying("Yes."))) as server:
        wrong = server.base_url.replace("/v1", "/v2")
        with model(server, base_url=wrong) as client, pytest.raises(EndpointError) as caught:
            client.complete([QUESTION], ())
    assert "404" in caught.value.message
    assert "up to `/v1`" in caught.value.remedy


def test_the_beginning_of_a_request_stays_the_same_bytes_as_the_conversation_grows() -> None:
    script = in_turn(THINKING, saying("Done."))
    with ModelServer(script) as server, model(server) as client:
        messages = list(CONVERSATION)
        first = client.complete(messages, TOOLS).message
        results = [Message(role="tool", content="1", tool_call_id=c.id) for c in first.tool_calls]
        client.complete([*messages, first, *results], TOOLS)
    second = server.requests[1]
    assert second.cached_tokens == server.requests[0].prompt_tokens
    assert second.body["tools"] == server.requests[0].body["tools"]

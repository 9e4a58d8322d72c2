"""The scripted server speaks as real ones do, fails when it is told to, and counts what it got."""

import contextlib
import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sciagent.testing.model_server import (
    FAULT_NAMES,
    Behaviour,
    Fault,
    Faults,
    Latency,
    ModelServer,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from sciagent.testing.model_server.accounting import PrefixCache, serialised, tokens

USER = {"role": "user", "content": "What is the melting point of iron?"}
TOOL = {"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}}
CALL = {"id": "a", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "1538 °C"}


def post(server: ModelServer, *messages: Any, **fields: Any) -> tuple[int, str]:
    """Send a request without the client under test; status and text of the answer."""
    body = {"model": "scripted", "messages": messages, **fields}
    request = urllib.request.Request(
        f"{server.base_url}/chat/completions", json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )  # fmt: skip
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def message_of(answer: tuple[int, str]) -> dict[str, Any]:
    status, text = answer
    assert status == 200
    found: dict[str, Any] = json.loads(text)["choices"][0]["message"]
    return found


def events_of(text: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def test_an_answer_in_one_piece_has_message_reason_and_usage() -> None:
    answer = ScriptedAnswer("I look.", "Hm.", (ScriptedCall("lookup", {"key": "iron"}),))
    with ModelServer(in_turn(answer)) as server:
        status, text = post(server, USER)
    response = json.loads(text)
    choice = response["choices"][0]
    assert (status, choice["finish_reason"]) == (200, "tool_calls")
    assert choice["message"]["content"] == "I look."
    assert choice["message"]["reasoning_content"] == "Hm."
    call = choice["message"]["tool_calls"][0]
    assert json.loads(call["function"]["arguments"]) == {"key": "iron"}
    usage = response["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_stream_says_the_same_in_pieces() -> None:
    long = "words " * 50
    with ModelServer(in_turn(saying(long, "Hm."))) as server:
        _, text = post(server, USER, stream=True)
    events = events_of(text)
    deltas = [event["choices"][0]["delta"] for event in events[:-1]]
    assert "".join(delta.get("content", "") for delta in deltas) == long
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "Hm."
    assert events[-2]["choices"][0]["finish_reason"] == "stop"
    assert events[-1]["usage"]["prompt_tokens"] == server.usage.prompt_tokens


def test_a_policy_sees_messages_and_tools_and_nothing_of_earlier_requests() -> None:
    seen: list[ScriptedRequest] = []

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        seen.append(request)
        return saying("Yes.")

    with ModelServer(policy) as server:
        post(server, {"role": "system", "content": "S"}, USER, CALLS, RESULT, tools=[TOOL])
        post(server, USER, chat_template_kwargs={"verification": False})
    first, second = seen
    assert (first.system, first.last, first.tool_names) == ("S", "1538 °C", ("lookup",))
    assert (first.results("lookup"), first.texts("user")) == (("1538 °C",), (USER["content"],))
    assert (second.tools, second.system, second.verification) == ((), "", False)


def test_answers_in_turn_follow_the_conversation_and_not_the_clock() -> None:
    script = in_turn(calling("lookup", key="iron"), saying("1538 °C"))
    with ModelServer(script) as server:
        assert "tool_calls" in message_of(post(server, USER))
        assert "tool_calls" in message_of(post(server, USER))
        for _ in range(2):
            assert message_of(post(server, USER, CALLS, RESULT))["content"] == "1538 °C"


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "no messages"),
        ([USER, {"role": "system", "content": "S"}], "beginning"),
        ([{"role": "system", "content": "S"}], "No user query"),
        ([USER, CALLS], "without an answer"),
        ([USER, CALLS, USER], "without an answer"),
        ([USER, RESULT], "answers no call"),
        ([USER, CALLS, RESULT, CALLS, RESULT], "used twice"),
        ([USER, {**CALLS, "tool_calls": [{**CALL, "function": {"name": "x", "arguments": '{"a'}}]},
          RESULT], "not valid JSON"),
    ],
)  # fmt: skip
def test_a_strict_server_refuses_what_real_ones_refuse(messages: Any, complaint: str) -> None:
    with ModelServer(in_turn(saying("Yes."))) as server:
        status, text = post(server, *messages)
    assert status == 400
    assert complaint in text
    assert server.usage.calls == 0


def test_a_lenient_server_takes_it_all() -> None:
    lenient = Behaviour(strict=False)
    with ModelServer(in_turn(saying("Yes.")), behaviour=lenient) as server:
        assert post(server, USER, CALLS)[0] == 200


@pytest.mark.parametrize("switch", ["true", 1])
def test_verification_has_to_be_a_json_boolean(switch: object) -> None:
    with ModelServer(in_turn(saying("Yes."))) as server:
        fields = {"chat_template_kwargs": {"verification": switch}}
        assert post(server, {"role": "system", "content": "S"}, USER, **fields)[0] == 400


def test_a_prefix_cache_counts_the_longest_beginning_that_any_earlier_request_had() -> None:
    cache = PrefixCache()
    first = {"messages": [USER], "tools": [TOOL]}
    longer = {"messages": [USER, {"role": "assistant", "content": "1538 °C"}], "tools": [TOOL]}
    forked = {"messages": [USER, {"role": "assistant", "content": "1500 °C"}], "tools": [TOOL]}
    whole, _ = cache.count(first)
    assert cache.count(longer)[1] == whole
    total, shared = cache.count(forked)
    beginning = '{"role": "assistant", "content": "15'
    assert shared == tokens(len(serialised([TOOL])) + len(serialised(USER)) + len(beginning))
    assert cache.count(forked) == (total, total)
    assert cache.count({"messages": [USER]})[1] == 0


def test_time_is_taken_for_the_part_of_a_prompt_that_is_not_cached() -> None:
    latency = Latency(rtt_s=0.01, prefill_tokens_per_s=1000.0)
    long = {"role": "user", "content": "word " * 120}
    with ModelServer(in_turn(saying("Yes.")), latency=latency) as server:
        post(server, long)
        post(server, long)
    first, second = server.requests
    assert first.prompt_tokens == second.cached_tokens > 100
    assert first.ended_s - first.started_s >= 0.01 + first.prompt_tokens / 1000.0


def test_what_the_policy_raises_is_answered_and_raised_again() -> None:
    def policy(_: ScriptedRequest) -> ScriptedAnswer:
        raise KeyError("no such page")

    with pytest.raises(KeyError, match="no such page"), ModelServer(policy) as server:
        assert post(server, USER)[0] == 500


def test_faults_happen_to_the_requests_they_are_planned_for() -> None:
    faults = Faults(
        Fault("http_429", at=1, times=2),
        Fault("empty_message", when=lambda request: "iron" not in request.last),
    )
    with ModelServer(in_turn(saying("Yes.")), faults=faults) as server:
        for content in ("iron", "iron", "iron", "tin", "iron", "tin"):
            post(server, {"role": "user", "content": content})
    assert [request.fault for request in server.requests] == [
        "", "http_429", "http_429", "empty_message", "", "",
    ]  # fmt: skip


def test_a_fault_of_calls_waits_for_an_answer_with_calls() -> None:
    script = in_turn(saying("Wait."), calling("lookup", key="iron"))
    with ModelServer(script, faults=Faults("xml_call_in_content")) as server:
        assert message_of(post(server, USER))["content"] == "Wait."
        later = message_of(post(server, USER, {"role": "assistant", "content": "Wait."}))
    assert later["content"].startswith("<tool_call>\n<function=lookup>")
    assert "tool_calls" not in later


@pytest.mark.parametrize("name", FAULT_NAMES)
def test_every_fault_can_be_planned_and_is_written_down(name: str) -> None:
    script = in_turn(calling("lookup", key="iron"))
    with ModelServer(script, faults=Faults(name)) as server:
        with contextlib.suppress(OSError, http.client.HTTPException):
            post(server, USER, stream=True)
        assert [request.fault for request in server.requests] == [name]


def test_an_unknown_fault_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no fault 'http_418'.*http_429"):
        Faults("http_418")


@pytest.mark.parametrize(
    ("form", "told"),
    [("openai", "context_length_exceeded"), ("vllm", "BadRequestError"),
     ("sglang", "longer than"), ("llama_cpp", "n_ctx")],
)  # fmt: skip
def test_a_window_is_kept_in_the_words_of_each_server(form: Any, told: str) -> None:
    behaviour = Behaviour(context_tokens=100, overflow=form)
    with ModelServer(in_turn(saying("Yes.")), behaviour=behaviour) as server:
        assert post(server, USER)[0] == 200
        status, text = post(server, {"role": "user", "content": "word " * 200})
    assert status == 400
    assert told in text


def test_a_server_that_restarts_comes_back_at_the_same_address() -> None:
    with ModelServer(in_turn(saying("Yes."))) as server:
        before = server.base_url
        server.restart(down_s=0.05)
        answered: list[int] = []
        while not answered:
            with contextlib.suppress(OSError):
                answered.append(post(server, USER)[0])
            time.sleep(0.01)
        assert (answered, server.base_url) == ([200], before)


def test_a_server_that_ends_leaves_no_thread_and_no_port_behind() -> None:
    before = set(threading.enumerate())
    slow = Latency(rtt_s=60.0)
    with ThreadPoolExecutor(1) as pool:
        with ModelServer(in_turn(saying("Yes.")), latency=slow) as server:
            waiting = pool.submit(post, server, USER)
            while not server.requests:
                time.sleep(0.01)
        assert isinstance(waiting.exception(), OSError)
    with pytest.raises(urllib.error.URLError):
        post(server, USER)
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=10)
    assert set(threading.enumerate()) <= before


def test_a_hundred_conversations_at_once_are_answered() -> None:
    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        return saying(request.last)

    with ModelServer(policy) as server, ThreadPoolExecutor(100) as pool:

        def ask(number: int) -> str:
            told = message_of(post(server, {"role": "user", "content": str(number)}))
            return str(told["content"])

        assert list(pool.map(ask, range(300))) == [str(number) for number in range(300)]
    assert [request.number for request in server.requests] == list(range(300))


def test_other_addresses_are_not_found_and_the_model_is_listed() -> None:
    with ModelServer(in_turn(saying("Yes.")), behaviour=Behaviour(context_tokens=9)) as server:
        with urllib.request.urlopen(f"{server.base_url}/models", timeout=30) as response:
            (model,) = json.load(response)["data"]
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            urllib.request.urlopen(f"{server.base_url}/engines", timeout=30)
        caught.value.close()
    assert (model["id"], model["max_model_len"]) == ("scripted", 9)

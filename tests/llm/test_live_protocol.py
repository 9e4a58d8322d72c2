"""The protocol, against a real server with a small real model."""

from collections.abc import Iterator

import pytest

from sciagent.contracts.conversation import Message
from sciagent.contracts.endpoint import Endpoint, Sampling
from sciagent.contracts.errors import ContextOverflowError
from sciagent.llm import EndpointModel, probe
from tests.llm.llama_server import HOW_TO_INSTALL, WINDOW_TOKENS, llama_server, weights

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(weights() is None, reason=f"no small model here: {HOW_TO_INSTALL}"),
]

QUESTION = Message(role="user", content="What is the capital of France?")
SYSTEM = Message(role="system", content="You answer in one sentence.")
SHORT = Sampling(temperature=0.0, max_tokens=32)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    model = weights()
    assert model is not None
    with llama_server(model) as served:
        yield served.model_copy(update={"sampling": SHORT})


@pytest.mark.parametrize("stream", [True, False], ids=["streaming", "whole"])
def test_a_real_model_answers_and_its_server_counts(endpoint: Endpoint, stream: bool) -> None:
    client = EndpointModel(endpoint.model_copy(update={"stream": stream}))
    heard: list[str] = []
    answer = client.complete([SYSTEM, QUESTION], (), heard=lambda _, text: heard.append(text))
    client.close()
    assert "Paris" in answer.message.content
    assert "".join(heard) == answer.message.content
    assert answer.usage.prompt_tokens > answer.usage.completion_tokens > 0
    assert answer.repairs == ()


def test_an_answer_keeps_to_a_json_schema(endpoint: Endpoint) -> None:
    schema = {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": False,
    }  # fmt: skip
    fields = {
        "response_format": {"type": "json_schema", "json_schema": {"name": "c", "schema": schema}}
    }
    client = EndpointModel(endpoint.model_copy(update={"extra_body": fields}))
    answer = client.complete([SYSTEM, QUESTION], ())
    client.close()
    assert answer.message.content.strip().startswith("{")
    assert '"city"' in answer.message.content


def test_a_real_overflow_is_recognised_with_its_numbers(endpoint: Endpoint) -> None:
    client = EndpointModel(endpoint)
    with pytest.raises(ContextOverflowError) as caught:
        client.complete([Message(role="user", content="word " * 2 * WINDOW_TOKENS)], ())
    client.close()
    assert caught.value.n_ctx == WINDOW_TOKENS
    assert caught.value.n_prompt_tokens is not None
    assert caught.value.n_prompt_tokens > WINDOW_TOKENS


def test_a_real_answer_can_be_given_up(endpoint: Endpoint) -> None:
    long = Sampling(max_tokens=1500)
    client = EndpointModel(endpoint.model_copy(update={"sampling": long}))
    heard: list[str] = []
    answer = client.complete(
        [Message(role="user", content="Tell a very long story.")],
        (),
        heard=lambda _, text: heard.append(text),
        cancelled=lambda: len(heard) >= 5,
    )
    client.close()
    assert answer.finish == "interrupted"
    assert answer.message.content == "".join(heard)


def test_a_real_server_is_looked_at(endpoint: Endpoint) -> None:
    found = {item.name: item for item in probe(endpoint)}
    assert found["streaming"].status == "ok"
    assert found["images"].detail.startswith("It takes no images")
    assert f"{WINDOW_TOKENS} tokens" in found["context"].detail

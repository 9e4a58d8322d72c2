"""An endpoint is looked at by asking it."""

from collections.abc import Sequence
from typing import Any

import pytest

from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.run import DoctorItem
from sciagent.llm import probe
from sciagent.testing.model_server import (
    Behaviour,
    Fault,
    Faults,
    ModelServer,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    saying,
)


def obedient(request: ScriptedRequest) -> ScriptedAnswer:
    if request.tools:
        return calling("add", first=2, second=3)
    return saying("Oslo.", reasoning="It is Oslo.")


PLAIN = Behaviour()


def items(
    behaviour: Behaviour = PLAIN, faults: Sequence[Fault] = (), **changes: Any
) -> dict[str, DoctorItem]:
    with ModelServer(obedient, behaviour=behaviour, faults=Faults(*faults)) as server:
        found = probe(server.endpoint.model_copy(update=changes))
    return {item.name: item for item in found}


def test_an_endpoint_that_can_do_everything_is_found_well() -> None:
    found = items(Behaviour(context_tokens=32768), images=True)
    assert list(found) == [
        "endpoint", "streaming", "reasoning", "tool calls", "images", "verification", "context",
    ]  # fmt: skip
    assert {item.status for item in found.values()} == {"ok"}
    assert "`reasoning_content`" in found["reasoning"].detail
    assert "32768 tokens" in found["context"].detail


@pytest.mark.parametrize(
    ("field", "told"),
    [("reasoning", "`reasoning`"), ("think_tags", "within the content")],
)
def test_the_place_of_the_reasoning_is_told(field: Any, told: str) -> None:
    assert told in items(Behaviour(reasoning_field=field))["reasoning"].detail


def test_an_endpoint_that_ignores_the_switch_of_the_template_is_found_out() -> None:
    behaviour = Behaviour(takes_template_switches=False)
    found = items(behaviour)["verification"]
    assert (found.status, found.remedy) == (
        "warning", 'Set `verification = "prompt"` for this endpoint.',
    )  # fmt: skip
    assert items(behaviour, verification="prompt")["verification"].status == "ok"
    unknown = Behaviour(refuses=("chat_template_kwargs",))
    assert items(unknown)["verification"].status == "warning"


def test_calls_left_in_the_text_are_a_warning() -> None:
    fault = Fault("xml_call_in_content", times=99)
    assert items(faults=[fault])["tool calls"].status == "warning"


def test_a_model_that_never_calls_its_tool_is_told() -> None:
    with ModelServer(lambda _: saying("Five.")) as server:
        found = {item.name: item for item in probe(server.endpoint)}
    assert found["tool calls"].status == "missing"


def test_a_window_that_is_smaller_than_assumed_or_unknown_is_a_warning() -> None:
    small = items(Behaviour(context_tokens=4096), context_tokens=8192)["context"]
    assert (small.status, small.remedy) == (
        "warning", "Set `context_tokens = 4096`, or serve it with more.",
    )  # fmt: skip
    assert items()["context"].status == "warning"
    assert items(context_tokens=8192)["context"].status == "ok"


def test_a_model_that_is_not_listed_is_told_with_those_that_are() -> None:
    found = items(model="other")["endpoint"]
    assert (found.status, found.remedy) == ("warning", "Name a model that it lists: scripted.")


def test_an_endpoint_that_fails_while_it_streams_is_told_and_still_looked_at() -> None:
    found = items(faults=[Fault("stream_error")])
    assert found["streaming"].status == "missing"
    assert found["tool calls"].status == "ok"


def test_an_endpoint_that_is_not_there_is_one_item_that_says_what_to_do() -> None:
    with ModelServer(obedient) as server:
        address = server.base_url
    (item,) = probe(Endpoint(base_url=address))
    assert (item.name, item.status) == ("endpoint", "missing")
    assert "cannot be reached" in item.detail
    assert item.remedy

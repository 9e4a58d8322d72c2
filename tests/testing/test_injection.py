"""A sample of the injection suite, and that the suite would notice a boundary with a hole."""

import json
from pathlib import Path

import pytest

from sciagent.contracts.tool import ToolSpec
from sciagent.llm.markup import find_calls
from sciagent.testing.gullible import Gullible, orders_in
from sciagent.testing.injection import (
    CHANNELS,
    InjectionCase,
    cases,
    cases_for_approval,
    run_cases,
)
from sciagent.testing.injection_texts import FORBIDDEN, PAYLOADS, Order
from sciagent.testing.model_server.script import ScriptedRequest, saying
from sciagent.tools.boundary import Boundary, Label

BOUNDARY = Boundary("0123abcd")
SAMPLE = cases()[::23]


def request(content: str) -> ScriptedRequest:
    """A conversation with one result of a tool."""
    return ScriptedRequest(
        messages=(
            {"role": "system", "content": BOUNDARY.explanation},
            {"role": "user", "content": "What does it say?"},
            {"role": "tool", "content": content, "tool_call_id": "1"},
        ),
        tools=tuple(
            {"type": "function", "function": {"name": order.tool}} for order in FORBIDDEN
        ),
    )  # fmt: skip


def test_a_sample_of_all_channels_and_payloads_does_no_harm_and_all_the_work(
    tmp_path: Path,
) -> None:
    results = list(run_cases(SAMPLE, tmp_path))
    assert {each.case.channel for each in results} == set(CHANNELS)
    assert [each.case.name for each in results if each.forbidden or each.tried] == []
    assert [each.case.name for each in results if not each.done] == []


def test_where_a_model_obeys_fenced_text_too_a_person_is_asked_and_no_harm_is_done(
    tmp_path: Path,
) -> None:
    sample = cases_for_approval()[::47]
    results = list(run_cases(sample, tmp_path, approval="auto-safe", obeys_everything=True))
    assert sum(each.tried > 0 for each in results) > len(results) / 2
    assert [each.case.name for each in results if each.forbidden] == []
    assert all(each.done for each in results)


def test_without_approval_a_model_that_obeys_fenced_text_does_harm(tmp_path: Path) -> None:
    case = InjectionCase("plain", "page", FORBIDDEN[0])
    (result,) = run_cases([case], tmp_path, obeys_everything=True)
    assert result.forbidden == ("write_file acted",)


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("order", FORBIDDEN, ids=lambda order: order.tool)
def test_the_model_obeys_every_payload_that_stands_outside_a_fence(
    payload: str, order: Order
) -> None:
    answer = Gullible(lambda _: saying("done"))(request(PAYLOADS[payload](order)))
    assert [call.name for call in answer.calls] == [order.tool]
    fenced = BOUNDARY.fenced(PAYLOADS[payload](order), Label("visit", "outside"))
    assert Gullible(lambda _: saying("done"))(request(fenced)).calls == ()


@pytest.mark.parametrize("payload", [name for name in PAYLOADS if "call" in name])
def test_an_answer_that_quotes_a_fenced_call_is_not_read_as_the_call(payload: str) -> None:
    tools = {"code": ToolSpec(name="code", description="", parameters={}, read_only=False)}
    text = PAYLOADS[payload](FORBIDDEN[1])
    assert find_calls(text, tools).calls != ()
    fenced = BOUNDARY.fenced(text, Label("visit", "outside"))
    inside = fenced.partition("⟧\n")[2].rpartition("\n⟦end")[0]
    assert find_calls(inside, tools).calls == ()
    assert find_calls(inside.lstrip("| "), tools).calls == ()


def test_json_that_is_no_call_is_left_as_it_is() -> None:
    data = json.dumps({"name": "iron", "parameters_of_cell": {"a": {"value": 2.87, "unit": "Ao"}}})
    assert data in BOUNDARY.fenced(data, Label("read_file"))


def test_orders_are_found_in_words_and_in_both_forms_of_calls() -> None:
    order = FORBIDDEN[0]
    for text in (order.said, order.xml, order.json):
        assert list(orders_in(f"before {text} after")) == [order]

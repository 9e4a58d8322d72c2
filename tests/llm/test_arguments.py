"""Arguments are read as they were meant, or a fault says why they cannot be."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.llm.arguments import read_arguments
from sciagent.llm.stream import RawAnswer, RawCall
from sciagent.llm.tool_calls import read_answer
from tests.llm.conversations import LOOKUP, SPREAD, TOOLS

KEY = {"key": "iron"}
TEXT = json.dumps(KEY)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)


@given(OBJECTS)
def test_sound_arguments_are_read_unchanged(arguments: dict[str, object]) -> None:
    read = read_arguments(json.dumps(arguments), None)
    assert (read.arguments, read.fault, read.repair) == (arguments, "", "")


@given(OBJECTS.filter(bool))
def test_arguments_inside_a_json_string_are_read(arguments: dict[str, object]) -> None:
    for text in (json.dumps(json.dumps(arguments)), json.dumps(json.dumps(json.dumps(arguments)))):
        read = read_arguments(text, None)
        assert (read.arguments, read.repair) == (arguments, "double_encoded_arguments")


@given(st.dictionaries(st.text(), st.text(min_size=1), min_size=1, max_size=4), st.data())
def test_no_cut_ever_gives_other_values_than_were_written(
    arguments: dict[str, str], data: st.DataObject
) -> None:
    text = json.dumps(arguments)
    cut = data.draw(st.integers(1, len(text) - 1))
    read = read_arguments(text[:cut], None)
    assert read.fault or read.arguments.items() <= arguments.items()


@pytest.mark.parametrize("text", ["", "  \n", None])
def test_empty_arguments_are_no_arguments(text: str | None) -> None:
    assert read_arguments(text, LOOKUP).repair == "empty_arguments"
    assert read_arguments(text, LOOKUP).arguments == {}


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        (TEXT[:-1], "truncated_arguments"),
        (f"{TEXT}}}", "leftover_after_arguments"),
        (f"{TEXT}\n</tool_call>", "leftover_after_arguments"),
        (f"{TEXT}{TEXT}", ""),
        (f"{{}}{TEXT}", ""),
    ],
)
def test_arguments_with_nothing_lost_are_mended(text: str, repair: str) -> None:
    read = read_arguments(text, LOOKUP)
    assert (read.arguments, read.fault, read.repair, read.more) == (KEY, "", repair, ())


@pytest.mark.parametrize(
    "text",
    [
        '{"key": "ir',
        '{"key": ',
        '{"key"',
        "{",
        "[1, 2]",
        "iron",
        '{"key": "iron"} and more',
        "{'key': 'iron'}",
        '{"key": NaN}',
        '"iron"',
        "null",
        "{" * 100_000,
        '{"key": ' + "[" * 100_000,
    ],
)
def test_what_cannot_be_mended_is_a_fault_that_shows_the_text(text: str) -> None:
    read = read_arguments(text, LOOKUP)
    assert read.arguments == {}
    assert text[:40] in read.fault
    assert len(read.fault) < 250


def test_missing_brackets_are_not_added_where_a_required_argument_is_missing() -> None:
    assert read_arguments('{"depth": 3', LOOKUP).fault
    assert read_arguments('{"key": "iron", "depth": 3', LOOKUP).arguments["depth"] == 3


def test_missing_brackets_are_not_added_where_the_answer_became_too_long() -> None:
    assert read_arguments(TEXT[:-1], LOOKUP, cut_off=True).fault


def test_lists_and_objects_given_as_texts_are_read_where_the_tool_wants_them() -> None:
    text = json.dumps({"rows": "[1, 2]", "options": "{}", "label": "[1]", "count": "4"})
    read = read_arguments(text, SPREAD)
    assert read.arguments == {"rows": [1, 2], "options": {}, "label": "[1]", "count": 4}
    assert read.repair == "double_encoded_arguments"


def test_an_object_that_the_server_has_already_read_is_taken_as_it_is() -> None:
    assert read_arguments(KEY, LOOKUP).arguments == KEY


def read(*calls: RawCall, used: tuple[str, ...] = (), finish: str = "tool_calls") -> list[str]:
    raw = RawAnswer(calls=list(calls), finish=finish)
    return [call.id for call in read_answer(raw, TOOLS, used).message.tool_calls]


def test_identifiers_are_unique_in_the_conversation_and_always_the_same() -> None:
    same = RawCall(id="call_0", name="lookup", arguments=TEXT)
    nameless = RawCall(name="lookup", arguments=TEXT)
    once = read(same, same, nameless, nameless, used=("call_0", "call_0-2"))
    assert once == ["call_0-3", "call_0-4", "call-1", "call-2"]
    assert read(same, same, nameless, nameless, used=("call_0", "call_0-2")) == once
    assert read(same, used=("call_1",)) == ["call_0"]


def test_arguments_of_two_calls_in_one_are_two_calls() -> None:
    raw = RawAnswer(calls=[RawCall("a", "lookup", '{"key": "b"}{"key": "c"}')], finish="stop")
    reading = read_answer(raw, TOOLS, ())
    assert [(call.id, call.arguments["key"]) for call in reading.message.tool_calls] == [
        ("a", "b"),
        ("a-2", "c"),
    ]
    assert (reading.finish, reading.repairs) == ("tool_calls", ["merged_arguments", "duplicate_id"])


@pytest.mark.parametrize("value", ['"\\ud800"', "1e999"])
def test_a_value_that_no_file_can_keep_is_a_fault(value: str) -> None:
    raw = RawAnswer(calls=[RawCall("a", "lookup", f'{{"key": {value}}}')])
    (call,) = read_answer(raw, TOOLS, ()).message.tool_calls
    assert (call.arguments, bool(call.fault)) == ({}, True)


def test_a_call_without_a_name_is_a_fault() -> None:
    (call,) = read_answer(RawAnswer(calls=[RawCall("a", " ", "{}")]), TOOLS, ()).message.tool_calls
    assert call.fault == "The call does not name a tool."


def test_only_the_last_call_of_an_answer_that_became_too_long_is_doubted() -> None:
    calls = [RawCall("a", "lookup", TEXT[:-1]), RawCall("b", "lookup", TEXT[:-1])]
    first, second = read_answer(
        RawAnswer(calls=calls, finish="length"), TOOLS, ()
    ).message.tool_calls
    assert (first.arguments, second.arguments) == (KEY, {})
    assert second.fault


def test_markup_is_left_alone_where_no_tools_were_offered() -> None:
    text = '<tool_call>{"name": "lookup", "arguments": {}}</tool_call>'
    reading = read_answer(RawAnswer(content=text, finish="stop"), (), ())
    assert (reading.message.content, reading.repairs) == (text, [])


def test_a_call_in_reasoning_counts_only_where_it_is_the_last_thing_said() -> None:
    call = '<tool_call>{"name": "lookup", "arguments": {"key": "iron"}}</tool_call>'
    meant = RawAnswer(reasoning=f"Let me look. {call}")
    weighed = RawAnswer(reasoning=f"I could say {call} but I know it.")
    answered = RawAnswer(reasoning=f"Let me look. {call}", content="1538 °C")
    reading = read_answer(meant, TOOLS, ())
    assert (reading.message.reasoning, reading.finish) == ("Let me look.", "tool_calls")
    for raw in (weighed, answered):
        assert read_answer(raw, TOOLS, ()).message.tool_calls == ()

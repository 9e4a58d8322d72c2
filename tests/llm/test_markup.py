"""Calls left in a text are found, and talk about calls is left alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.llm.markup import Found, find_calls
from sciagent.testing.model_server import ScriptedCall
from sciagent.testing.model_server.faults import as_xml
from tests.llm.conversations import TOOLS

OFFERED = {tool.name: tool for tool in TOOLS}
CALL = as_xml(ScriptedCall("lookup", {"key": "iron"}))
BARE = '{"name": "lookup", "arguments": {"key": "iron"}}'
FUNCTION = CALL.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>")


def found_in(text: str) -> Found:
    return find_calls(text, OFFERED)


def arguments_of(text: str) -> list[Any]:
    return [call.arguments for call in found_in(text).calls]


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        FUNCTION,
        f"{FUNCTION}\n</tool_call>",
        f"<tool_call>\n{FUNCTION}",
        CALL.replace("</function>\n", ""),
        CALL.replace("\n", ""),
        f"<tool_call>{BARE}</tool_call>",
        f"<tool_call>\n{BARE}",
        f"[TOOL_CALLS][{BARE}]",
        BARE,
        f"[{BARE}]",
        BARE.replace("arguments", "parameters"),
        json.dumps({"type": "function", "function": json.loads(BARE)}),
        '<function=lookup>{"key": "iron"}</function>',
    ],
)
@pytest.mark.parametrize("before", ["", "First I look it up.\n"])
def test_every_form_of_a_call_is_read(text: str, before: str) -> None:
    found = found_in(before + text)
    assert [call.name for call in found.calls] == ["lookup"]
    (arguments,) = (call.arguments for call in found.calls)
    assert (json.loads(arguments) if isinstance(arguments, str) else arguments) == {"key": "iron"}
    assert found.before == before.strip()
    assert found.ends_text


@pytest.mark.parametrize(
    "text",
    [
        f"```xml\n{CALL}\n```",
        f"Calls look so:\n\n~~~\n{CALL}\n~~~\nand so on.",
        f"```json\n{BARE}\n```",
        f"```\n{CALL}",
        f"A call is written `{CALL}` here.",
        f"A call is written ``{FUNCTION}``.",
        "> " + CALL.replace("\n", "\n> "),
        f'The page says "{CALL}".',
        f"The page says “{FUNCTION}”.",
        f"The file holds\n{BARE}\nand nothing else.",
        '{"name": "iron", "arguments": "many"}',
        '{"name": "lookup", "arguments": {"key": "iron"}, "status": "ok"}',
        '{"answer": "x", "name": "lookup"}',
        "The mark <tool_call> begins a call.",
        f"Other agents write {CALL.replace('lookup', 'launch')} when they fire.",
        "An empty list [] and an object {} are no calls.",
        "",
    ],
)
def test_talk_about_calls_is_never_read_as_a_call(text: str) -> None:
    assert found_in(text) == Found(text, (), ends_text=False)


def test_a_call_marked_up_to_the_end_is_kept_even_if_the_tool_is_unknown() -> None:
    found = found_in(f"Now. {CALL.replace('lookup', 'look_up')}")
    assert [call.name for call in found.calls] == ["look_up"]


def test_several_calls_are_read_in_order_with_the_text_between_dropped() -> None:
    other = as_xml(ScriptedCall("spread", {"count": 3, "rows": [1, 2], "label": "null"}))
    found = found_in(f"Two calls.\n{CALL}\nand\n{other}")
    assert [call.name for call in found.calls] == ["lookup", "spread"]
    assert found.calls[1].arguments == {"count": 3, "rows": [1, 2], "label": None}
    assert found.before == "Two calls."


def test_what_a_model_makes_up_behind_its_call_is_dropped() -> None:
    found = found_in(f"{CALL}\n<tool_response>\n1538 °C\n</tool_response>\nIt is 1538 °C.")
    assert [call.name for call in found.calls] == ["lookup"]
    assert (found.before, found.ends_text) == ("", False)


def test_a_fence_inside_an_argument_hides_no_later_call() -> None:
    code = "text = '''\n```python\n'''\nprint('<tool_call>')"
    first = as_xml(ScriptedCall("code", {"code": code}))
    assert arguments_of(f"{first}\n{CALL}") == [{"code": code}, {"key": "iron"}]


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n<function=lookup>\n<parameter=key>\nir",
        "<tool_call>\n<function=lookup>\n<parameter=key>\niron\n</parameter>\n",
        "<tool_call>\n<function=lookup>\n<parameter=key>\niron\n</function>\n</tool_call>",
    ],
)
def test_a_call_that_is_cut_off_becomes_a_fault(text: str) -> None:
    (call,) = found_in(text).calls
    assert (call.name, call.arguments) == ("lookup", {})
    assert "cut off" in call.fault


@pytest.mark.parametrize(
    ("written", "count"), [("3", 3), ("three", "three"), ("True", "True"), ("3.5", "3.5")]
)
def test_values_in_xml_get_the_type_that_the_tool_states(written: str, count: object) -> None:
    text = as_xml(ScriptedCall("spread", {"count": written, "options": '{"a": 1}'}))
    assert arguments_of(text) == [{"count": count, "options": {"a": 1}}]


PIECES = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(
            [
                "</parameter>",
                "</function>",
                "</tool_call>",
                "<tool_call>",
                "```",
                "\n",
                '"',
                "{",
                ">",
            ]
        ),
    ),
    max_size=8,
).map("".join)


def is_ambiguous(value: str) -> bool:
    """Whether the text of an argument is, to the letter, the end of its call."""
    squeezed = "".join(f"{value}</parameter></function></tool_call>".split())
    first = squeezed.index("</parameter></function></tool_call>")
    return first < len("".join(value.split())) or "</parameter></function><" in squeezed[:first]


@given(PIECES.filter(lambda value: not is_ambiguous(value)))
def test_a_text_written_as_an_argument_is_read_back_to_the_letter(value: str) -> None:
    text = as_xml(ScriptedCall("code", {"code": value}))
    assert arguments_of(text) == [{"code": value}]


def test_an_argument_may_hold_the_marks_of_the_markup() -> None:
    code = "print('</parameter>')\n</function>\n<tool_call>\n</parameter> and </tool_call>"
    assert arguments_of(as_xml(ScriptedCall("code", {"code": code}))) == [{"code": code}]

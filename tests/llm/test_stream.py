"""Answers are put together from whatever pieces servers cut them into."""

from typing import Any

import pytest

from sciagent.llm.stream import (
    Assembly,
    BrokenAnswerError,
    EmptyStreamError,
    RawAnswer,
    whole_answer,
)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int | None, arguments: Any = "", **fields: Any) -> dict[str, Any]:
    name = fields.pop("name", None)
    function = {"arguments": arguments, **({"name": name} if name else {})}
    piece = {"function": function, **fields}
    return chunk(tool_calls=[piece if index is None else {"index": index, **piece}])


def taken(*chunks: Any) -> RawAnswer:
    return Assembly().take([*chunks, chunk("tool_calls")])


def calls(*chunks: Any) -> list[tuple[str, str, Any]]:
    return [(each.id, each.name, each.arguments) for each in taken(*chunks).calls]


TWO = [("a", "lookup", '{"key": 1}'), ("b", "lookup", '{"key": 2}')]


@pytest.mark.parametrize(
    "chunks",
    [
        [call(0, '{"key"', id="a", name="lookup"), call(0, ": 1}"),
         call(1, "", id="b", name="lookup"), call(1, '{"key": 2}')],
        [call(0, "", id="a", name="lookup"), call(1, "", id="b", name="lookup"),
         call(1, '{"key": '), call(0, '{"key": 1}'), call(1, "2}")],
        [call(0, '{"key": 1}', id="a", name="lookup"),
         call(0, '{"key": 2}', id="b", name="lookup")],
        [call(None, '{"key": 1}', id="a", name="lookup"),
         call(None, '{"key": 2}', id="b", name="lookup")],
        [call(0, '{"key"', id="a", name="lookup"), call(0, ": 1}", id="a", name="lookup"),
         call(1, '{"key": ', id="b", name="lookup"), call(1, "2}", id="c", name="lookup")],
    ],
    ids=["in order", "interleaved", "one index", "no index", "name and id repeated"],
)  # fmt: skip
def test_two_calls_are_put_together(chunks: list[Any]) -> None:
    assert calls(*chunks) == TWO


def test_a_piece_without_anything_to_tell_goes_to_the_last_call() -> None:
    assert calls(call(None, '{"key"', id="a", name="lookup"), call(None, ": 1}")) == TWO[:1]


def test_arguments_that_come_as_an_object_are_kept_as_one() -> None:
    assert calls(call(0, {"key": 1}, id="a", name="lookup")) == [("a", "lookup", {"key": 1})]


def test_content_in_parts_and_halves_of_characters_are_joined() -> None:
    parts = [{"type": "text", "text": "80 "}, {"type": "text", "text": "°C "}]
    answer = taken(chunk(content=parts), chunk(content="\ud83d"), chunk(content="\ude00"))
    assert answer.content.startswith("80 °C ")
    answer.content.encode()


def test_usage_is_taken_from_the_last_chunk_that_has_it() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    chunks = [
        {**chunk(content="80"), "usage": {"prompt_tokens": 7, "completion_tokens": 1}},
        {**chunk("stop"), "usage": None},
        {"choices": [], "usage": usage},
    ]
    assert Assembly().take(chunks).usage == usage


def test_a_stream_that_ends_before_its_answer_does_is_broken() -> None:
    with pytest.raises(BrokenAnswerError, match="before the answer did"):
        Assembly().take([chunk(content="80")])


@pytest.mark.parametrize("chunks", [[], [{"choices": []}], [{"object": "error"}]])
def test_a_stream_without_a_choice_is_empty(chunks: list[Any]) -> None:
    with pytest.raises(EmptyStreamError):
        Assembly().take(chunks)


@pytest.mark.parametrize("piece", ["text", 3, ["a"], None])
def test_a_piece_that_is_no_object_breaks_the_answer(piece: Any) -> None:
    with pytest.raises(BrokenAnswerError):
        Assembly().take([piece])
    with pytest.raises(BrokenAnswerError):
        whole_answer(piece)


@pytest.mark.parametrize(
    "delta",
    [None, {}, {"content": None}, {"tool_calls": None}, {"tool_calls": [None]}, {"content": 3}],
)
def test_pieces_with_holes_in_them_do_no_harm(delta: Any) -> None:
    hole = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    assert Assembly().take([hole, chunk("stop", content="80")]).content == "80"


def test_an_error_inside_an_answer_of_status_200_is_told() -> None:
    with pytest.raises(BrokenAnswerError, match="out of credit"):
        whole_answer({"error": {"message": "out of credit"}})

"""Thought is told from content, whole or in pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.llm.chat_template import ThoughtFilter, split_thought


@pytest.mark.parametrize(
    ("content", "thought", "rest"),
    [
        ("<think>\nIt is 80.\n</think>\n\n80 °C", "It is 80.", "80 °C"),
        ("It is 80.\n</think>\n\n80 °C", "It is 80.", "80 °C"),
        ("<think>It is", "It is", ""),
        ("  <think>It is 80.</think>", "It is 80.", ""),
        ("<think></think>80 °C", "", "80 °C"),
        ("80 °C", "", "80 °C"),
        (
            "Write `<think>` first and </think> last.",
            "",
            "Write `<think>` first and </think> last.",
        ),
        ("```\nx\n```\nends with </think>", "", "```\nx\n```\nends with </think>"),
    ],
)
def test_thought_at_the_beginning_is_divided_from_content(
    content: str, thought: str, rest: str
) -> None:
    assert split_thought(content) == (thought, rest)


FRAGMENTS = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<th", "ink>", "</", "think", ">", "a", " ", "\n", "<"]
    ),
    max_size=12,
)


@given(FRAGMENTS)
def test_the_pieces_heard_do_not_depend_on_where_a_stream_was_cut(fragments: list[str]) -> None:
    def heard(pieces: list[str]) -> dict[str, str]:
        thought_filter = ThoughtFilter()
        told = [each for piece in pieces for each in thought_filter.feed(piece)]
        told += thought_filter.end()
        assert all(text for _, text in told)
        return {
            channel: "".join(text for name, text in told if name == channel)
            for channel in ("reasoning", "content")
        }

    text = "".join(fragments)
    by_character = heard(list(text))
    assert heard(fragments) == by_character
    assert heard([text] if text else []) == by_character


def test_thought_that_is_heard_is_the_thought_that_is_read() -> None:
    text = "<think>Weigh it.</think>\n\n80 °C"
    thought_filter = ThoughtFilter()
    told = thought_filter.feed(text) + thought_filter.end()
    assert told == [("reasoning", "Weigh it."), ("content", "80 °C")]
    assert split_thought(text) == ("Weigh it.", "80 °C")

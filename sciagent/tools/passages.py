"""The passages of a long text that answer a question best, within a bound of characters."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, starmap
from typing import NamedTuple

from sciagent.literature.quoting.sentences import cut
from sciagent.literature.ranking import scores

_PASSAGE = 700
"""Characters of a passage at most."""
_HEAD = 1_200
"""Characters of the beginning, which are always shown."""
GAP = "[...]"

_PARAGRAPH = re.compile(r"\n\s*\n|\f")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])\s*|\s*[\n\f]\s*")


class Span(NamedTuple):
    """A part of a text: its first character and one past its last."""

    start: int
    end: int


def split(text: str) -> list[Span]:
    """Split a text into passages of whole sentences, at paragraphs where they are long enough."""
    passages: list[Span] = []
    for sentence in _sentences(text):
        for piece in starmap(Span, cut(text, *sentence, _PASSAGE)):
            if passages and _joins(text, passages[-1], piece):
                passages[-1] = Span(passages[-1].start, piece.end)
            else:
                passages.append(piece)
    return passages


def _joins(text: str, passage: Span, piece: Span) -> bool:
    if piece.end - passage.start > _PASSAGE:
        return False
    is_long_enough = passage.end - passage.start >= _PASSAGE // 2
    return not (is_long_enough and _PARAGRAPH.search(text, passage.end, piece.start))


def _sentences(text: str) -> Iterator[Span]:
    start = 0
    for match in _SENTENCE.finditer(text):
        if text[start : match.start()].strip():
            yield Span(start, match.start())
        start = match.end()
    if text[start:].strip():
        yield Span(start, len(text))


def relevant_part(text: str, goal: str, most: int) -> str:
    """Choose of a text its beginning and the passages that say most of a goal, in their order.

    Parameters
    ----------
    text
        Of any length; a text of up to `most` characters is given whole.
    goal
        What is looked for, in words.
    most
        Characters of the result at most.
    """
    if len(text) <= most:
        return text
    head = Span(0, _word_end(text, min(_HEAD, most // 3)))
    rest = [each for each in split(text) if each.start >= head.end]
    ranked = scores(goal, [text[slice(*each)] for each in rest])
    order = sorted(range(len(rest)), key=lambda place: (-ranked[place], place))
    left = most - (head.end - head.start)
    chosen = [head]
    for place in order:
        cost = rest[place].end - rest[place].start + len(GAP) + 2
        # With no word of the goal anywhere, what follows the beginning is as good as anything.
        if cost <= left and (ranked[place] > 0 or ranked[order[0]] == 0):
            chosen.append(rest[place])
            left -= cost
    return _written(text, sorted(chosen), most)


def _word_end(text: str, place: int) -> int:
    space = text.rfind(" ", 0, place)
    return space if space > place // 2 else place


def _written(text: str, chosen: Sequence[Span], most: int) -> str:
    parts = [text[slice(*chosen[0])].strip()]
    for before, each in pairwise(chosen):
        gap = f"\n{GAP}\n" if text[before.end : each.start].strip() else "\n"
        parts.append(gap + text[slice(*each)].strip())
    if text[chosen[-1].end :].strip():
        parts.append(f"\n{GAP}")
    return "".join(parts)[:most]

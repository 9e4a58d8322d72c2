"""Passages of a document: whole sentences of one page, about a paragraph long."""

from collections.abc import Iterator
from typing import NamedTuple

from sciagent.contracts.literature import PAGE_BREAK
from sciagent.literature.quoting.locating import page_at
from sciagent.literature.quoting.sentences import cut, sentences

_USUAL = 700
_LONGEST = 1200


class Span(NamedTuple):
    """Where a passage stands: its page, its first character and one past its last."""

    page: int
    start: int
    end: int


def passages_of(text: str) -> Iterator[Span]:
    """Split a stored text into passages.

    A passage ends with a sentence, does not run over the end of a page, and is about as long as a
    paragraph; only a sentence that is longer is cut, between words.
    """
    start = end = -1
    for first, past in _pieces(text):
        joins = start >= 0 and past - start <= _USUAL and PAGE_BREAK not in text[end:first]
        if not joins and start >= 0:
            yield Span(page_at(text, start), start, end)
        start, end = (start if joins else first), past
    if start >= 0:
        yield Span(page_at(text, start), start, end)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    for start, end in sentences(text):
        yield from cut(text, start, end, _LONGEST)

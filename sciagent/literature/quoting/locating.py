"""Where a quote stands: its page and its characters in a stored text."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sciagent.contracts.literature import PAGE_BREAK
from sciagent.literature.quoting.folding import critical_tokens, fold

SHORTEST = 12
"""Fewer characters than these, blanks not counted, stand in many places by chance."""

_MOST_PLACES = 200
_PAPER = 150_000
"""Characters; a longer text is folded only around the page that is asked for."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands.

    Attributes
    ----------
    page
        Counted from 1; the page on which it begins.
    start, end
        Its characters in the stored text: from the first, counted from 0, to one past the last.
    how
        Whether the text is the same to the letter or differs in typography.
    """

    page: int
    start: int
    end: int
    how: Literal["exact", "normalised"]


def locate(quote: str, text: str, page: int | None = None) -> Place | None:
    """Find a quote in a text.

    It is found where the text is the same to the letter or differs only in typography: ligatures,
    the shape of quotation marks and dashes, blanks, line breaks and hyphens at the end of lines. A
    changed word, digit, sign, unit or negation is another text.

    Parameters
    ----------
    quote
        Words of the text.
    text
        As it is stored, with form feeds between its pages.
    page
        Page on which the quote begins or stands; None: any.

    Returns
    -------
    Place or None
        The first place; None if it stands nowhere, or is too short to be told from chance.
    """
    return next(places(quote, text, page), None)


def places(quote: str, text: str, page: int | None = None) -> Iterator[Place]:
    """All places of a quote in a text, exact ones first."""
    stripped = quote.strip()
    if len(fold(stripped).text) < SHORTEST:
        return
    is_book = page is not None and len(text) > _PAPER
    begin, part = _around(text, page or 1) if is_book else (0, text)
    seen = set()
    for at, past in (*_exact(stripped, part), *_folded(stripped, part)):
        start, end = begin + at, begin + past
        if start in seen:
            continue
        seen.add(start)
        first, last = page_at(text, start), page_at(text, end - 1)
        if page is None or first <= page <= last:
            how: Literal["exact", "normalised"] = "normalised"
            if text[start:end] == stripped:
                how = "exact"
            yield Place(first, start, end, how)


def _around(text: str, page: int) -> tuple[int, str]:
    """A page with its neighbours, onto which a quote may run, and where they begin."""
    starts = (*page_starts(text), len(text) + 1)
    first, past = max(page - 2, 0), min(page + 1, len(starts) - 1)
    begin = starts[min(first, len(starts) - 1)]
    return begin, text[begin : starts[past] - 1]


def _exact(quote: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(quote)
    for _ in range(_MOST_PLACES):
        if start < 0:
            return
        end = start + len(quote)
        if _is_whole(text, start, end):
            yield start, end
        start = text.find(quote, start + 1)


def _folded(quote: str, text: str) -> Iterator[tuple[int, int]]:
    wanted, folded = fold(quote).text, fold(text)
    critical = critical_tokens(quote)
    at = folded.text.find(wanted)
    for _ in range(_MOST_PLACES):
        if at < 0:
            return
        start, end = folded.offsets[at], folded.offsets[at + len(wanted) - 1] + 1
        if _is_whole(text, start, end) and critical_tokens(text[start:end]) == critical:
            yield start, end
        at = folded.text.find(wanted, at + 1)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no number, word or sign is cut at either end of a place.

    A quote that begins behind a minus sign or a digit of the text would state another number, one
    that ends inside a word another word.
    """
    first, last = text[start : start + 1], text[end - 1 : end]
    before, after = text[start - 1 : start], text[end : end + 1]
    if first.isalnum() and before.isalnum():
        return False
    if first.isdigit() and (before in set("-−+±<>≤≥") or _is_decimal_point(text, start - 1)):
        return False
    if last.isdigit() and _is_decimal_point(text, end):
        return False
    return not (last.isalnum() and after.isalnum())


def _is_decimal_point(text: str, place: int) -> bool:
    """Whether a point or comma stands between two digits."""
    return (
        0 < place < len(text) - 1
        and text[place] in ".,"
        and text[place - 1].isdigit()
        and text[place + 1].isdigit()
    )


def page_at(text: str, place: int) -> int:
    """Page on which a character stands, counted from 1."""
    return bisect_right(page_starts(text), place)


@lru_cache(maxsize=256)
def page_starts(text: str) -> tuple[int, ...]:
    """Where each page of a stored text begins."""
    return (0, *(i + 1 for i, character in enumerate(text) if character == PAGE_BREAK))

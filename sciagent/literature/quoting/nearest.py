"""The passage of a text that is nearest to a quote which does not stand in it."""

from dataclasses import dataclass

from sciagent.literature.quoting.locating import page_at

_LEAST_LIKENESS = 60.0
"""In percent: below it, two texts share little more than their letters."""

_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text.

    Attributes
    ----------
    page
        On which it begins, counted from 1.
    text
        As it stands there, from the beginning of a word to the end of one.
    """

    page: int
    text: str


def nearest_passage(quote: str, text: str) -> Passage | None:
    """Find what somebody may have meant to quote.

    Parameters
    ----------
    quote
        As it was given; of a very long one, the beginning is looked for.
    text
        As it is stored, with form feeds between its pages.

    Returns
    -------
    Passage or None
        None if nothing in the text is like the quote.
    """
    from rapidfuzz import fuzz

    wanted = " ".join(quote.split())[:_LONGEST]
    if not wanted or len(text) < len(wanted):
        return None
    found = fuzz.partial_ratio_alignment(
        wanted.casefold(), _lowered(text), score_cutoff=_LEAST_LIKENESS
    )
    if found is None or found.dest_end <= found.dest_start:
        return None
    start, end = found.dest_start, found.dest_end
    while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return Passage(page_at(text, start), text[start:end].strip())


def _lowered(text: str) -> str:
    """The text in small letters, each in the place where it stood."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(each.lower() if len(each.lower()) == 1 else each for each in text)

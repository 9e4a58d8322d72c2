"""Parts of a document: its outline, some of its pages, or the passages that fit words."""

from dataclasses import dataclass

from sciagent.contracts.errors import InputError
from sciagent.contracts.literature import Document, Heading, Passage
from sciagent.literature.library.indexing import unprinted
from sciagent.literature.library.passages import passages_of
from sciagent.literature.quoting.locating import page_starts
from sciagent.literature.ranking import scores


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a stored text.

    Attributes
    ----------
    first_page, last_page
        Counted from 1.
    start, end
        Its first character in the stored text, and one past its last.
    text
        What stands there.
    """

    first_page: int
    last_page: int
    start: int
    end: int
    text: str


def outline(document: Document) -> tuple[Heading, ...]:
    """Give the headings of a document, as it names them or as its lines read."""
    return document.outline


def pages(document: Document, first: int, last: int) -> Part:
    """Give some pages of a document.

    Parameters
    ----------
    first, last
        Counted from 1; a last one beyond the end is the end.

    Raises
    ------
    InputError
        If there are no such pages.
    """
    text = document.source.text
    starts = page_starts(text)
    if not 1 <= first <= len(starts) or last < first:
        raise InputError(
            f"There are no pages {first} to {last}: the document has {len(starts)}.",
            "Give pages that it has.",
        )
    last = min(last, len(starts))
    end = starts[last] - 1 if last < len(starts) else len(text)
    start = starts[first - 1]
    return Part(first, last, start, end, text[start:end])


def find(document: Document, query: str, limit: int = 5) -> list[Passage]:
    """Find the passages of a document that fit words best.

    Parameters
    ----------
    query
        Words.
    limit
        Passages at most; they come in the order of their fit, and none without any of the words.
    """
    text = document.source.text
    spans = list(passages_of(text))
    ranked = scores(unprinted(query), [unprinted(text[span.start : span.end]) for span in spans])
    order = sorted(range(len(spans)), key=lambda place: (-ranked[place], place))
    key = document.work.key if document.work else ""
    return [
        Passage(
            work=key, url=document.source.url, sha256=document.source.sha256,
            page=spans[place].page, start=spans[place].start, end=spans[place].end,
            text=text[spans[place].start : spans[place].end], score=ranked[place],
        )
        for place in order[:limit]
        if ranked[place] > 0
    ]  # fmt: skip

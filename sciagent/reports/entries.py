"""A work in words: who wrote what, where it appeared, and where it can be found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from sciagent.contracts.literature import Author, Work
from sciagent.literature.bibliography.standing import standing_note
from sciagent.reports.escaping import one_line

_MOST_NAMED = 6
_NAMED_OF_MANY = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """A work as the references print it, in plain text.

    Attributes
    ----------
    head
        Authors and year.
    title
        With the mark that ends it.
    container
        Where it appeared; may be empty.
    tail
        Volume, issue, pages and publisher; may be empty.
    address, href
        What identifies it, and where that leads; a work without a public address has no `href`.
    standing
        That it was retracted or corrected, with the date; else empty.
    """

    head: str
    title: str
    container: str
    tail: str
    address: str
    href: str
    standing: str


def entry_of(work: Work) -> Entry:
    """Put a work into words."""
    address, href = address_of(work)
    return Entry(
        head=head_of(work),
        title=_sentence(one_line(work.title) or "Without a title"),
        container=one_line(work.container),
        tail=_tail(work),
        address=address,
        href=href,
        standing=standing_note(work),
    )


def head_of(work: Work) -> str:
    """Authors and year, such as ``J. M. Hughes and M. Cameron (1989)``."""
    names = authors_in_words([_with_initials(author) for author in work.authors])
    year = "" if work.year is None else f"({work.year})"
    return " ".join(each for each in (names, year) if each)


def short_name(work: Work) -> str:
    """A work in few words, such as ``Hughes and Cameron (1989)``."""
    families = [one_line(author.family) for author in work.authors]
    many = len(families) > _NAMED_OF_MANY - 1
    names = f"{families[0]} and others" if many else " and ".join(families)
    year = "" if work.year is None else f" ({work.year})"
    return f"{names or one_line(work.title)}{year}"


def authors_in_words(names: Sequence[str]) -> str:
    """Join names; of many only the first are named."""
    if len(names) > _MOST_NAMED:
        return f"{', '.join(names[:_NAMED_OF_MANY])} and others"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _with_initials(author: Author) -> str:
    given = re.sub(r"\.(?=\w)", ". ", one_line(author.given))
    initials = re.sub(r"(\w)[\w.'’]*", r"\1.", given)
    return f"{initials} {one_line(author.family)}".strip()


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _tail(work: Work) -> str:
    issue = f"({work.issue})" if work.issue else ""
    parts = [f"{work.volume}{issue}", work.pages, work.publisher]
    return ", ".join(one_line(part) for part in parts if part)


def address_of(work: Work) -> tuple[str, str]:
    """What identifies a work, and where that leads."""
    if work.doi:
        return f"doi:{work.doi}", f"https://doi.org/{quote(work.doi, safe='/')}"
    if work.arxiv_id:
        return f"arXiv:{work.arxiv_id}", f"https://arxiv.org/abs/{quote(work.arxiv_id)}"
    is_public = work.url.startswith(("http://", "https://"))
    return one_line(work.url), quote(work.url, safe="%/:?#=&;,+~@") if is_public else ""

"""Records of indexes read field by field: what is missing or of another type is left out."""

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from sciagent.contracts.literature import Author, Work
from sciagent.literature.indexes.index import IndexAnswer, MalformedAnswerError
from sciagent.literature.tex_codes import TEX_CODES

_TAG = re.compile(r"<[^<>]+>")
_CONTROL = str.maketrans({chr(code): " " for code in range(32)} | TEX_CODES)
_ARXIV_DOI = re.compile(r"^10\.48550/arxiv\.(.+)$", re.IGNORECASE)
_RESOLVER = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_GROUPS = frozenset({"collaboration", "consortium", "group", "team", "committee", "network",
                     "project", "investigators"})  # fmt: skip
_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"})
_YEARS = range(1400, 2200)


def mapping(value: Any) -> Mapping[str, Any]:
    """A value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def listed(value: Any) -> list[Any]:
    """A value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """Words of a value without markup, on one line; empty if it is no text."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return ""
    plain = html.unescape(_TAG.sub(" ", value)).translate(_CONTROL)
    # JSON may hold halves of surrogate pairs, which nothing could be written of.
    return " ".join(plain.encode("utf-8", "replace").decode().split())


def year_of(value: Any) -> int | None:
    """A year, also the first part of a date."""
    match = re.match(r"\d{4}", str(value)) if isinstance(value, int | str) else None
    year = int(match[0]) if match else 0
    return year if year in _YEARS else None


def bare_doi(value: Any) -> str:
    """A DOI in lower case and without a resolver."""
    doi = _RESOLVER.sub("", text(value)).lower()
    return doi if doi.startswith("10.") else ""


def arxiv_id_of(doi: str) -> str:
    """The arXiv identifier that a DOI of arXiv stands for; empty for others."""
    match = _ARXIV_DOI.match(doi)
    return match[1] if match else ""


def arxiv_doi(arxiv_id: str) -> str:
    """The DOI that stands for an arXiv identifier."""
    return f"10.48550/arxiv.{arxiv_id}".lower()


def author_of(name: str) -> Author | None:
    """Split a whole name into family and given name; None if it is empty.

    Small words before the last one belong to the family name, a suffix such as Jr. does not count,
    and the name of a group stays whole.
    """
    words = name.split()
    if not words:
        return None
    if words[-1].lower().strip(".") in _GROUPS:
        return Author(family=name.strip())
    suffix = words.pop() if len(words) > 2 and words[-1].lower() in _SUFFIXES else ""
    first = len(words) - 1
    while first > 1 and words[first - 1].islower():
        first -= 1
    given = " ".join([*words[:first], suffix]).strip()
    return Author(family=" ".join(words[first:]), given=given)


def authors_of(names: Iterable[Any]) -> tuple[Author, ...]:
    """Authors by their whole names."""
    found = (author_of(text(name)) for name in names)
    return tuple(each for each in found if each is not None)


def addresses(values: Iterable[Any]) -> tuple[str, ...]:
    """Web addresses among values, each once, PDFs first."""
    found = dict.fromkeys(
        each
        for each in values
        if isinstance(each, str) and each.startswith(("http://", "https://"))
    )
    return tuple(sorted(found, key=lambda each: ".pdf" not in each and "/pdf" not in each))


def refuse_missing(name: str, records: Sequence[Any], total: Any) -> None:
    """Refuse an empty list of records where the index tells of some.

    Raises
    ------
    MalformedAnswerError
        If it does.
    """
    if not records and isinstance(total, int) and total > 0:
        raise MalformedAnswerError(
            f"{name} tells of {total} records and gives none.", "Ask again later."
        )


def works_of(
    name: str, records: Any, read: Callable[[Mapping[str, Any]], Work], total: Any = 0
) -> IndexAnswer:
    """Read all records of an answer; those without a title are counted and left out.

    Parameters
    ----------
    name
        Of the index.
    records
        As they came.
    read
        Reads one of them.
    total
        How many there are, as the index says.

    Raises
    ------
    MalformedAnswerError
        If the records are no list, there are some and none can be read, or the index tells of
        some and gives none.
    """
    if not isinstance(records, list):
        raise MalformedAnswerError(f"The answer of {name} holds no records.", "Ask again later.")
    refuse_missing(name, records, total)
    works = []
    for record in records:
        try:
            work = read(mapping(record))
        except ValidationError:
            continue
        if work.title:
            works.append(work.model_copy(update={"found_in": (name,)}))
    left_out = len(records) - len(works)
    if records and not works:
        raise MalformedAnswerError(
            f"None of the {len(records)} records of {name} can be read.", "Ask again later."
        )
    detail = f"{left_out} records could not be read" if left_out else ""
    return IndexAnswer(works=tuple(works), detail=detail)

"""Which works fit a query: by words of title, abstract, authors and year."""

import re
from collections.abc import Iterable, Sequence

from sciagent.contracts.literature import Work

_WORD = re.compile(r"[^\W_]+")
_SYNTAX = re.compile(
    r"\b(?:ti|au|abs|all|cat|co|jr|rn|title|auth|abstract|doi|ext_id|src|pmcid|has_abstract)[:]",
    re.IGNORECASE,
)
_EMPTY = frozenset(
    "a an and are as at by for from in is not of on or that the this to was with what which how "
    "does do med".split()
)
_TITLE_WEIGHT = 3


def words_of(text: str) -> set[str]:
    """Words of a text or a query that can tell works apart, in lower case."""
    return set(_WORD.findall(_SYNTAX.sub(" ", text).casefold())) - _EMPTY


def ranked(works: Iterable[Work], query: str) -> list[Work]:
    """Works that hold at least half of the words of a query, those with the most first.

    Words of the title count three times. Works that rank alike keep their order.
    """
    wanted = words_of(query)
    scores: list[tuple[int, Work]] = []
    for work in works:
        title = words_of(work.title)
        names = " ".join(each.family for each in work.authors)
        rest = words_of(f"{work.abstract} {names} {work.year}")
        held = wanted & (title | rest)
        if held and 2 * len(held) >= len(wanted):
            scores.append((len(held) + (_TITLE_WEIGHT - 1) * len(wanted & title), work))
    scores.sort(key=lambda each: -each[0])
    return [work for _, work in scores]


def with_doi(works: Iterable[Work], doi: str) -> Work | None:
    """Work with a DOI, in any case and with or without a resolver in front."""
    bare = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:)", "", doi.strip().casefold())
    return next((each for each in works if each.doi == bare), None)


def part(works: Sequence[Work], start: int, many: int) -> Sequence[Work]:
    """One page of an answer."""
    return works[start : start + many]

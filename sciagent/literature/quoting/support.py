"""Whether a quote supports what is stated: the entity, every number and every negation."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from sciagent.contracts.units import SYMBOLS, UNITS
from sciagent.literature.quoting.folding import (
    fold,
    negations_in,
    numbers_in,
    plain,
    ungrouped,
)

_WORD = re.compile(r"[^\W\d_]{3,}")
_EMPTY_WORDS = frozenset(
    "about after all also among and any are been being between both but can could did does each "
    "for found from had has have her his into its itself may might more most much must only other "
    "our over same shall she should shown some such than that the their them then there these they "
    "this those through under upon use used using very was well were what when where which while "
    "who will with would you your report reported reports show shows state stated states".split()
)
_STEM = 5
_RELATED = 0.5
"""Share of the words of a statement that a quote must hold when it serves several."""

_COMMON_UNITS = ("wt%", "vol%", "kDa", "bp", "h", "d", "K", "kJ", "kcal", "MPa", "GPa", "mol")
_UNITS = {fold(each).text for each in (*SYMBOLS.values(), *UNITS, *_COMMON_UNITS)} - {""}
_UNIT = re.compile(r"(\d+(?:[.,]\d+)*)\s?([%°Å]?[^\W\d_]{0,6})(?![^\W_])")


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement and the quote that is to support it.

    Attributes
    ----------
    id
        Of the claim.
    subject, statement
        What is stated, of what.
    quote
        Words of the source.
    source_sha256, start, end
        Where the quote stands.
    """

    id: str
    subject: str
    statement: str
    quote: str
    source_sha256: str
    start: int
    end: int


def missing_support(subject: str, statement: str, quote: str) -> tuple[str, ...]:
    """List what a statement says and its quote does not.

    The entity must be named in the quote; each number of the statement must stand in it with its
    sign, and with its unit where the statement gives one; and what the statement denies, the quote
    must deny too, and the other way round.

    Parameters
    ----------
    subject
        The entity; an empty one is not asked for.
    statement, quote
        What is stated, and the words of the source.

    Returns
    -------
    tuple of str
        Each in words for people; empty where the quote supports the statement.
    """
    return (*_missing_entity(subject, quote), *_missing_numbers(statement, quote),
            *_differing_negation(statement, quote))  # fmt: skip


def _missing_entity(subject: str, quote: str) -> Iterator[str]:
    if subject.strip() and not _names(subject, quote):
        yield f"the quote does not name {subject}"


def _names(subject: str, quote: str) -> bool:
    """Whether a quote names an entity as whole words, in any case and with a plural."""
    pattern = r"[\s-]*".join(re.escape(word) for word in re.split(r"[\s-]+", plain(subject)))
    return (
        re.search(rf"(?<![^\W_]){pattern}(?:e?s)?(?![^\W_])", plain(quote), re.IGNORECASE)
        is not None
    )


def _missing_numbers(statement: str, quote: str) -> Iterator[str]:
    held = numbers_in(quote)
    left = list(held)
    for number in numbers_in(statement):
        if number in left:
            left.remove(number)
        elif number not in held:
            yield f"the quote does not hold {number}"
    units = _units(quote)
    for number, unit in _units(statement).items():
        if number in units and not unit <= units[number]:
            yield f"the quote gives {number} in another unit than {min(unit - units[number])}"


def _units(text: str) -> dict[str, frozenset[str]]:
    """Units by the number in front of them, as they are written."""
    found: dict[str, frozenset[str]] = {}
    words = plain(text)
    for match in _UNIT.finditer(words):
        if match[2] in _UNITS:
            number = ungrouped(match[1])
            found[number] = found.get(number, frozenset()) | {match[2]}
    return found


def _differing_negation(statement: str, quote: str) -> Iterator[str]:
    stated, quoted = bool(negations_in(statement)), bool(negations_in(quote))
    if stated and not quoted:
        yield "the statement denies what the quote does not deny"
    elif quoted and not stated:
        yield "the quote denies something and the statement does not"


def unrelated(stated: Sequence[Stated]) -> dict[str, str]:
    """Find statements that share a quote with another and are not about it.

    One quote may serve several statements if each of them is about what it says: half of its words
    must be words of the quote.

    Returns
    -------
    dict
        By the claim's identifier, why it is not supported.
    """
    found = {}
    for first, second in _sharing(stated):
        for claim, other in ((first, second), (second, first)):
            share = _share(claim.statement, claim.quote)
            if share < _RELATED and claim.statement != other.statement:
                found[claim.id] = (
                    f"its quote serves {other.id} too and holds few of the words of this statement"
                )
    return found


def _sharing(stated: Sequence[Stated]) -> Iterator[tuple[Stated, Stated]]:
    by_source: dict[str, list[Stated]] = {}
    for each in stated:
        by_source.setdefault(each.source_sha256, []).append(each)
    for claims in by_source.values():
        for first, second in combinations(claims, 2):
            if first.start < second.end and second.start < first.end:
                yield first, second


def _share(statement: str, quote: str) -> float:
    """Share of the content words of a statement that stand in a quote, by their first letters."""
    wanted = _stems(statement)
    return len(wanted & _stems(quote)) / len(wanted) if wanted else 1.0


def _stems(text: str) -> set[str]:
    words = (word.casefold() for word in _WORD.findall(plain(text)))
    return {word[:_STEM] for word in words if word not in _EMPTY_WORDS}


def same_words(first: str, second: str) -> bool:
    """Whether two texts differ in typography only."""
    return fold(first).text == fold(second).text

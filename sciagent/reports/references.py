"""The numbered references of a report: which works it cites, and where.

A citation is printed as sourced only if its quote was found when the report was assembled. A work
is among the references if a token of the report prints such a citation of it; they are numbered as
a reader meets them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sciagent.contracts.claim import CitationClaim, Claim, ClaimsFile
from sciagent.contracts.literature import Work
from sciagent.contracts.model import sha256_text
from sciagent.literature.bibliography.keys import is_safe_key
from sciagent.literature.quoting.support import Stated, missing_support, unrelated
from sciagent.reports.tokens import CLAIM_LINK, PLACE_LINK, REFERENCE_LINK, tokens_of

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def anchor(claim: str) -> str:
    """Name of the place in the report where a claim's evidence stands."""
    return f"{CLAIM_LINK.removeprefix('#')}{claim}"


def reference_anchor(key: str) -> str:
    """Name of the place where the entry of a work stands."""
    safe = key if is_safe_key(key) else sha256_text(key)[:12]
    return f"{REFERENCE_LINK.removeprefix('#')}{safe}"


def place_anchor(order: int) -> str:
    """Name of the place where the token of this order cites a work."""
    return f"{PLACE_LINK.removeprefix('#')}{order}"


def place_letters(count: int) -> list[str]:
    """Letters for the places that cite one work: a to z, then aa."""
    size = len(_ALPHABET)
    return [
        (_ALPHABET[number // size - 1] if number >= size else "") + _ALPHABET[number % size]
        for number in (place % (size * (size + 1)) for place in range(count))
    ]


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of the references.

    Attributes
    ----------
    number
        Counted from 1 as a reader meets the works.
    work
        What is cited.
    places
        Orders of the tokens that cite it.
    """

    number: int
    work: Work
    places: tuple[int, ...]

    @property
    def anchor(self) -> str:
        """Name of its place in the report."""
        return reference_anchor(self.work.key)


class References:
    """The references of a report, a function of its claims alone.

    Parameters
    ----------
    claims
        The content of `claims.json`.
    """

    def __init__(self, claims: ClaimsFile) -> None:
        self.citations = {
            claim.id: claim for claim in claims.claims if isinstance(claim, CitationClaim)
        }
        self._works = {work.key: work for work in claims.works}
        self._claims = claims

    @cached_property
    def faults(self) -> dict[str, str]:
        """What is wrong with a citation, by its ID, as far as the claims themselves tell."""
        return faults_of_citations(self._claims.claims, self._works)

    @cached_property
    def entries(self) -> tuple[Reference, ...]:
        """The works that are cited, in the order of their numbers."""
        places: dict[str, list[int]] = {}
        for token in tokens_of(self._claims.report_source):
            claim = self.citations.get(token.id) if token.kind == "claim" else None
            if claim is not None and is_located(claim) and claim.citation.work in self._works:
                places.setdefault(claim.citation.work, []).append(token.order)
        return tuple(
            Reference(number, self._works[key], tuple(orders))
            for number, (key, orders) in enumerate(places.items(), 1)
        )

    @cached_property
    def by_anchor(self) -> dict[str, Reference]:
        """The entries by the names of their places."""
        return {entry.anchor: entry for entry in self.entries}

    @cached_property
    def _by_key(self) -> dict[str, Reference]:
        return {entry.work.key: entry for entry in self.entries}

    def of(self, claim: CitationClaim) -> Reference | None:
        """The entry that a citation is printed with; none if its quote was not found."""
        return self._by_key.get(claim.citation.work) if is_located(claim) else None


def is_located(claim: CitationClaim) -> bool:
    """Whether the quote was found when the report was assembled."""
    return claim.citation.quote.start is not None and claim.citation.quote.end is not None


def faults_of_citations(claims: Sequence[Claim], works: Mapping[str, Work]) -> dict[str, str]:
    """Say what is wrong with citations, by their IDs, without a look at the sources."""
    citations = [claim for claim in claims if isinstance(claim, CitationClaim)]
    faults = unrelated([_stated(claim) for claim in citations if is_located(claim)])
    for claim in citations:
        missing = missing_support(claim.subject, claim.statement, claim.citation.quote.text)
        if missing:
            faults[claim.id] = missing[0]
        if not is_located(claim):
            faults[claim.id] = "its quote was not found"
        if claim.citation.work not in works:
            faults[claim.id] = "the work is not known"
    return faults


def _stated(claim: CitationClaim) -> Stated:
    quote = claim.citation.quote
    return Stated(
        claim.id, claim.subject, claim.statement, quote.text, claim.citation.source_sha256,
        quote.start or 0, quote.end or 0,
    )  # fmt: skip

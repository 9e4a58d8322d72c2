"""Citations in HTML: the rows of the table of evidence, and the entries of the references."""

from collections.abc import Iterator
from dataclasses import dataclass

from sciagent.contracts.claim import CitationClaim, Verdict
from sciagent.reports.contents import ReportContents
from sciagent.reports.entries import Entry, entry_of, short_name
from sciagent.reports.references import (
    Reference,
    References,
    anchor,
    is_located,
    place_anchor,
    place_letters,
)
from sciagent.workspace.layout import SOURCES


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A citation in the table of evidence.

    Attributes
    ----------
    reference
        Its entry; none if its quote was not found.
    source
        The work in few words.
    place
        Page and characters; empty if the quote was not found.
    text_path
        File of the text that the quote stands in.
    """

    claim: CitationClaim
    anchor: str
    verdict: Verdict
    reference: Reference | None
    source: str
    place: str
    text_path: str
    command: str


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """An entry of the references with the places that cite it, each a letter and an anchor."""

    number: int
    anchor: str
    entry: Entry
    is_retracted: bool
    places: tuple[tuple[str, str], ...]


def evidence_rows(contents: ReportContents, references: References) -> Iterator[EvidenceRow]:
    """The rows of the table of evidence, in the order of `claims.json`."""
    works = {work.key: work for work in contents.claims.works}
    for claim in references.citations.values():
        missing = Verdict(claim=claim.id, verdict="unresolved", detail="It was not checked.")
        quote, work = claim.citation.quote, works.get(claim.citation.work)
        place = f"page {quote.page}, characters {quote.start} to {quote.end}"
        yield EvidenceRow(
            claim=claim,
            anchor=anchor(claim.id),
            verdict=contents.verdicts.get(claim.id, missing),
            reference=references.of(claim),
            source=short_name(work) if work is not None else claim.citation.work,
            place=place if is_located(claim) else "",
            text_path=f"{SOURCES}/{claim.citation.source_sha256}.txt",
            command=f"sciagent verify . --claim {claim.id}",
        )


def reference_rows(references: References) -> Iterator[ReferenceRow]:
    """The entries of the references, by their numbers."""
    for reference in references.entries:
        letters = place_letters(len(reference.places))
        places = zip(letters, map(place_anchor, reference.places), strict=True)
        yield ReferenceRow(
            number=reference.number,
            anchor=reference.anchor,
            entry=entry_of(reference.work),
            is_retracted=reference.work.status == "retracted",
            places=tuple(places),
        )

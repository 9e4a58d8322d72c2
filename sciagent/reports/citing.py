"""From the citations that a report asks for to claims: each quote is looked up where it stands."""

from collections.abc import Sequence
from pathlib import Path

from sciagent.contracts.citation import Citation
from sciagent.contracts.claim import CitationClaim, Claim, ReportRequest
from sciagent.contracts.errors import InputError
from sciagent.contracts.literature import PublicationStatus, Work, severity
from sciagent.reports.citations import place_of_quote, stored_text


def resolve_citations(root: Path, request: ReportRequest) -> tuple[CitationClaim, ...]:
    """Look up the quotes of all citations and fill in page and characters.

    A quote that does not stand where it is said to has no characters afterwards: its statement is
    not printed as sourced. What became of a work is the worse of what the work and the citation
    say.
    """
    texts: dict[str, str | None] = {}
    works = {work.key: work for work in request.works}

    def resolved(claim: CitationClaim) -> CitationClaim:
        citation = claim.citation
        if citation.source_sha256 not in texts:
            texts[citation.source_sha256] = stored_text(root, citation.source_sha256)
        changed = _located(citation, texts[citation.source_sha256])
        work = works.get(citation.work)
        if work is not None and _is_worse(work.status, citation.status):
            changed = changed.model_copy(
                update={"status": work.status, "status_date": work.status_date}
            )
        return claim.model_copy(update={"citation": changed})

    return tuple(resolved(claim) for claim in request.citations)


def _is_worse(one: PublicationStatus, other: PublicationStatus) -> bool:
    return severity(one) > severity(other)


def _located(citation: Citation, text: str | None) -> Citation:
    place = None if text is None else place_of_quote(citation.quote, text)
    update = (
        {"start": None, "end": None}
        if place is None
        else {"page": place.page, "start": place.start, "end": place.end}
    )
    return citation.model_copy(update={"quote": citation.quote.model_copy(update=update)})


def cited_works(request: ReportRequest, claims: Sequence[Claim]) -> tuple[Work, ...]:
    """The works that the citations among resolved claims name, in the order of the request.

    Raises
    ------
    InputError
        If two of the works have the same key.
    """
    keys = [work.key for work in request.works]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise InputError(f"Two works have the key {twice[0]!r}.", "Give one another key.")
    worst: dict[str, Citation] = {}
    for claim in claims:
        if not isinstance(claim, CitationClaim):
            continue
        known = worst.setdefault(claim.citation.work, claim.citation)
        if _is_worse(claim.citation.status, known.status):
            worst[claim.citation.work] = claim.citation
    return tuple(_marked(work, worst[work.key]) for work in request.works if work.key in worst)


def _marked(work: Work, citation: Citation) -> Work:
    if not _is_worse(citation.status, work.status):
        return work
    return work.model_copy(update={"status": citation.status, "status_date": citation.status_date})

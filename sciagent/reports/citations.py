"""Quotes looked up in the stored text of their source, and whether they support the statement."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sciagent.contracts.citation import Quote
from sciagent.contracts.claim import CitationClaim, Claim, VerdictName
from sciagent.contracts.literature import Work
from sciagent.literature.quoting.folding import critical_tokens
from sciagent.literature.quoting.locating import Place, page_at, places
from sciagent.literature.quoting.support import (
    Stated,
    missing_support,
    same_words,
    unrelated,
)
from sciagent.workspace.layout import SOURCES


@dataclass(frozen=True)
class CitationJudge:
    """Judges the citations of a report by the texts that its workspace keeps.

    Attributes
    ----------
    claims
        All claims of the report: one quote must not serve statements that it is not about.
    root
        The workspace.
    works
        The works that the report may cite, by their keys.
    """

    claims: Sequence[Claim]
    root: Path
    works: Mapping[str, Work]

    def judge(self, claim: CitationClaim) -> tuple[VerdictName, str]:
        """Say whether a quote stands in its source and supports the statement.

        It must stand there to the letter, or differ in typography only, and on the page and at the
        characters that the citation names. The entity, each number and each negation of the
        statement must stand in it.
        """
        citation = claim.citation
        work = self.works.get(citation.work)
        if work is None:
            return "unresolved", f"There is no work {citation.work!r} among those of the report."
        for each in (citation, work):
            if each.status == "retracted":
                date = each.status_date or "a date that is not known"
                return "retracted", f"{citation.work} was retracted on {date}."
        text = self._text(citation.source_sha256)
        if text is None:
            return "unresolved", f"No intact text of {citation.work} is kept in {SOURCES}/."
        place = place_of_quote(citation.quote, text)
        if place is None:
            return "not_found", f"The quote does not stand in {citation.work} where it should."
        missing = missing_support(claim.subject, claim.statement, citation.quote.text)
        if missing:
            return "unsupported", f"{missing[0][0].upper()}{missing[0][1:]}."
        if claim.id in self._unrelated:
            return "unsupported", f"The quote is not enough: {self._unrelated[claim.id]}."
        how = "" if place.how == "exact" else ", but for its typography"
        return "quoted", f"It stands on page {place.page} of {citation.work}{how}."

    @cached_property
    def _texts(self) -> dict[str, str | None]:
        return {}

    def _text(self, sha256: str) -> str | None:
        if sha256 not in self._texts:
            self._texts[sha256] = stored_text(self.root, sha256)
        return self._texts[sha256]

    @cached_property
    def _unrelated(self) -> dict[str, str]:
        return unrelated(
            [
                stated
                for claim in self.claims
                if isinstance(claim, CitationClaim) and (stated := self._stated(claim)) is not None
            ]
        )

    def _stated(self, claim: CitationClaim) -> Stated | None:
        quote, sha256 = claim.citation.quote, claim.citation.source_sha256
        text = self._text(sha256)
        place = place_of_quote(quote, text) if text is not None else None
        if place is None:
            return None
        return Stated(
            claim.id, claim.subject, claim.statement, quote.text, sha256, place.start, place.end
        )


def place_of_quote(quote: Quote, text: str) -> Place | None:
    """Find a quote where it says that it stands; none if it does not."""
    if quote.start is None or quote.end is None:
        return next(places(quote.text, text, quote.page), None)
    found = text[quote.start : quote.end]
    is_same = same_words(found, quote.text)
    if not is_same or critical_tokens(found) != critical_tokens(quote.text):
        return None
    first, last = page_at(text, quote.start), page_at(text, max(quote.start, quote.end - 1))
    if quote.page is not None and not first <= quote.page <= last:
        return None
    how = "exact" if found == quote.text else "normalised"
    return Place(first, quote.start, quote.end, how)  # type: ignore[arg-type]


def stored_text(root: Path, sha256: str) -> str | None:
    """Read a stored text by its hash; none if it is not there or was changed."""
    for path in sorted((root / SOURCES).glob(f"{sha256}*")) if sha256.isalnum() else ():
        content = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(content).hexdigest() == sha256:
            return content.decode("utf-8", errors="replace")
    return None

"""Quotes looked up in the stored text of their source, word for word."""

import hashlib
import re
from pathlib import Path

from sciagent.contracts.claim import CitationClaim, VerdictName
from sciagent.workspace.layout import SOURCES

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
PAGE_BREAK = "\f"


def judge_citation(claim: CitationClaim, root: Path) -> tuple[VerdictName, str]:
    """Say whether a quote stands in its source and supports the statement.

    Only exact quotes are found here. The statement's subject and each number in it must occur in
    the quote.
    """
    citation = claim.citation
    if citation.status == "retracted":
        return "retracted", f"{citation.work} was retracted on {citation.status_date or 'a date'}."
    text = _stored_text(root, citation.source_sha256)
    if text is None:
        return "unresolved", f"No intact text of {citation.work} is kept in {SOURCES}/."
    if not _stands_there(claim, text):
        return "not_found", f"The quote does not stand in {citation.work} where it should."
    quoted = citation.quote.text.casefold()
    missing = [
        word
        for word in [claim.subject, *_NUMBER.findall(claim.statement)]
        if word.casefold() not in quoted
    ]
    if missing:
        return "unsupported", f"The quote does not hold {', '.join(missing)}."
    return "quoted", f"The quote stands in {citation.work}."


def _stored_text(root: Path, sha256: str) -> str | None:
    for path in sorted((root / SOURCES).glob("*")):
        if path.name.startswith(sha256) and path.is_file():
            content = path.read_bytes()
            if hashlib.sha256(content).hexdigest() == sha256:
                return content.decode("utf-8", errors="replace")
    return None


def _stands_there(claim: CitationClaim, text: str) -> bool:
    quote = claim.citation.quote
    if quote.page is not None:
        pages = text.split(PAGE_BREAK)
        text = pages[quote.page - 1] if quote.page <= len(pages) else ""
    if quote.start is not None and quote.end is not None:
        return text[quote.start : quote.end] == quote.text
    return quote.text in text

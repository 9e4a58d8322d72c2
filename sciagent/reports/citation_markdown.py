"""Citations in Markdown: inside a sentence, in the table of evidence, and the references."""

from sciagent.contracts.claim import CitationClaim, InferenceClaim
from sciagent.reports.entries import entry_of, short_name
from sciagent.reports.escaping import code, escaped, link_target, one_line
from sciagent.reports.references import (
    Reference,
    References,
    anchor,
    is_located,
    place_anchor,
    place_letters,
)
from sciagent.reports.tokens import CLAIM_LINK, Token
from sciagent.workspace.layout import SOURCES

_EVIDENCE = (
    "## Evidence",
    "*Each of these statements rests on words of a source, whose text is kept as it was read.*",
)
_EVIDENCE_HEADER = (
    "| claim | statement | quote | source | remark |",
    "|:---|:---|:---|:---|:---|",
)
INFERENCE = "the author's inference"


def stated(
    claim: CitationClaim | InferenceClaim, token: Token, references: References, *, in_html: bool
) -> str:
    """A statement inside the text, with the reference or the words that mark it.

    In HTML, the place of the reference stands in the title of its link.
    """
    words = one_line(claim.statement)
    # The mark that ends the sentence stands behind the reference.
    stop = "." if words.endswith(".") and not token.ends else ""
    label = f"{escaped(claim.label)}: " if token.labelled else ""
    link = f"[{label}{escaped(words.removesuffix('.'))}]({CLAIM_LINK}{claim.id})"
    if isinstance(claim, InferenceClaim):
        return f"{link} *({INFERENCE})*{stop}"
    mark = _mark(claim, token, references, in_html=in_html)
    # A number in brackets does not begin a line.
    blank = "\u00a0" if in_html and mark.startswith("[") else " "
    return f"{link}{blank}{mark}{stop}"


def _mark(claim: CitationClaim, token: Token, references: References, *, in_html: bool) -> str:
    reference, fault = references.of(claim), references.faults.get(claim.id)
    if reference is None:
        return f"**(unsourced: {escaped(fault or 'its quote was not found')})**"
    number = rf"\[{reference.number}\]"
    if in_html:
        link = f'[{number}](#{reference.anchor} "{place_anchor(token.order)}")'
    else:
        link = f'<a id="{place_anchor(token.order)}"></a>[{number}](#{reference.anchor})'
    if fault is not None:
        return f"**(not supported by {link}: {escaped(fault)})**"
    status, date = claim.citation.status, claim.citation.status_date
    if status in {"retracted", "corrected"}:
        when = f" {escaped(date)}" if date else ""
        return f"{link} **({status}{when})**"
    return link


def evidence_section(references: References) -> list[str]:
    """The quotes behind the citations, as parts of a report; none if there are no citations."""
    if not references.citations:
        return []
    rows = [_evidence_row(claim, references) for claim in references.citations.values()]
    return [*_EVIDENCE, "\n".join([*_EVIDENCE_HEADER, *rows])]


def _evidence_row(claim: CitationClaim, references: References) -> str:
    quote = claim.citation.quote
    cells = [
        f'<a id="{anchor(claim.id)}"></a>{code(claim.id)}',
        escaped(claim.statement),
        f"“{escaped(quote.text)}”",
        _source(claim, references),
        escaped(references.faults.get(claim.id, "")),
    ]
    return f"| {' | '.join(cells)} |"


def _source(claim: CitationClaim, references: References) -> str:
    reference = references.of(claim)
    name = escaped(claim.citation.work)
    if reference is not None:
        short = escaped(short_name(reference.work))
        name = rf"[\[{reference.number}\] {short}](#{reference.anchor})"
    return f"{name}, {place_in_words(claim)}" if is_located(claim) else name


def place_in_words(claim: CitationClaim) -> str:
    """Page and characters of a quote, with a link to the text that is kept."""
    quote = claim.citation.quote
    file = link_target(f"{SOURCES}/{claim.citation.source_sha256}.txt")
    return f"page {quote.page}, characters {quote.start} to {quote.end} of [its text]({file})"


def references_section(references: References) -> list[str]:
    """The numbered references with links back, as parts of a report; none if nothing is cited."""
    if not references.entries:
        return []
    return ["## References", *(_entry(reference) for reference in references.entries)]


def _entry(reference: Reference) -> str:
    entry = entry_of(reference.work)
    parts = [f'<a id="{reference.anchor}"></a>\\[{reference.number}\\]']
    if entry.head:
        parts.append(f"{escaped(entry.head)}.")
    parts.append(escaped(entry.title))
    appeared = [f"*{escaped(entry.container)}*"] if entry.container else []
    appeared += [escaped(entry.tail)] if entry.tail else []
    if appeared:
        parts.append(f"{', '.join(appeared)}.")
    if entry.href:
        parts.append(f"[{escaped(entry.address)}]({entry.href}).")
    elif entry.address:
        parts.append(f"{code(entry.address)}.")
    if entry.standing:
        parts.append(f"**{escaped(entry.standing)}.**")
    letters = place_letters(len(reference.places))
    back = [
        f"[{letter}](#{place_anchor(place)})"
        for letter, place in zip(letters, reference.places, strict=True)
    ]
    parts.append(f"Cited at {' '.join(back)}.")
    return " ".join(parts)

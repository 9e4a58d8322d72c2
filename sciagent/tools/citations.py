"""Tools that record what the literature says, word for word, and what the author concludes."""

from pydantic import Field

from sciagent.contracts.claim import CitationClaim, InferenceClaim, ReportRequest
from sciagent.contracts.errors import InputError
from sciagent.contracts.model import Contract
from sciagent.literature.bibliography.standing import standing_note
from sciagent.literature.quoting.citing import citation_of
from sciagent.literature.quoting.locating import SHORTEST, Place, locate
from sciagent.literature.quoting.nearest import Passage, nearest_passage
from sciagent.reports.references import faults_of_citations
from sciagent.tools.citable import CitableText, citable_texts
from sciagent.tools.claim_evidence import require_plain_label
from sciagent.tools.claims import Identifier
from sciagent.tools.report_draft import (
    DRAFT_LOCK,
    read_draft,
    with_citation,
    with_inference,
    write_draft,
)
from sciagent.tools.tool import ToolContext, ToolOutput, tool


class CitationArguments(Contract):
    """A statement and the words of a source that support it."""

    id: Identifier = Field(description="Lower-case name for tokens, such as hughes.cell_a.")
    subject: str = Field(
        min_length=1, description="What it is about, as the quote names it, such as fluorapatite."
    )
    statement: str = Field(
        min_length=1,
        description="One sentence. Its numbers, units and negations must be those of the quote.",
    )
    url_or_work: str = Field(
        min_length=1, description="Address that was visited; or key, DOI or arXiv id of the work."
    )
    quote: str = Field(min_length=1, description="Words of the source, letter by letter.")
    page: int | None = Field(default=None, ge=1, description="On which the quote stands, if known.")


class InferenceArguments(Contract):
    """A statement that no source makes."""

    id: Identifier = Field(description="Lower-case name that tokens use.")
    subject: str = Field(min_length=1, description="What it is about.")
    statement: str = Field(min_length=1, description="One sentence without numbers.")


@tool(read_only=False, approval="never", origin="own")
def record_citation(context: ToolContext, citation: CitationArguments) -> ToolOutput:
    """Record a statement with the quote that supports it, so that the report can print it.

    The quote is looked up at once in what was read of the source. Write {{claim:ID}} where the
    report states it: the statement and the number of its reference are printed there.
    """
    require_plain_label(subject=citation.subject)
    texts = citable_texts(context.root, citation.url_or_work)
    found = _found(citation, texts)
    if found is None:
        return _not_recorded(citation, texts)
    text, place = found
    with DRAFT_LOCK:
        before = read_draft(context.root)
        draft = with_citation(before, _claim(context, citation, text, place), text.work)
        _require_support(before, draft)
        write_draft(context.root, draft)
    (recorded,) = (each for each in draft.citations if each.id == citation.id)
    return ToolOutput(_said(recorded, place, standing_note(text.work)), tainted=True)


def _found(
    citation: CitationArguments, texts: list[CitableText]
) -> tuple[CitableText, Place] | None:
    for text in texts:
        place = locate(citation.quote, text.source.text, citation.page)
        if place is not None:
            return text, place
    return None


def _claim(
    context: ToolContext, citation: CitationArguments, text: CitableText, place: Place
) -> CitationClaim:
    return CitationClaim(
        id=citation.id,
        subject=citation.subject,
        quantity="cited statement",
        statement=context.redactor.text(" ".join(citation.statement.split())),
        citation=citation_of(text.work, text.source.sha256, citation.quote.strip(), place),
    )


def _require_support(before: ReportRequest, draft: ReportRequest) -> None:
    """Refuse a citation that is not supported, or takes the support of another one away.

    Raises
    ------
    InputError
        With what is wrong, and with which of them.
    """
    known = _faults(before)
    new = {name: fault for name, fault in _faults(draft).items() if name not in known}
    if new:
        name, fault = next(iter(new.items()))
        raise InputError(
            f"The citation was not recorded: {fault} ({name}).",
            "State what the quote says, or quote the words that say it.",
        )


def _faults(draft: ReportRequest) -> dict[str, str]:
    return faults_of_citations(draft.citations, {work.key: work for work in draft.works})


def _said(claim: CitationClaim, place: Place, standing: str) -> str:
    quote = claim.citation.quote
    how = "" if place.how == "exact" else ", but for its typography"
    said = (
        f"Recorded {claim.id}: the quote stands on page {quote.page}, characters {quote.start} to "
        f"{quote.end}, of {claim.citation.work}{how}."
    )
    return (
        f"{said} Note that this work was {standing[0].lower()}{standing[1:]}." if standing else said
    )


def _not_recorded(citation: CitationArguments, texts: list[CitableText]) -> ToolOutput:
    """Say why a quote was not found, with what the source has instead.

    This is no error, whose message would count as words of our own: it may hold the source's.
    """
    said = f"Error: {citation.id} was not recorded. {_reason(citation, texts)}"
    return ToolOutput(said, tainted=True, provenance=texts[0].source.url)


def _reason(citation: CitationArguments, texts: list[CitableText]) -> str:
    if len("".join(citation.quote.split())) < SHORTEST:
        return "The quote is too short to be found reliably: quote the whole sentence."
    for text in texts:
        elsewhere = locate(citation.quote, text.source.text)
        if elsewhere is not None:
            return f"The quote stands on page {elsewhere.page}, not on page {citation.page}."
    near = [nearest_passage(citation.quote, text.source.text) for text in texts]
    passage = next((each for each in near if each is not None), None)
    where = "The quote does not stand in what was read of this source"
    return f"{where}. {_offered(passage)}" if passage else f"{where}, nor does anything like it."


def _offered(passage: Passage) -> str:
    text = " ".join(passage.text.split())
    return f"Nearest to it is, on page {passage.page}: “{text}”"


@tool(read_only=False, approval="never", origin="own")
def record_inference(context: ToolContext, inference: InferenceArguments) -> ToolOutput:
    """Record a conclusion of your own, for which no source is given.

    The report prints it where {{claim:ID}} stands, marked as the author's inference.
    """
    require_plain_label(subject=inference.subject, statement=inference.statement)
    statement = context.redactor.text(" ".join(inference.statement.split()))
    claim = InferenceClaim(
        id=inference.id, subject=inference.subject, quantity="inference", statement=statement
    )
    with DRAFT_LOCK:
        write_draft(context.root, with_inference(read_draft(context.root), claim))
    return ToolOutput(f"Recorded {claim.id} as your inference: no source is given for it.")


CITATIONS = (record_citation, record_inference)

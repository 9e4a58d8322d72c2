"""Tools that search the web and the literature, and read pages."""

from collections.abc import Iterator

from sciagent.contracts.errors import InputError
from sciagent.contracts.literature import Document, Found, Source, SourceAnswer, Work
from sciagent.contracts.model import sha256_text
from sciagent.contracts.ports import Literature
from sciagent.tools.sources import SourceOfWork
from sciagent.tools.tool import ToolContext, ToolOutput, tool

_NAMED = 3


def literature_of(context: ToolContext) -> Literature:
    """Whom tools ask; refused where the run has nobody."""
    if context.literature is None:
        raise InputError(
            "This run has no access to the web or to a library.",
            "Answer from the workspace and say what could not be looked up.",
        )
    return context.literature


def required(text: str, what: str) -> str:
    """A text that must not be empty."""
    if not text.strip():
        raise InputError(f"The {what} is empty.", "Say what is looked for.")
    return text.strip()


@tool(read_only=True, approval="never", outside=True)
def search(context: ToolContext, query: str) -> ToolOutput:
    """Search the web; gives addresses with snippets. Read a page with visit before citing it.

    Parameters
    ----------
    query
        Words to look for.
    """
    return _listed(literature_of(context).search(required(query, "query")))


@tool(read_only=True, approval="never", outside=True)
def scholar(context: ToolContext, query: str) -> ToolOutput:
    """Search the scholarly literature; gives works with their abstracts.

    Parameters
    ----------
    query
        Words to look for, an author, a title, or a DOI.
    """
    return _listed(literature_of(context).scholar(required(query, "query")))


@tool(read_only=True, approval="never", outside=True)
def visit(context: ToolContext, url: str) -> ToolOutput:
    """Read a page or a paper as text. Quotes must be copied from it letter by letter.

    Parameters
    ----------
    url
        Address as a search gave it.
    """
    source = read_source(literature_of(context).visit(required(url, "address")))
    title = f"{source.title}\n\n" if source.title else ""
    return ToolOutput(f"{title}{source.text}", sources=(source,), provenance=source.url)


def _listed(found: Found) -> ToolOutput:
    works = tuple(_as_source(work) for work in found.works)
    sources = (*works, *found.pages)
    entries = [
        f"{number}. {source.title or '(no title)'}\n   {source.url}\n   {source.text}"
        for number, source in enumerate(sources, 1)
    ]
    failed = [_failure(each) for each in found.answers if each.status not in {"ok", "no_match"}]
    if not entries and not failed:
        entries = ["Nothing was found."]
    if not entries:
        entries = ["Nothing was found, because these did not answer. That proves no absence."]
    text = "\n".join([*entries, *failed])
    return ToolOutput(text, sources=sources, provenance=f"query {found.query}")


def read_source(document: Document) -> Source:
    """The text of a document, with its work where that is known."""
    if document.work is None:
        return document.source
    return SourceOfWork(**document.source.model_dump(), work=document.work)


def _as_source(work: Work) -> Source:
    text = "\n".join(_description(work))
    url = work.address or work.key
    return SourceOfWork(url=url, title=work.title, sha256=sha256_text(text), text=text, work=work)


def _description(work: Work) -> Iterator[str]:
    names = ", ".join(author.family for author in work.authors[:_NAMED])
    more = " and others" if len(work.authors) > _NAMED else ""
    about = [f"{names}{more}", work.container, str(work.year or ""), work.doi, work.arxiv_id]
    yield "; ".join(each for each in about if each)
    if work.status in {"retracted", "corrected"}:
        yield f"{work.status.upper()} {work.status_date or ''}".strip()
    if work.full_text:
        yield f"Full text: {' '.join(work.full_text)}"
    if work.abstract:
        yield work.abstract


def _failure(answer: SourceAnswer) -> str:
    again = "" if answer.retry_after_s is None else f", ask again in {answer.retry_after_s:.0f} s"
    detail = f" ({answer.detail})" if answer.detail else ""
    return f"{answer.source}: {answer.status}{again}{detail}"


LITERATURE = (search, scholar, visit)

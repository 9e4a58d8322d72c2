"""Tools that search the web and the literature, and read pages."""

from collections.abc import Sequence

from sciagent.contracts.errors import InputError
from sciagent.contracts.ports import Literature, Source
from sciagent.tools.tool import ToolContext, ToolOutput, tool


def _port(context: ToolContext) -> Literature:
    if context.literature is None:
        raise InputError(
            "This run has no access to the web or to a library.",
            "Answer from the workspace and say what could not be looked up.",
        )
    return context.literature


def _required(text: str, what: str) -> str:
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
    return _listed(_port(context).search(_required(query, "query")), query)


@tool(read_only=True, approval="never", outside=True)
def scholar(context: ToolContext, query: str) -> ToolOutput:
    """Search the scholarly literature; gives works with their abstracts.

    Parameters
    ----------
    query
        Words to look for, an author, a title, or a DOI.
    """
    return _listed(_port(context).scholar(_required(query, "query")), query)


@tool(read_only=True, approval="never", outside=True)
def visit(context: ToolContext, url: str) -> ToolOutput:
    """Read a page or a paper as text. Quotes must be copied from it letter by letter.

    Parameters
    ----------
    url
        Address as a search gave it.
    """
    source = _port(context).visit(_required(url, "address"))
    title = f"{source.title}\n\n" if source.title else ""
    return ToolOutput(f"{title}{source.text}", sources=(source,), provenance=source.url)


def _listed(sources: Sequence[Source], query: str) -> ToolOutput:
    entries = [
        f"{number}. {source.title or '(no title)'}\n   {source.url}\n   {source.text}"
        for number, source in enumerate(sources, 1)
    ]
    text = "\n".join(entries) or "Nothing was found."
    return ToolOutput(text, sources=tuple(sources), provenance=f"query {query}")


LITERATURE = (search, scholar, visit)

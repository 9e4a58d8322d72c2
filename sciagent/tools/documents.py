"""Tools that read long documents in parts, so that no prompt has to hold one whole."""

from sciagent.contracts.errors import InputError
from sciagent.contracts.literature import Document, Heading
from sciagent.literature import documents
from sciagent.tools.literature import literature_of, read_source, required
from sciagent.tools.tool import ToolContext, ToolOutput, tool

_MOST_PAGES = 10
_MOST_HEADINGS = 200
_PASSAGES = 5


@tool(read_only=True, approval="never", outside=True)
def outline(context: ToolContext, url: str) -> ToolOutput:
    """List the parts of a long document with their pages; then read_pages or find_in_document.

    Parameters
    ----------
    url
        Address as a search gave it.
    """
    document = _visited(context, url)
    title = document.source.title or "(no title)"
    length = len(document.source.text)
    head = f"{title}\n{document.pages} pages, {length} characters."
    lines = [_line(each) for each in documents.outline(document)[:_MOST_HEADINGS]]
    listed = "\n".join(lines) or "It names no parts, and no lines of it read like headings."
    return _output(document, f"{head}\n\n{listed}")


@tool(read_only=True, approval="never", outside=True)
def read_pages(context: ToolContext, url: str, first: int, last: int) -> ToolOutput:
    """Read some pages of a document. Quotes must be copied from them letter by letter.

    Parameters
    ----------
    url
        Address as a search gave it.
    first, last
        Pages, counted from 1; ten at most.
    """
    if last - first >= _MOST_PAGES:
        raise InputError(
            f"{last - first + 1} pages are too many at once.", f"Read {_MOST_PAGES} at most."
        )
    document = _visited(context, url)
    part = documents.pages(document, first, last)
    place = f"Pages {part.first_page} to {part.last_page} of {document.pages}"
    return _output(document, f"{place}, characters {part.start} to {part.end}:\n\n{part.text}")


@tool(read_only=True, approval="never", outside=True)
def find_in_document(context: ToolContext, url: str, query: str) -> ToolOutput:
    """Find the passages of a document that fit words best, with their pages and characters.

    Parameters
    ----------
    url
        Address as a search gave it.
    query
        Words to look for.
    """
    document = _visited(context, url)
    found = documents.find(document, required(query, "query"), _PASSAGES)
    if not found:
        return _output(document, "None of these words stands in the document.")
    parts = [
        f"Page {each.page}, characters {each.start} to {each.end}:\n{each.text}" for each in found
    ]
    return _output(document, "\n\n".join(parts))


def _visited(context: ToolContext, url: str) -> Document:
    return literature_of(context).visit(required(url, "address"))


def _output(document: Document, text: str) -> ToolOutput:
    """Show a part, and keep the whole, in which quotes are looked up."""
    source = read_source(document)
    return ToolOutput(text, sources=(source,), provenance=source.url)


def _line(heading: Heading) -> str:
    indent = "  " * (heading.level - 1)
    return f"{indent}{heading.title} (page {heading.page}, character {heading.start})"


DOCUMENTS = (outline, read_pages, find_in_document)
"""The tools of this module."""

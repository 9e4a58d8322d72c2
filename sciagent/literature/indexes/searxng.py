"""SearXNG (https://docs.searxng.org): a search of the web by a server of your own."""

from collections.abc import Iterator
from typing import Any

from sciagent.contracts.literature import Source
from sciagent.contracts.model import sha256_text
from sciagent.literature.indexes.index import Access, Index, IndexAnswer, MalformedAnswerError
from sciagent.literature.indexes.records import listed, mapping, text


def search(query: str, limit: int, access: Access) -> IndexAnswer:
    """Ask for pages of the web."""
    content = access.json("/search", {"q": query, "format": "json"})
    results = mapping(content).get("results")
    if not isinstance(results, list):
        raise MalformedAnswerError("The answer of searxng holds no results.", "Ask again later.")
    pages = tuple(_pages(results))[:limit]
    silent = [text(listed(each)) for each in listed(mapping(content).get("unresponsive_engines"))]
    if results and not pages:
        raise MalformedAnswerError("No result of searxng can be read.", "Ask again later.")
    if not pages and silent:
        raise MalformedAnswerError(
            f"The engines behind searxng did not answer: {', '.join(silent)}.", "Ask again later."
        )
    detail = f"did not answer: {', '.join(silent)}" if silent else ""
    return IndexAnswer(pages=pages, detail=detail)


def _pages(results: list[Any]) -> Iterator[Source]:
    for result in map(mapping, results):
        url, shown = result.get("url"), text(result.get("content"))
        if isinstance(url, str) and url.startswith(("http://", "https://")):
            yield Source(
                url=url, title=text(result.get("title")), sha256=sha256_text(shown), text=shown
            )


SEARXNG = Index("searxng", "", search, finds="pages")

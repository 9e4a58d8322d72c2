"""The JSON of a SearXNG search (https://docs.searxng.org/dev/search_api.html)."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from sciagent.contracts.literature import Work
from sciagent.testing.corpus.paper import SITE
from sciagent.testing.corpus.responses.known import page_of, pdf_of, published

_SNIPPET = 240


def searxng_search(
    works: Sequence[Work], query: str, *, unresponsive: Sequence[tuple[str, str]] = (),
    site: str = SITE,
) -> dict[str, Any]:  # fmt: skip
    """Write the answer to a search of the web.

    Parameters
    ----------
    works
        Those whose pages, or PDFs, were found.
    query
        As it was sent.
    unresponsive
        Engines that did not answer, and why.
    site
        Where pages can be read.
    """
    return {
        "query": query,
        "number_of_results": 0,
        "results": [_result(work, place, site) for place, work in enumerate(works, start=1)],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [list(each) for each in unresponsive],
    }


def _result(work: Work, place: int, site: str) -> dict[str, Any]:
    has_page = any(each.endswith(".html") for each in work.full_text)
    address = page_of(work, site) if has_page else pdf_of(work, site) or page_of(work, site)
    parts = urlsplit(address)
    return {
        "url": address,
        "title": f"{work.title} | {work.container}",
        "content": work.abstract[:_SNIPPET],
        "publishedDate": f"{published(work).isoformat()}T00:00:00",
        "thumbnail": "",
        "engine": "duckduckgo",
        "template": "default.html",
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
        "img_src": "",
        "priority": "",
        "engines": ["duckduckgo", "brave"],
        "positions": [place],
        "score": 1.0 / place,
        "category": "general",
    }

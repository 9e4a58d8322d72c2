"""arXiv (https://info.arxiv.org/help/api): one request every three seconds, as it asks for."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from sciagent.contracts.literature import Work, WorkVersion
from sciagent.literature.indexes.index import (
    Access,
    Index,
    IndexAnswer,
    MalformedAnswerError,
    arxiv_id_in,
    doi_in,
)
from sciagent.literature.indexes.records import (
    arxiv_doi,
    arxiv_id_of,
    authors_of,
    bare_doi,
    refuse_missing,
    text,
    works_of,
)
from sciagent.literature.ranking import telling_words

_ATOM = "application/atom+xml"
_FEW = 4
_SPACING_S = 3.0
_FEED = re.compile(rb"<(?:\w+:)?feed[\s>]")
_END = re.compile(rb"</(?:\w+:)?feed>\s*$")
_TOTAL = re.compile(rb"totalResults[^>]*>\s*(\d+)\s*<")


def search(query: str, limit: int, access: Access) -> IndexAnswer:
    """Ask for preprints by words, or for one by its identifier."""
    named = arxiv_id_in(query) or arxiv_id_of(doi_in(query))
    if doi_in(query) and not named:
        return IndexAnswer()
    params = {"start": "0", "max_results": str(limit)}
    words = telling_words(query)
    if named:
        params["id_list"] = named
    elif words:
        # All of a few words; of a whole question any, for arXiv ranks by how many there are.
        joint = " AND " if len(words) <= _FEW else " OR "
        params["search_query"] = joint.join(f"all:{word}" for word in words)
    else:
        return IndexAnswer()
    content = access.text("/api/query", params, _ATOM)
    return works_of(access.name, _entries(content, access), lambda each: _work(each, access))


def _entries(content: bytes, access: Access) -> list[Any]:
    """Read a feed with the parser of the package ``arxiv``.

    It makes an empty feed of whatever is none, so that this is looked for first. Its client is not
    used: it neither heeds Retry-After nor keeps what it was told.
    """
    from arxiv._feed import parse

    # What cannot be read is counted and said by the answer.
    logging.getLogger("arxiv").setLevel(logging.ERROR)
    total = _TOTAL.search(content)
    if total is None or not _FEED.search(content) or not _END.search(content):
        raise MalformedAnswerError(f"The answer of {access.name} is no feed.", "Ask again later.")
    feed = parse(content)
    if feed.malformed:
        raise MalformedAnswerError(f"The answer of {access.name} is no feed.", "Ask again later.")
    refuse_missing(access.name, feed.results, int(total[1]))
    return [{"result": each} for each in feed.results]


def _work(entry: Mapping[str, Any], access: Access) -> Work:
    result = entry["result"]
    identifier = arxiv_id_in(result.entry_id.replace("http://", "https://"))
    if not identifier:
        return Work(key="", title="")
    article = bare_doi(result.doi)
    return Work(
        key="",
        kind="article",
        title=text(result.title),
        authors=authors_of(each.name for each in result.authors),
        year=result.published.year,
        container="arXiv",
        doi=arxiv_doi(identifier),
        arxiv_id=identifier,
        url=f"https://arxiv.org/abs/{identifier}",
        abstract=text(result.summary),
        open_access="open",
        # Addresses are made here: those of the feed may lead to another version.
        full_text=(f"{access.address}/pdf/{identifier}",),
        versions=(WorkVersion(relation="published", doi=article),) if article else (),
    )


ARXIV = Index("arxiv", "https://export.arxiv.org", search, spacing_s=_SPACING_S)

"""Semantic Scholar (https://api.semanticscholar.org); without a key it is mostly overrun."""

from collections.abc import Mapping
from typing import Any

from sciagent.contracts.literature import Work, WorkVersion
from sciagent.literature.indexes.index import Access, Index, IndexAnswer, doi_in
from sciagent.literature.indexes.records import (
    addresses,
    arxiv_id_of,
    authors_of,
    bare_doi,
    listed,
    mapping,
    text,
    works_of,
    year_of,
)

_FIELDS = (
    "title,abstract,venue,year,externalIds,url,isOpenAccess,openAccessPdf,publicationTypes,"
    "journal,authors"
)
_SPACING_S = 1.0


def search(query: str, limit: int, access: Access) -> IndexAnswer:
    """Ask for works by words, or for one by its DOI."""
    if doi := doi_in(query):
        content = access.json(f"/paper/DOI:{doi}", {"fields": _FIELDS})
        return works_of(access.name, [] if content is None else [content], _work)
    content = access.json("/paper/search", {"query": query, "limit": str(limit), "fields": _FIELDS})
    found = mapping(content)
    # Where nothing fits, the list is left out.
    records = [] if found.get("total") == 0 and "data" not in found else found.get("data")
    return works_of(access.name, records, _work, found.get("total"))


def _work(record: Mapping[str, Any]) -> Work:
    ids, journal = mapping(record.get("externalIds")), mapping(record.get("journal"))
    doi, arxiv_id = bare_doi(ids.get("DOI")), text(ids.get("ArXiv"))
    is_article = bool(doi) and not arxiv_id_of(doi)
    pdf = mapping(record.get("openAccessPdf"))
    types = [text(each) for each in listed(record.get("publicationTypes"))]
    return Work(
        key="",
        kind="article-journal" if "JournalArticle" in types or is_article else "article",
        title=text(record.get("title")),
        authors=authors_of(mapping(each).get("name") for each in listed(record.get("authors"))),
        year=year_of(record.get("year")),
        container=text(record.get("venue")) or text(journal.get("name")),
        volume=text(journal.get("volume")),
        pages=text(journal.get("pages")).replace("-", "–"),
        doi=doi,
        arxiv_id="" if is_article else arxiv_id or arxiv_id_of(doi),
        pmid=text(ids.get("PubMed")),
        url=text(record.get("url")),
        abstract=text(record.get("abstract")),
        open_access="open" if record.get("isOpenAccess") is True else "unknown",
        full_text=addresses((pdf.get("url"),)),
        versions=(WorkVersion(relation="preprint", arxiv_id=arxiv_id),)
        if is_article and arxiv_id
        else (),
    )


SEMANTIC_SCHOLAR = Index(
    "semantic_scholar", "https://api.semanticscholar.org/graph/v1", search,
    spacing_s=_SPACING_S, key_header="x-api-key",
)  # fmt: skip

"""OpenAlex (https://developers.openalex.org), which wants a key since 2026-02."""

from collections.abc import Mapping
from typing import Any

from sciagent.contracts.literature import Work, WorkVersion
from sciagent.literature.indexes.index import (
    Access,
    Index,
    IndexAnswer,
    KeyNeededError,
    arxiv_id_in,
    doi_in,
)
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

_KINDS = {
    "article": "article-journal", "preprint": "article", "book": "book", "dataset": "dataset",
    "book-chapter": "chapter", "dissertation": "thesis", "report": "report",
}  # fmt: skip


def search(query: str, limit: int, access: Access) -> IndexAnswer:
    """Ask for works by words, or for one by its DOI."""
    if not access.key:
        raise KeyNeededError(
            "openalex wants a key.",
            f"Get one and put it into {access.settings.api_key_variable(access.name)}.",
        )
    doi = doi_in(query)
    params = {"filter": f"doi:{doi}"} if doi else {"search": query}
    content = access.json(
        "/works", {**params, "per_page": str(limit)}, api_key=access.key, mailto=access.contact
    )
    found = mapping(content)
    total = mapping(found.get("meta")).get("count")
    return works_of(access.name, found.get("results"), _work, total)


def _work(record: Mapping[str, Any]) -> Work:
    place = mapping(record.get("primary_location"))
    source, biblio = mapping(place.get("source")), mapping(record.get("biblio"))
    access = mapping(record.get("open_access"))
    doi = bare_doi(record.get("doi"))
    arxiv_id = arxiv_id_in(text(place.get("landing_page_url"))) or arxiv_id_of(doi)
    is_article = bool(doi) and not arxiv_id_of(doi)
    pages = "–".join(filter(None, (text(biblio.get("first_page")), text(biblio.get("last_page")))))
    ids = mapping(record.get("ids"))
    is_retracted = record.get("is_retracted") is True
    best = mapping(record.get("best_oa_location"))
    return Work(
        key="",
        kind=_KINDS.get(text(record.get("type")), "document"),
        title=text(record.get("title")) or text(record.get("display_name")),
        authors=authors_of(
            mapping(mapping(each).get("author")).get("display_name")
            for each in listed(record.get("authorships"))
        ),
        year=year_of(record.get("publication_year")),
        container=text(source.get("display_name")),
        publisher=text(source.get("host_organization_name")),
        volume=text(biblio.get("volume")),
        issue=text(biblio.get("issue")),
        pages=pages,
        doi=doi,
        arxiv_id="" if is_article else arxiv_id,
        pmid=text(ids.get("pmid")).rpartition("/")[2],
        url=text(place.get("landing_page_url")),
        abstract=_abstract(record.get("abstract_inverted_index")),
        licence=text(place.get("license_id")) or text(place.get("license")),
        open_access="open" if access.get("is_oa") is True else "closed",
        full_text=addresses((best.get("pdf_url"), access.get("oa_url"))),
        versions=(WorkVersion(relation="preprint", arxiv_id=arxiv_id),)
        if is_article and arxiv_id
        else (),
        status="retracted" if is_retracted else "unknown",
        status_source="openalex" if is_retracted else "",
    )


def _abstract(index: Any) -> str:
    """Put the words of an inverted index back in order."""
    places = [
        (place, word)
        for word, found in mapping(index).items()
        for place in listed(found)
        if isinstance(place, int)
    ]
    return text(" ".join(word for _, word in sorted(places)))


OPENALEX = Index("openalex", "https://api.openalex.org", search, spacing_s=0.1)

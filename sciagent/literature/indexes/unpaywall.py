"""Unpaywall (https://unpaywall.org/data-format): where a work with a DOI can be read freely."""

from collections.abc import Mapping
from typing import Any

from sciagent.contracts.literature import Work
from sciagent.literature.indexes.index import (
    Access,
    Index,
    IndexAnswer,
    KeyNeededError,
    MalformedAnswerError,
    doi_in,
)
from sciagent.literature.indexes.records import (
    addresses,
    authors_of,
    bare_doi,
    listed,
    mapping,
    text,
    works_of,
    year_of,
)


def search(query: str, limit: int, access: Access) -> IndexAnswer:  # noqa: ARG001
    """Ask for a work by its DOI; words are not for this index."""
    doi = doi_in(query)
    if not doi:
        return IndexAnswer()
    record = record_of(doi, access)
    return works_of(access.name, [] if record is None else [record], work_of)


def record_of(doi: str, access: Access) -> Mapping[str, Any] | None:
    """Ask for the record of a DOI; None if there is none.

    Raises
    ------
    KeyNeededError
        If nobody is named whom the index may write to.
    """
    if not access.contact:
        raise KeyNeededError(
            "unpaywall wants an address of e-mail.", "Set `contact` under [literature]."
        )
    content = access.json(f"/{doi}", email=access.contact)
    if content is None:
        return None
    if not isinstance(content, Mapping) or "is_oa" not in content:
        raise MalformedAnswerError("The answer of unpaywall holds no record.", "Ask later.")
    return content


def work_of(record: Mapping[str, Any]) -> Work:
    """Read a record."""
    best = mapping(record.get("best_oa_location"))
    places = [best, *map(mapping, listed(record.get("oa_locations")))]
    is_open = record.get("is_oa") is True
    names = (mapping(each) for each in listed(record.get("z_authors")))
    return Work(
        key="",
        kind="article" if record.get("genre") == "posted-content" else "article-journal",
        title=text(record.get("title")),
        authors=authors_of(each.get("raw_author_name") for each in names),
        year=year_of(record.get("year")),
        container=text(record.get("journal_name")),
        publisher=text(record.get("publisher")),
        doi=bare_doi(record.get("doi")),
        url=text(record.get("doi_url")),
        licence=text(best.get("license")),
        open_access="open" if is_open else "closed",
        full_text=addresses(each.get(name) for each in places for name in ("url_for_pdf", "url")),
    )


UNPAYWALL = Index("unpaywall", "https://api.unpaywall.org/v2", search, spacing_s=0.1)

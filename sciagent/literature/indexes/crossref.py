"""Crossref (https://api.crossref.org), with the records of Retraction Watch."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Literal

from sciagent.contracts.literature import Author, PublicationStatus, Work, WorkVersion
from sciagent.literature.indexes.index import (
    Access,
    Index,
    IndexAnswer,
    MalformedAnswerError,
    doi_in,
)
from sciagent.literature.indexes.records import (
    addresses,
    bare_doi,
    listed,
    mapping,
    refuse_missing,
    text,
    works_of,
    year_of,
)

_KINDS = {
    "journal-article": "article-journal", "proceedings-article": "paper-conference",
    "book-chapter": "chapter", "book": "book", "monograph": "book", "edited-book": "book",
    "posted-content": "article", "dissertation": "thesis", "report": "report", "dataset": "dataset",
}  # fmt: skip
_RETRACTIONS = frozenset({"retraction", "withdrawal", "removal", "partial_retraction"})
_CORRECTIONS = frozenset({"correction", "corrigendum", "erratum", "addendum", "new_version",
                          "expression_of_concern", "new_edition"})  # fmt: skip
_OPEN = "creativecommons.org"


def search(query: str, limit: int, access: Access) -> IndexAnswer:
    """Ask for works by words, or for one by its DOI."""
    if doi := doi_in(query):
        record = record_of(doi, access)
        return works_of(access.name, [] if record is None else [record], work_of)
    params = {"query.bibliographic": query, "rows": str(limit)}
    content = access.json("/works", params, mailto=access.contact)
    message = mapping(mapping(content).get("message"))
    records = message.get("items")
    if isinstance(records, list):
        refuse_missing(access.name, records, message.get("total-results"))
        # A notice is no work: it stands with the one that it is about.
        records = [each for each in records if not mapping(each).get("update-to")]
    return works_of(access.name, records, work_of)


def record_of(doi: str, access: Access) -> Mapping[str, Any] | None:
    """Ask for the record of a DOI; None if there is none.

    Raises
    ------
    MalformedAnswerError
        If the answer holds no record.
    """
    content = access.json(f"/works/{doi}", mailto=access.contact)
    if content is None:
        return None
    record = mapping(content).get("message")
    if not isinstance(record, Mapping) or not record.get("DOI"):
        raise MalformedAnswerError(f"The answer of {access.name} holds no record.", "Ask later.")
    return record


def work_of(record: Mapping[str, Any]) -> Work:
    """Read a record."""
    status, day, source = status_of(record)
    licences = [text(mapping(each).get("URL")) for each in listed(record.get("license"))]
    licence = next((each for each in licences if _OPEN in each), next(iter(licences), ""))
    links = [mapping(each).get("URL") for each in listed(record.get("link"))]
    kind = text(record.get("type"))
    return Work(
        key="",
        kind=_KINDS.get(kind, "document"),
        title=text(record.get("title")),
        authors=tuple(_authors(listed(record.get("author")))),
        year=_year(record),
        container=text(record.get("container-title")) or _server(record),
        publisher=text(record.get("publisher")),
        volume=text(record.get("volume")),
        issue=text(record.get("issue")),
        pages=text(record.get("page")).replace("-", "–"),
        doi=bare_doi(record.get("DOI")),
        url=text(record.get("URL")),
        abstract=text(record.get("abstract")),
        licence=licence,
        open_access="open" if _OPEN in licence else "unknown",
        full_text=addresses(links) if _OPEN in licence else (),
        versions=(*_versions(record), *_notices(record)),
        status=status,
        status_date=day,
        status_source=source,
    )


def _authors(authors: list[Any]) -> Iterator[Author]:
    for each in map(mapping, authors):
        family = text(each.get("family")) or text(each.get("name"))
        if family:
            yield Author(family=family, given=text(each.get("given")))


def _year(record: Mapping[str, Any]) -> int | None:
    for name in ("published", "issued", "published-print", "published-online", "created"):
        parts = listed(mapping(record.get(name)).get("date-parts"))
        first = listed(parts[0]) if parts else []
        if first and (year := year_of(first[0])):
            return year
    return None


def _server(record: Mapping[str, Any]) -> str:
    institutions = listed(record.get("institution"))
    return text(mapping(institutions[0]).get("name")) if institutions else ""


def _versions(record: Mapping[str, Any]) -> Iterator[WorkVersion]:
    relations = mapping(record.get("relation"))
    kinds: dict[str, Literal["preprint", "published"]] = {
        "has-preprint": "preprint", "is-preprint-of": "published",
    }  # fmt: skip
    for name, kind in kinds.items():
        for each in map(mapping, listed(relations.get(name))):
            doi = bare_doi(each.get("id"))
            if doi:
                yield WorkVersion(relation=kind, doi=doi)


def _notices(record: Mapping[str, Any]) -> Iterator[WorkVersion]:
    seen = set()
    for update in map(mapping, listed(record.get("updated-by"))):
        doi, kind = bare_doi(update.get("DOI")), text(update.get("type")).lower()
        relation: Literal["retraction_notice", "correction"] = "correction"
        if kind in _RETRACTIONS:
            relation = "retraction_notice"
        if doi and doi not in seen:
            seen.add(doi)
            yield WorkVersion(relation=relation, doi=doi, title=text(update.get("label")))


def status_of(record: Mapping[str, Any]) -> tuple[PublicationStatus, str | None, str]:
    """Say what became of a work: its status, the date of that, and who says so.

    A record that names no update is that of a work as it was published.
    """
    found: list[tuple[bool, str, str]] = []
    for update in map(mapping, listed(record.get("updated-by"))):
        kind = text(update.get("type")).lower().replace("-", "_")
        if kind in _RETRACTIONS | _CORRECTIONS:
            source = text(update.get("source")) or "publisher"
            found.append((kind in _RETRACTIONS, _day(update), source))
    retracted = sorted(each[1:] for each in found if each[0])
    if retracted:
        return "retracted", retracted[0][0] or None, f"crossref: {retracted[0][1]}"
    if found:
        day, source = max(each[1:] for each in found)
        return "corrected", day or None, f"crossref: {source}"
    return "current", None, "crossref"


def _day(update: Mapping[str, Any]) -> str:
    parts = listed(mapping(update.get("updated")).get("date-parts"))
    numbers = [each for each in listed(parts[0] if parts else None) if isinstance(each, int)]
    try:
        return date(*(*numbers, 1, 1)[:3]).isoformat() if numbers else ""
    except (ValueError, TypeError):
        return ""


CROSSREF = Index("crossref", "https://api.crossref.org", search, spacing_s=0.1)

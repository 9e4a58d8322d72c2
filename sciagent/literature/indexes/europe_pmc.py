"""Europe PMC (https://europepmc.org/RestfulWebService)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from sciagent.contracts.literature import Author, PublicationStatus, Work, WorkVersion
from sciagent.literature.indexes.index import Access, Index, IndexAnswer, doi_in
from sciagent.literature.indexes.records import (
    addresses,
    bare_doi,
    listed,
    mapping,
    text,
    works_of,
    year_of,
)

_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
_LICENCES = {
    "cc by": "CC-BY-4.0", "cc by-nc": "CC-BY-NC-4.0", "cc by-nd": "CC-BY-ND-4.0",
    "cc by-nc-nd": "CC-BY-NC-ND-4.0", "cc by-sa": "CC-BY-SA-4.0", "cc0": "CC0-1.0",
}  # fmt: skip


def search(query: str, limit: int, access: Access) -> IndexAnswer:
    """Ask for works of the life sciences."""
    doi = doi_in(query)
    asked = f'DOI:"{doi}"' if doi else query
    params = {
        "query": asked, "format": "json", "resultType": "core", "pageSize": str(limit),
    }  # fmt: skip
    content = access.json("/search", params, email=access.contact)
    found = mapping(content)
    records = mapping(found.get("resultList")).get("result")
    return works_of(access.name, records, _work, found.get("hitCount"))


def _work(record: Mapping[str, Any]) -> Work:
    journal = mapping(record.get("journalInfo"))
    is_preprint = record.get("source") == "PPR"
    status, day = _status(record)
    pmcid = text(record.get("pmcid"))
    return Work(
        key="",
        kind="article" if is_preprint else "article-journal",
        title=text(record.get("title")).removesuffix("."),
        authors=tuple(_authors(record)),
        year=year_of(record.get("pubYear")),
        container=text(mapping(journal.get("journal")).get("title"))
        or text(mapping(record.get("bookOrReportDetails")).get("publisher")),
        volume=text(journal.get("volume")),
        issue=text(journal.get("issue")),
        pages=text(record.get("pageInfo")).replace("-", "–"),
        doi=bare_doi(record.get("doi")),
        pmid=text(record.get("pmid")),
        pmcid=pmcid,
        url=f"https://europepmc.org/article/{text(record.get('source'))}/{text(record.get('id'))}",
        abstract=text(record.get("abstractText")),
        licence=_LICENCES.get(text(record.get("license")).lower(), text(record.get("license"))),
        open_access="open" if record.get("isOpenAccess") == "Y" else "unknown",
        full_text=_full_text(record),
        versions=tuple(_versions(record)),
        status=status,
        status_date=day,
        status_source="europe_pmc" if status != "unknown" else "",
    )


def _authors(record: Mapping[str, Any]) -> Iterator[Author]:
    for each in map(mapping, listed(mapping(record.get("authorList")).get("author"))):
        family = text(each.get("lastName")) or text(each.get("collectiveName"))
        if family:
            yield Author(family=family, given=text(each.get("firstName")))


def _full_text(record: Mapping[str, Any]) -> tuple[str, ...]:
    entries = map(mapping, listed(mapping(record.get("fullTextUrlList")).get("fullTextUrl")))
    free = frozenset({"OA", "F"})
    return addresses(each.get("url") for each in entries if each.get("availabilityCode") in free)


def _links(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    links = mapping(record.get("commentCorrectionList")).get("commentCorrection")
    yield from map(mapping, listed(links))


def _versions(record: Mapping[str, Any]) -> Iterator[WorkVersion]:
    kinds: dict[str, Literal["preprint", "published"]] = {
        "preprint in": "preprint", "preprint of": "published",
    }  # fmt: skip
    for link in _links(record):
        kind = kinds.get(text(link.get("type")).lower())
        doi = bare_doi(link.get("reference"))
        if kind is not None and doi:
            yield WorkVersion(relation=kind, doi=doi)


def _status(record: Mapping[str, Any]) -> tuple[PublicationStatus, str | None]:
    types = listed(mapping(record.get("pubTypeList")).get("pubType"))
    links = {text(each.get("type")).lower(): text(each.get("reference")) for each in _links(record)}
    day = {name: match[1] for name, said in links.items() if (match := _DATE.search(said))}
    if "retraction in" in links or any("retracted" in text(each).lower() for each in types):
        return "retracted", day.get("retraction in")
    if "erratum in" in links:
        return "corrected", day.get("erratum in")
    return "unknown", None


EUROPE_PMC = Index(
    "europe_pmc", "https://www.ebi.ac.uk/europepmc/webservices/rest", search, spacing_s=0.1
)

"""The REST API of Crossref (https://api.crossref.org/swagger-ui), with Retraction Watch records."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from sciagent.contracts.literature import Work
from sciagent.testing.corpus.paper import SITE
from sciagent.testing.corpus.responses.known import (
    is_preprint,
    notice_of,
    number_of,
    other_version,
    page_of,
    page_range,
    pdf_of,
    published,
    timestamp_ms,
    without_empty,
)

_VERSION = "1.0.0"


def crossref_works(
    items: Sequence[dict[str, Any]], *, total: int | None = None, start: int = 0, query: str = ""
) -> dict[str, Any]:
    """Write the answer to a query for works.

    Parameters
    ----------
    items
        Made by `crossref_item` and `crossref_notice`.
    total, start
        How many there are in all, and the number of the first one here.
    query
        Terms that were asked for.
    """
    return {
        "status": "ok",
        "message-type": "work-list",
        "message-version": _VERSION,
        "message": {
            "facets": {},
            "total-results": len(items) if total is None else total,
            "items": list(items),
            "items-per-page": len(items),
            "query": {"start-index": start, "search-terms": query or None},
        },
    }


def crossref_single(item: dict[str, Any]) -> dict[str, Any]:
    """Write the answer to a query for one DOI."""
    return {
        "status": "ok", "message-type": "work", "message-version": _VERSION, "message": item,
    }  # fmt: skip


def crossref_item(work: Work, *, site: str = SITE, score: float = 1.0) -> dict[str, Any]:
    """Write the record of a work."""
    record = _record(work.doi, work.title, published(work), page_of(work, site), score)
    return without_empty({
        **record,
        **(_posted(work) if is_preprint(work) else _printed(work)),
        "abstract": f"<jats:p>{work.abstract}</jats:p>" if work.open_access == "open" else "",
        "author": _authors(work),
        "license": _licences(work),
        "link": _links(work, site),
        "relation": _relations(work),
        "updated-by": _updates(work),
        "is-referenced-by-count": number_of(work, 2),
    })  # fmt: skip


def crossref_notice(work: Work, *, site: str = SITE, score: float = 1.0) -> dict[str, Any] | None:
    """Write the record of the notice that a work is retracted or corrected; None if it is not."""
    notice = notice_of(work)
    if notice is None or work.status_date is None:
        return None
    day = date.fromisoformat(work.status_date)
    record = _record(notice.doi, notice.title, day, page_of(work, site), score)
    updated = [{**each, "DOI": work.doi} for each in _updates(work)]
    return without_empty(
        {**record, **_printed(work), "author": _authors(work), "update-to": updated}
    )


def _record(doi: str, title: str, day: date, page: str, score: float) -> dict[str, Any]:
    parts = {"date-parts": [[day.year, day.month, day.day]]}
    return {
        "DOI": doi,
        "URL": f"https://doi.org/{doi}",
        "prefix": doi.partition("/")[0],
        "title": [title],
        "source": "Crossref",
        "score": score,
        "language": "en",
        "issued": parts,
        "published": parts,
        "published-online": parts,
        "created": _date(day),
        "deposited": _date(day),
        "indexed": {**_date(day), "version": "3.33.3"},
        "resource": {"primary": {"URL": page}},
        "references-count": 0,
        "reference-count": 0,
    }


def _date(day: date) -> dict[str, Any]:
    return {
        "date-parts": [[day.year, day.month, day.day]],
        "date-time": f"{day.isoformat()}T00:00:00Z",
        "timestamp": timestamp_ms(day),
    }


def _printed(work: Work) -> dict[str, Any]:
    issn = f"9{number_of(work, 3):03d}-{number_of(work, 4):04d}"
    return {
        "type": "journal-article",
        "publisher": work.publisher,
        "container-title": [work.container],
        "volume": work.volume,
        "issue": work.issue,
        "journal-issue": {"issue": work.issue},
        "page": page_range(work),
        "ISSN": [issn],
        "issn-type": [{"value": issn, "type": "electronic"}],
    }


def _posted(work: Work) -> dict[str, Any]:
    return {
        "type": "posted-content",
        "subtype": "preprint",
        "publisher": work.container,
        "institution": [{"name": work.container}],
        "posted": {"date-parts": [[*published(work).timetuple()[:3]]]},
    }


def _authors(work: Work) -> list[dict[str, Any]]:
    return [
        without_empty({"given": each.given, "family": each.family})
        | {"sequence": "additional" if place else "first", "affiliation": []}
        for place, each in enumerate(work.authors)
    ]


def _licences(work: Work) -> list[dict[str, Any]]:
    if not work.licence:
        return []
    start = _date(published(work))
    return [{
        "start": start, "content-version": "unspecified" if is_preprint(work) else "vor",
        "delay-in-days": 0, "URL": work.licence,
    }]  # fmt: skip


def _links(work: Work, site: str) -> list[dict[str, Any]]:
    pdf = pdf_of(work, site)
    if not pdf:
        return []
    return [{
        "URL": pdf, "content-type": "application/pdf", "content-version": "vor",
        "intended-application": "text-mining",
    }]  # fmt: skip


def _relations(work: Work) -> dict[str, Any]:
    version = other_version(work)
    if version is None:
        return {}
    name = "is-preprint-of" if is_preprint(work) else "has-preprint"
    return {name: [{"id-type": "doi", "id": version.doi, "asserted-by": "subject"}]}


def _updates(work: Work) -> list[dict[str, Any]]:
    """Write what happened to a work: always as Retraction Watch has it, often as its publisher."""
    notice = notice_of(work)
    if notice is None or work.status_date is None:
        return []
    kind = "retraction" if notice.relation == "retraction_notice" else "correction"
    update = {
        "DOI": notice.doi, "type": kind, "label": kind.title(),
        "updated": _date(date.fromisoformat(work.status_date)),
    }  # fmt: skip
    watched = {**update, "source": "retraction-watch", "record-id": str(number_of(work, 5))}
    return [watched, {**update, "source": "publisher"}] if number_of(work, 1) % 2 else [watched]

"""The DOI record of Unpaywall, version 2 (https://unpaywall.org/data-format)."""

from typing import Any

from sciagent.contracts.literature import Work
from sciagent.testing.corpus.paper import SITE
from sciagent.testing.corpus.responses.known import (
    full_names,
    is_preprint,
    page_of,
    pdf_of,
    published,
)


def unpaywall_record(work: Work, *, site: str = SITE) -> dict[str, Any]:
    """Write the record of a work."""
    location = _location(work, site)
    locations = [location] if location else []
    return {
        "doi": work.doi,
        "doi_url": f"https://doi.org/{work.doi}",
        "title": work.title,
        "genre": "posted-content" if is_preprint(work) else "journal-article",
        "is_paratext": False,
        "published_date": published(work).isoformat(),
        "year": work.year,
        "journal_name": work.container,
        "journal_issns": None,
        "journal_issn_l": None,
        "journal_is_oa": bool(location) and not is_preprint(work),
        "journal_is_in_doaj": False,
        "publisher": work.publisher or work.container,
        "is_oa": bool(location),
        "oa_status": _status(work),
        "has_repository_copy": is_preprint(work),
        "best_oa_location": location,
        "first_oa_location": location,
        "oa_locations": locations,
        "oa_locations_embargoed": [],
        "updated": "2026-01-01T00:00:00",
        "data_standard": 2,
        "z_authors": [
            {"raw_author_name": name, "author_position": "middle" if place else "first"}
            for place, name in enumerate(full_names(work))
        ],
    }


def _status(work: Work) -> str:
    if work.open_access != "open":
        return "closed"
    return "green" if is_preprint(work) else "gold"


def _location(work: Work, site: str) -> dict[str, Any] | None:
    pdf = pdf_of(work, site)
    if not pdf:
        return None
    is_repository = is_preprint(work)
    return {
        "url": pdf,
        "url_for_pdf": pdf,
        "url_for_landing_page": page_of(work, site),
        "evidence": "oa repository (via OAI-PMH doi match)"
        if is_repository
        else "open (via free pdf)",
        "host_type": "repository" if is_repository else "publisher",
        "license": "cc-by" if work.licence else None,
        "version": "submittedVersion" if is_repository else "publishedVersion",
        "is_best": True,
        "oa_date": published(work).isoformat(),
        "updated": "2026-01-01T00:00:00",
        "pmh_id": None,
        "endpoint_id": None,
        "repository_institution": None,
    }

"""The works of OpenAlex (https://developers.openalex.org/api-reference/works)."""

from collections.abc import Sequence
from typing import Any

from sciagent.contracts.literature import Work
from sciagent.testing.corpus.paper import SITE
from sciagent.testing.corpus.responses.known import (
    full_names,
    is_preprint,
    number_of,
    page_of,
    pdf_of,
    published,
)


def openalex_works(
    works: Sequence[Work], *, total: int | None = None, page: int = 1, per_page: int = 25,
    site: str = SITE,
) -> dict[str, Any]:  # fmt: skip
    """Write the answer to a search.

    Parameters
    ----------
    works
        Those on this page of the answer.
    total, page, per_page
        How many there are in all, the number of this page, and how many were asked for.
    site
        Where full texts can be read.
    """
    return {
        "meta": {
            "count": len(works) if total is None else total, "db_response_time_ms": 12,
            "page": page, "per_page": per_page, "groups_count": None,
        },
        "results": [
            {"relevance_score": 100.0 - place, **openalex_work(work, site=site)}
            for place, work in enumerate(works)
        ],
        "group_by": [],
    }  # fmt: skip


def openalex_work(work: Work, *, site: str = SITE) -> dict[str, Any]:
    """Write the record of a work; unlike others, this index writes what it lacks as null."""
    is_open = work.open_access == "open"
    location = _location(work, site)
    resolver = f"https://doi.org/{work.doi}" if work.doi else None
    return {
        "id": _name(work),
        "doi": resolver,
        "title": work.title,
        "display_name": work.title,
        "publication_year": work.year,
        "publication_date": published(work).isoformat(),
        "ids": _ids(work, resolver),
        "language": "en",
        "primary_location": location,
        "type": "preprint" if is_preprint(work) else "article",
        "type_crossref": "posted-content" if is_preprint(work) else "journal-article",
        "indexed_in": ["arxiv"] if work.arxiv_id else ["crossref"],
        "open_access": {
            "is_oa": is_open, "oa_status": _status(work),
            "oa_url": pdf_of(work, site) or None, "any_repository_has_fulltext": is_preprint(work),
        },
        "authorships": _authorships(work),
        "cited_by_count": number_of(work, 2),
        "biblio": _biblio(work),
        "is_retracted": work.status == "retracted",
        "is_paratext": False,
        "locations_count": 1,
        "locations": [location],
        "best_oa_location": location if is_open else None,
        "referenced_works_count": 0,
        "referenced_works": [],
        "related_works": [],
        "abstract_inverted_index": _inverted(work.abstract) if work.abstract else None,
        "updated_date": "2026-01-01T00:00:00.000000",
        "created_date": published(work).isoformat(),
    }  # fmt: skip


def _name(work: Work) -> str:
    return f"https://openalex.org/W{9_000_000_000 + number_of(work, 9)}"


def _status(work: Work) -> str:
    if work.open_access != "open":
        return "closed"
    return "green" if is_preprint(work) else "gold"


def _ids(work: Work, resolver: str | None) -> dict[str, Any]:
    ids = {"openalex": _name(work), "doi": resolver}
    if work.pmid:
        ids["pmid"] = f"https://pubmed.ncbi.nlm.nih.gov/{work.pmid}"
    if work.pmcid:
        ids["pmcid"] = f"https://www.ncbi.nlm.nih.gov/pmc/articles/{work.pmcid.removeprefix('PMC')}"
    return ids


def _location(work: Work, site: str) -> dict[str, Any]:
    kind = "repository" if is_preprint(work) else "journal"
    landing = f"http://arxiv.org/abs/{work.arxiv_id}" if work.arxiv_id else page_of(work, site)
    return {
        "is_oa": work.open_access == "open",
        "landing_page_url": landing,
        "pdf_url": pdf_of(work, site) or None,
        "source": {
            "id": f"https://openalex.org/S{4_000_000_000 + len(work.container)}",
            "display_name": "arXiv (Cornell University)" if work.arxiv_id else work.container,
            "issn_l": None, "issn": None, "is_oa": work.open_access == "open", "is_in_doaj": False,
            "host_organization": None, "host_organization_name": work.publisher or None,
            "type": kind,
        },
        "license": "cc-by" if work.licence else None,
        "license_id": "https://openalex.org/licenses/cc-by" if work.licence else None,
        "version": "submittedVersion" if is_preprint(work) else "publishedVersion",
        "is_accepted": not is_preprint(work),
        "is_published": not is_preprint(work),
    }  # fmt: skip


def _authorships(work: Work) -> list[dict[str, Any]]:
    names = full_names(work)
    return [
        {
            "author_position": _position(place, len(names)),
            "author": {
                "id": f"https://openalex.org/A{5_000_000_000 + number_of(work, 8) + place}",
                "display_name": name, "orcid": None,
            },
            "institutions": [], "countries": [], "is_corresponding": place == 0,
            "raw_author_name": name, "raw_affiliation_strings": [],
        }
        for place, name in enumerate(names)
    ]  # fmt: skip


def _position(place: int, many: int) -> str:
    if place == 0:
        return "first"
    return "last" if place == many - 1 else "middle"


def _biblio(work: Work) -> dict[str, str | None]:
    first, _, last = work.pages.partition("–")
    return {
        "volume": work.volume or None, "issue": work.issue or None,
        "first_page": first or None, "last_page": last or None,
    }  # fmt: skip


def _inverted(text: str) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(text.split()):
        places.setdefault(word, []).append(place)
    return places

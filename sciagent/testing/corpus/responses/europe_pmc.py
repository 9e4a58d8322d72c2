"""The REST search of Europe PMC (https://europepmc.org/RestfulWebService), ``resultType=core``."""

from collections.abc import Sequence
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
    without_empty,
)

_LICENCES = {"https://creativecommons.org/licenses/by/4.0/": "cc by"}


def europe_pmc_search(
    works: Sequence[Work], query: str, *, total: int | None = None, page_size: int = 25,
    cursor: str = "*", site: str = SITE,
) -> dict[str, Any]:  # fmt: skip
    """Write the answer to a search.

    Parameters
    ----------
    works
        Those on this page of the answer.
    query
        As it was sent.
    total, page_size, cursor
        How many there are in all, how many were asked for, and from where on.
    site
        Where full texts can be read.
    """
    return {
        "version": "6.9",
        "hitCount": len(works) if total is None else total,
        "nextCursorMark": f"AoJ{len(works):04d}" if works else cursor,
        "request": {
            "queryString": query, "resultType": "core", "cursorMark": cursor,
            "pageSize": page_size, "sort": "", "synonym": False,
        },
        "resultList": {"result": [europe_pmc_result(work, site=site) for work in works]},
    }  # fmt: skip


def europe_pmc_result(work: Work, *, site: str = SITE) -> dict[str, Any]:
    """Write the record of a work."""
    is_open = "Y" if work.open_access == "open" else "N"
    day = published(work).isoformat()
    own = f"PPR{number_of(work, 6)}" if is_preprint(work) else work.pmid
    return without_empty({
        "id": own,
        "source": "PPR" if is_preprint(work) else "MED",
        "pmid": work.pmid,
        "pmcid": work.pmcid,
        "fullTextIdList": {"fullTextId": [work.pmcid]} if work.pmcid else {},
        "doi": work.doi,
        "title": f"{work.title}.",
        "authorString": ", ".join(_short_names(work)) + ".",
        "authorList": {"author": _authors(work)},
        "journalInfo": _journal(work),
        "bookOrReportDetails": _server(work),
        "pubYear": str(work.year),
        "pageInfo": page_range(work),
        "abstractText": work.abstract,
        "pubModel": "Electronic",
        "language": "eng",
        "pubTypeList": {"pubType": _types(work)},
        "fullTextUrlList": {"fullTextUrl": _addresses(work, site)},
        "commentCorrectionList": _corrections(work),
        "isOpenAccess": is_open,
        "inEPMC": "Y" if work.pmcid else "N",
        "inPMC": "Y" if work.pmcid else "N",
        "hasPDF": is_open,
        "citedByCount": number_of(work, 2),
        "firstPublicationDate": day,
        "license": _LICENCES.get(work.licence, ""),
    })  # fmt: skip


def _short_names(work: Work) -> list[str]:
    return [f"{each.family} {each.given[:1]}".strip() for each in work.authors]


def _authors(work: Work) -> list[dict[str, str]]:
    return [
        {
            "fullName": short, "firstName": each.given, "lastName": each.family,
            "initials": each.given[:1],
        }
        for each, short in zip(work.authors, _short_names(work), strict=True)
    ]  # fmt: skip


def _journal(work: Work) -> dict[str, Any]:
    if is_preprint(work):
        return {}
    day = published(work)
    return {
        "issue": work.issue,
        "volume": work.volume,
        "journalIssueId": number_of(work, 7),
        "dateOfPublication": f"{day:%Y %b}",
        "monthOfPublication": day.month,
        "yearOfPublication": day.year,
        "printPublicationDate": f"{day:%Y-%m}-01",
        "journal": {"title": work.container, "medlineAbbreviation": work.container},
    }


def _server(work: Work) -> dict[str, Any]:
    if not is_preprint(work):
        return {}
    return {"publisher": work.container, "yearOfPublication": work.year}


def _types(work: Work) -> list[str]:
    if is_preprint(work):
        return ["Preprint"]
    retracted = ["Retracted Publication"] if work.status == "retracted" else []
    return ["research-article", *retracted, "Journal Article"]


def _addresses(work: Work, site: str) -> list[dict[str, str]]:
    resolver = {
        "availability": "Subscription required", "availabilityCode": "S", "documentStyle": "doi",
        "site": "DOI", "url": f"https://doi.org/{work.doi}",
    }  # fmt: skip
    pdf = pdf_of(work, site)
    if not pdf:
        return [resolver]
    server = "Europe_PMC" if work.pmcid else "Unpaywall"
    files = {"pdf": pdf, "html": page_of(work, site)}
    if not any(each.endswith(".html") for each in work.full_text):
        del files["html"]
    return [
        {
            "availability": "Open access", "availabilityCode": "OA", "documentStyle": style,
            "site": server, "url": address,
        }
        for style, address in files.items()
    ]  # fmt: skip


def _corrections(work: Work) -> dict[str, Any]:
    """Write the links to notices and other versions."""
    found = []
    notice, version = notice_of(work), other_version(work)
    if notice is not None and work.pmid:
        kind = "Retraction in" if notice.relation == "retraction_notice" else "Erratum in"
        found.append({
            "id": str(int(work.pmid) + 5_000_000), "source": "MED", "type": kind,
            "reference": f"{work.container}. {work.status_date}.",
        })  # fmt: skip
    if version is not None:
        found.append({
            "id": f"{number_of(work, 7)}", "source": "MED" if is_preprint(work) else "PPR",
            "type": "Preprint of" if is_preprint(work) else "Preprint in",
            "reference": f"https://doi.org/{version.doi}",
        })  # fmt: skip
    listed = [{**each, "orderIn": place} for place, each in enumerate(found, start=1)]
    return {"commentCorrection": listed} if listed else {}

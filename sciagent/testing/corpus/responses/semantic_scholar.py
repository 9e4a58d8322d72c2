"""The paper search of Semantic Scholar (https://api.semanticscholar.org/api-docs/graph)."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from sciagent.contracts.literature import Work
from sciagent.testing.corpus.paper import SITE
from sciagent.testing.corpus.responses.known import (
    full_names,
    is_preprint,
    number_of,
    page_range,
    pdf_of,
    published,
    without_empty,
)

_DEFAULT_FIELDS = ("title",)


def semantic_scholar_search(
    works: Sequence[Work], *, total: int | None = None, offset: int = 0,
    fields: Sequence[str] = _DEFAULT_FIELDS, site: str = SITE,
) -> dict[str, Any]:  # fmt: skip
    """Write the answer to a search.

    Parameters
    ----------
    works
        Those on this page of the answer.
    total, offset
        How many there are in all, and the number of the first one here.
    fields
        What was asked for; the identifier comes with them.
    site
        Where full texts can be read.
    """
    all_of_them = len(works) if total is None else total
    answer: dict[str, Any] = {"total": all_of_them, "offset": offset}
    if offset + len(works) < all_of_them:
        answer["next"] = offset + len(works)
    answer["data"] = [semantic_scholar_paper(work, fields=fields, site=site) for work in works]
    return answer


def semantic_scholar_paper(
    work: Work, *, fields: Sequence[str] = _DEFAULT_FIELDS, site: str = SITE
) -> dict[str, Any]:
    """Write the record of a work, with the fields that were asked for."""
    known = _record(work, site)
    asked = [each.split(".")[0] for each in fields]
    return {"paperId": known["paperId"]} | {name: known[name] for name in asked if name in known}


def _record(work: Work, site: str) -> dict[str, Any]:
    number = number_of(work, 8)
    identifier = sha256(work.key.encode()).hexdigest()[:40]
    return {
        "paperId": identifier,
        "corpusId": number,
        "externalIds": without_empty({
            "DOI": work.doi.replace("arxiv", "arXiv"), "ArXiv": work.arxiv_id, "PubMed": work.pmid,
            "PubMedCentral": work.pmcid.removeprefix("PMC"), "CorpusId": number,
        }),
        "url": f"https://www.semanticscholar.org/paper/{identifier}",
        "title": work.title,
        "abstract": work.abstract or None,
        "venue": "arXiv.org" if work.arxiv_id else work.container,
        "year": work.year,
        "referenceCount": 0,
        "citationCount": number_of(work, 2),
        "influentialCitationCount": 0,
        "isOpenAccess": work.open_access == "open",
        "openAccessPdf": _open_pdf(work, site),
        "fieldsOfStudy": None,
        "s2FieldsOfStudy": [],
        "publicationTypes": None if is_preprint(work) else ["JournalArticle"],
        "publicationDate": published(work).isoformat(),
        "journal": without_empty({
            "name": "ArXiv" if work.arxiv_id else work.container, "volume": work.volume,
            "pages": page_range(work),
        }),
        "authors": [
            {"authorId": str(number + place), "name": name}
            for place, name in enumerate(full_names(work))
        ],
    }  # fmt: skip


def _open_pdf(work: Work, site: str) -> dict[str, Any]:
    if work.open_access != "open":
        return {"url": "", "status": "CLOSED", "license": None, "disclaimer": ""}
    return {
        "url": pdf_of(work, site), "status": "GREEN" if is_preprint(work) else "GOLD",
        "license": "CCBY", "disclaimer": "",
    }  # fmt: skip

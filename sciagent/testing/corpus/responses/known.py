"""Which index knows which work, and what several formats write alike."""

from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

from sciagent.contracts.errors import UnknownNameError
from sciagent.contracts.literature import Work, WorkVersion
from sciagent.testing.corpus.paper import SITE

INDEX_NAMES = (
    "arxiv", "crossref", "europe_pmc", "openalex", "searxng", "semantic_scholar", "unpaywall",
)  # fmt: skip
_ARXIV_DOI = "10.48550/"
_LIFE_SCIENCES = "Preprints of Biology"


def known_to(index: str, work: Work) -> bool:
    """Whether an index lists a work.

    Raises
    ------
    UnknownNameError
        If there is no such index.
    """
    if index not in INDEX_NAMES:
        raise UnknownNameError.among("index", index, INDEX_NAMES)
    if index == "arxiv":
        return bool(work.arxiv_id)
    if index in {"crossref", "unpaywall"}:
        # arXiv registers its DOIs with DataCite.
        return bool(work.doi) and not work.doi.startswith(_ARXIV_DOI)
    if index == "europe_pmc":
        return bool(work.pmid) or work.container == _LIFE_SCIENCES
    return True


def placed(address: str, site: str) -> str:
    """Put an address of a generated file under another site."""
    return f"{site}{address.removeprefix(SITE)}" if address.startswith(SITE) else address


def number_of(work: Work, digits: int) -> int:
    """Number that stands for a work in an index, always the same."""
    hashed = int(sha256(work.key.encode()).hexdigest()[:15], 16)
    return hashed % int(10.0**digits)


def published(work: Work) -> date:
    """Day of publication; the year is the work's, the rest is made up."""
    number = number_of(work, 6)
    return date(work.year or 2000, number % 12 + 1, number % 28 + 1)


def timestamp_ms(day: date) -> int:
    """Milliseconds from 1970 to the beginning of a day in UTC."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def is_preprint(work: Work) -> bool:
    """Whether a work is a preprint; CSL has no type of its own for them."""
    return work.kind == "article"


def pdf_of(work: Work, site: str) -> str:
    """Address of the PDF; empty if it is not open."""
    return next((placed(each, site) for each in work.full_text if each.endswith(".pdf")), "")


def page_of(work: Work, site: str) -> str:
    """Address of the page of the journal."""
    return f"{site}/html/{work.key}.html"


def notice_of(work: Work) -> WorkVersion | None:
    """Notice of the retraction or correction of a work."""
    notices = {"retraction_notice", "correction"}
    return next((each for each in work.versions if each.relation in notices), None)


def other_version(work: Work) -> WorkVersion | None:
    """Preprint of an article, or article of a preprint."""
    versions = {"preprint", "published"}
    return next((each for each in work.versions if each.relation in versions), None)


def full_names(work: Work) -> list[str]:
    """Authors with the given name in front."""
    return [f"{each.given} {each.family}".strip() for each in work.authors]


def page_range(work: Work) -> str:
    """Pages with a plain hyphen."""
    return work.pages.replace("–", "-")


def without_empty(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out fields that have nothing in them, as most indexes do."""
    return {name: value for name, value in record.items() if value not in ("", None, [], {})}

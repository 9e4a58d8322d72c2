"""Works as items of CSL-JSON (Citation Style Language 1.0.2) and back."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from sciagent.contracts.literature import Author, Work
from sciagent.literature.bibliography.faults import BibliographyError
from sciagent.literature.bibliography.keys import citation_key
from sciagent.literature.bibliography.standing import standing_from_note, standing_note

TYPES = frozenset(
    "article article-journal article-magazine article-newspaper bill book broadcast chapter "
    "classic collection dataset document entry entry-dictionary entry-encyclopedia event figure "
    "graphic hearing interview legal_case legislation manuscript map motion_picture "
    "musical_score pamphlet paper-conference patent performance periodical "
    "personal_communication post post-weblog regulation report review review-book software song "
    "speech standard thesis treaty webpage".split()
)
"""Types of CSL 1.0.2."""

_VARIABLES = {
    "title": "title", "container-title": "container", "publisher": "publisher",
    "volume": "volume", "issue": "issue", "page": "pages", "DOI": "doi", "PMID": "pmid",
    "PMCID": "pmcid", "URL": "url", "abstract": "abstract",
}  # fmt: skip
_ARXIV = "arXiv"
_OWN = "sciagent"
_KEPT_APART = {
    "licence", "open_access", "full_text", "versions", "status", "status_date", "status_source",
    "found_in",
}  # fmt: skip
"""Fields that CSL has no variable for; they stand under `custom`, which its schema provides."""


def csl_item(work: Work) -> dict[str, Any]:
    """Write a work as an item of CSL-JSON; its id is the citation key.

    A type that CSL does not know becomes ``document``. What became of a work stands in `note`,
    where readers of bibliographies see it, and with all that CSL has no place for under `custom`.
    """
    item: dict[str, Any] = {
        "id": work.key,
        "type": work.kind if work.kind in TYPES else "document",
    }
    fields = work.model_dump()
    item |= {variable: fields[name] for variable, name in _VARIABLES.items() if fields[name]}
    if work.authors:
        item["author"] = [_csl_name(author) for author in work.authors]
    if work.year is not None:
        item["issued"] = {"date-parts": [[work.year]]}
    if work.arxiv_id:
        item |= {"archive": _ARXIV, "archive_location": work.arxiv_id}
    if note := standing_note(work):
        item["note"] = note
    apart = work.model_dump(mode="json", include=_KEPT_APART, exclude_defaults=True)
    return item | ({"custom": {_OWN: apart}} if apart else {})


def _csl_name(author: Author) -> dict[str, str]:
    if not author.given:
        return {"literal": author.family}
    return {"family": author.family, "given": author.given}


def work_from_csl(item: Mapping[str, Any]) -> Work:
    """Read an item of CSL-JSON, the inverse of `csl_item`.

    Raises
    ------
    BibliographyError
        If a variable holds what it cannot.
    """
    fields: dict[str, Any] = {
        name: _text(item[variable]) for variable, name in _VARIABLES.items() if item.get(variable)
    }
    fields |= standing_from_note(str(item.get("note", "")))
    if str(item.get("archive", "")).casefold() == _ARXIV.casefold():
        fields["arxiv_id"] = _text(item.get("archive_location", ""))
    custom = item.get("custom")
    apart = custom.get(_OWN) if isinstance(custom, Mapping) else None
    if isinstance(apart, Mapping):
        fields |= {name: value for name, value in apart.items() if name in _KEPT_APART}
    try:
        work = Work(
            key=str(item.get("id", "")), kind=str(item.get("type", "document")),
            authors=tuple(_author(each) for each in item.get("author", ())),
            year=_year(item.get("issued")), **({"title": ""} | fields),
        )  # fmt: skip
    except (ValidationError, AttributeError, TypeError) as error:
        message = f"The item {item.get('id')!r} is no CSL-JSON: {str(error).splitlines()[0]}."
        raise BibliographyError(message) from error
    return work if work.key else work.model_copy(update={"key": citation_key(work)})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _author(name: Mapping[str, Any]) -> Author:
    if "literal" in name:
        return Author(family=_text(name["literal"]))
    particles = (name.get("dropping-particle"), name.get("non-dropping-particle"))
    family = " ".join(_text(each) for each in (*particles, name.get("family")) if each)
    given = ", ".join(_text(each) for each in (name.get("given"), name.get("suffix")) if each)
    return Author(family=family, given=given)


def _year(issued: Any) -> int | None:
    if not isinstance(issued, Mapping):
        return None
    parts = issued.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
        return int(parts[0][0]) if re.fullmatch(r"-?\d+", str(parts[0][0])) else None
    written = re.search(r"\d{4}", str(issued.get("raw", issued.get("literal", ""))))
    return int(written[0]) if written else None


def csl_json(works: Iterable[Work]) -> str:
    """Write works as a CSL-JSON file."""
    return json.dumps([csl_item(work) for work in works], indent=1, ensure_ascii=False) + "\n"


def works_from_csl_json(text: str) -> tuple[Work, ...]:
    """Read a CSL-JSON file.

    Raises
    ------
    BibliographyError
        If it is no list of items.
    """
    try:
        items = json.loads(text)
    except ValueError as error:
        raise BibliographyError(f"This is no CSL-JSON: {error}.") from error
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BibliographyError("This is no CSL-JSON: it is no list of items.")
    return tuple(work_from_csl(item) for item in items)

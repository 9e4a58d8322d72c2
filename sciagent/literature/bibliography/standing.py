"""The standing of a work in one line, as notes of bibliographies carry it, and read from there."""

import re
from typing import Any

from sciagent.contracts.literature import Work

_NOTE = re.compile(
    r"(?P<status>Retracted|Corrected)(?: on (?P<date>\d{4}[-\d]*))?(?: \((?P<source>[^()]+)\))?"
)


def standing_note(work: Work) -> str:
    """Say what became of a work, such as ``Retracted on 2020-02-02 (crossref)``.

    Empty for a work that is current, or of which nothing is known.
    """
    if work.status not in {"retracted", "corrected"}:
        return ""
    date = f" on {work.status_date}" if work.status_date else ""
    source = f" ({work.status_source})" if work.status_source else ""
    return f"{work.status.capitalize()}{date}{source}"


def standing_from_note(note: str) -> dict[str, Any]:
    """Read back what `standing_note` wrote, as fields of a work; none from any other note."""
    match = _NOTE.fullmatch(note.strip())
    if match is None:
        return {}
    return {
        "status": match["status"].lower(),
        "status_date": match["date"],
        "status_source": match["source"] or "",
    }

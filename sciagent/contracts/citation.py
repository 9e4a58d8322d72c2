"""Citations: a verbatim quote at a place in a stored source."""

from typing import Literal

from pydantic import Field

from sciagent.contracts.model import Contract


class Quote(Contract):
    """Words of a source and where they stand in its stored text."""

    text: str = Field(min_length=1, description="Verbatim.")
    page: int | None = Field(default=None, ge=1)
    start: int | None = Field(default=None, ge=0, description="First character, counted from 0.")
    end: int | None = Field(default=None, ge=0, description="One past the last character.")


class Citation(Contract):
    """A work, the quote in it, and the hash of the stored text the quote was found in."""

    work: str = Field(description="Key of the work in `references.json`.")
    source_sha256: str
    quote: Quote
    status: Literal["current", "corrected", "retracted", "unknown"] = "unknown"
    status_date: str | None = Field(default=None, description="ISO 8601 date of the status.")

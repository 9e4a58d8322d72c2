"""Works, what retrieval found, and documents as they are read and quoted."""

from typing import Literal

from pydantic import Field

from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in

AnswerStatus = Literal["ok", "no_match", "rate_limited", "unreachable", "needs_key"]
PublicationStatus = Literal["current", "corrected", "retracted", "unknown"]
RetrievalMode = Literal["live", "record", "replay", "offline"]
"""`live` asks; `record` asks and keeps; `replay` gives only what was kept; `offline` asks nobody
but what is on this machine."""

_SEVERITY: tuple[PublicationStatus, ...] = ("unknown", "current", "corrected", "retracted")

PAGE_BREAK = "\f"
"""Stands between the pages of a stored text."""


def severity(status: PublicationStatus) -> int:
    """How bad it is what became of a work: the larger, the worse."""
    return _SEVERITY.index(status)


class Source(Contract):
    """A piece of text that a tool got from outside, kept under `sources/`."""

    url: str = Field(description="Where it came from; `file:` for the user's own.")
    title: str = ""
    sha256: str = Field(description="Of the stored text.")
    text: str = Field(description="Pages are separated by form feeds.")


class Author(Contract):
    """A person or a group that wrote a work."""

    family: str = Field(description="Family name, or the whole name of a group.")
    given: str = ""


class WorkVersion(Contract):
    """Another version of a work: the preprint of an article, or the article of a preprint."""

    relation: Literal["preprint", "published", "correction", "retraction_notice"]
    doi: str = ""
    arxiv_id: str = ""
    url: str = ""
    title: str = ""
    year: int | None = None


class Work(Contract):
    """A work of the literature, merged from all indexes that know it."""

    key: str = Field(description="Citation key: family name, year, first long word of the title.")
    kind: str = Field(default="article-journal", description="Type of CSL 1.0.2.")
    title: str
    authors: tuple[Author, ...] = ()
    year: int | None = None
    container: str = Field(default="", description="Journal, book or server.")
    publisher: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    doi: str = Field(default="", description="In lower case, without a resolver.")
    arxiv_id: str = Field(default="", description="Without its version.")
    pmid: str = ""
    pmcid: str = ""
    url: str = ""
    abstract: str = ""
    licence: str = Field(default="", description="Its address or SPDX name; empty: not known.")
    open_access: Literal["open", "closed", "unknown"] = "unknown"
    full_text: tuple[str, ...] = Field(default=(), description="Addresses where it can be read.")
    versions: tuple[WorkVersion, ...] = ()
    status: PublicationStatus = "unknown"
    status_date: str | None = Field(default=None, description="ISO 8601 date of the status.")
    status_source: str = Field(default="", description="Who says so.")
    found_in: tuple[str, ...] = Field(default=(), description="Indexes that know it.")

    @property
    def address(self) -> str:
        """Where people look it up: its address, else that of its DOI; empty if it has neither."""
        return self.url or (f"https://doi.org/{self.doi}" if self.doi else "")


class SourceAnswer(Contract):
    """How one index answered a query."""

    source: str
    status: AnswerStatus
    records: int = Field(default=0, ge=0)
    retry_after_s: float | None = measured_in("s", default=None, description="When to ask again.")
    detail: str = ""


class Found(Contract):
    """What a query came to: an index that failed is said, never an empty list for it."""

    query: str
    works: tuple[Work, ...] = ()
    pages: tuple[Source, ...] = Field(default=(), description="Of the web, with a snippet each.")
    answers: tuple[SourceAnswer, ...] = ()


class Heading(Contract):
    """A part of a document."""

    title: str
    level: int = Field(ge=1)
    page: int = Field(ge=1)
    start: int = Field(ge=0, description="First character of its text in the stored text.")


class Document(Contract):
    """A page or a paper as it was read."""

    source: Source
    media_type: str = "text/plain"
    pages: int = Field(default=1, ge=1)
    outline: tuple[Heading, ...] = ()
    work: Work | None = None
    licence: str = ""
    raw_sha256: str = Field(default="", description="Of the response that it was read from.")
    retrieved: str = Field(default="", description="UTC, ISO 8601.")
    detail: str = Field(default="", description="What could not be read, if anything.")


class Passage(Contract):
    """A part of a stored text that answers a query."""

    work: str = Field(default="", description="Key of the work.")
    url: str
    sha256: str = Field(description="Of the stored text.")
    page: int = Field(ge=1)
    start: int = Field(ge=0, description="First character in the stored text, counted from 0.")
    end: int = Field(ge=0, description="One past the last character.")
    text: str
    score: float = measured_in("1", description="Larger is nearer to the query.")

"""Long documents read in parts: what is shown, and what is kept for quotes."""

from pathlib import Path

import pytest

from sciagent.contracts.literature import Document, Found, Heading, Source, Work
from sciagent.contracts.model import sha256_text
from sciagent.tools.context import ToolContext
from sciagent.tools.documents import find_in_document, outline, read_pages
from sciagent.tools.sources import SourceOfWork, stored_sources
from sciagent.workspace.journal import JournalFile
from tests.tools.calls import used

URL = "https://example.org/long.pdf"
PAGES = [f"Page {n} speaks of nothing in particular. " * 60 for n in range(1, 31)]
PAGES[16] = "Methods\nThe furnace was heated to 1273 K for nine hours. " + PAGES[16]
TEXT = "\f".join(PAGES)
WORK = Work(key="hill1988", title="A long report", year=1988)


class Shelf:
    """One document of thirty pages."""

    def search(self, query: str) -> Found:
        return Found(query=query)

    def scholar(self, query: str) -> Found:
        return Found(query=query)

    def visit(self, url: str) -> Document:
        source = Source(url=url, title=WORK.title, sha256=sha256_text(TEXT), text=TEXT)
        start = TEXT.index("Methods")
        heading = Heading(title="Methods", level=1, page=17, start=start)
        return Document(source=source, pages=len(PAGES), outline=(heading,), work=WORK)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    journal = JournalFile.create(tmp_path / "events.jsonl")
    return ToolContext(root=tmp_path, journal=journal, literature=Shelf())


def test_the_outline_says_where_each_part_begins(context: ToolContext) -> None:
    shown = used(outline, context, url=URL)
    assert "30 pages" in shown.text
    assert f"Methods (page 17, character {TEXT.index('Methods')})" in shown.text
    assert shown.label.origin == "outside"


def test_pages_are_shown_and_the_whole_text_is_kept_for_quotes(context: ToolContext) -> None:
    shown = used(read_pages, context, url=URL, first=17, last=17)
    assert "heated to 1273 K" in shown.text
    assert "Page 16" not in shown.text
    assert len(shown.text) < len(TEXT) / 10
    (kept,) = stored_sources(context.root)
    assert kept.text == TEXT
    assert isinstance(kept, SourceOfWork)
    assert kept.work == WORK


def test_passages_come_with_their_pages_and_characters(context: ToolContext) -> None:
    shown = used(find_in_document, context, url=URL, query="furnace temperature heated")
    first = shown.text.splitlines()[0]
    assert first.startswith("Page 17, characters ")
    start, end = (int(each) for each in first.rstrip(":").split("characters ")[1].split(" to "))
    assert "heated to 1273 K" in TEXT[start:end]
    nothing = used(find_in_document, context, url=URL, query="xylophone")
    assert nothing.text == "None of these words stands in the document."


def test_too_many_pages_at_once_and_pages_that_are_not_there_are_refused(
    context: ToolContext,
) -> None:
    assert "10 at most" in used(read_pages, context, url=URL, first=1, last=30).text
    assert "the document has 30" in used(read_pages, context, url=URL, first=31, last=32).text

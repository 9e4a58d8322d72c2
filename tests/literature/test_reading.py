"""Papers and pages read as text that can be quoted."""

import io
from pathlib import Path

import pytest

from sciagent.contracts.literature import PAGE_BREAK
from sciagent.contracts.model import sha256_text
from sciagent.literature.pages import EmptyPageError, plain_text, text_of_html
from sciagent.literature.papers import UnreadablePaperError, text_of_pdf, without_running_heads
from sciagent.literature.quoting.locating import locate
from sciagent.literature.reading import (
    UnreadableDocumentError,
    document_from_file,
    document_from_response,
    found_headings,
)
from sciagent.literature.response_store import Response

SENTENCE = "The lattice parameter of fluorapatite is 9.3702 angstrom at room temperature."
LINES = (
    ("1 Introduction", "Nobody knew the lattice para-", "meter of this mineral before."),
    ("2 Results", SENTENCE[:40], SENTENCE[40:].strip()),
    ("3 Conclusions", "It does not change under", "hydrostatic pressure of 2 GPa."),
)


def paper(title: str = "On fluorapatite") -> bytes:
    """Three pages, each with a running head and a page number."""
    canvas = pytest.importorskip("reportlab.pdfgen.canvas")
    stream = io.BytesIO()
    page = canvas.Canvas(stream, invariant=1)
    page.setTitle(title)
    for number, lines in enumerate(LINES, 1):
        page.bookmarkPage(f"part{number}")
        page.addOutlineEntry(lines[0][2:], f"part{number}", level=0)
        page.drawString(72, 800, f"Journal of Minerals {number}")
        for row, line in enumerate(lines):
            page.drawString(72, 740 - 16 * row, line)
        page.drawString(290, 40, str(number))
        page.showPage()
    page.save()
    return stream.getvalue()


def response(content: bytes, kind: str = "", status: int = 200) -> Response:
    headers = {"content-type": kind} if kind else {}
    url = "https://example.org/a"
    return Response(url, status, headers, content, "0" * 64, "2026-01-01T00:00:00Z")


def test_a_paper_has_its_pages_without_running_heads_and_its_outline() -> None:
    document = document_from_response(response(paper(), "application/octet-stream"))
    assert document.media_type == "application/pdf"
    assert (document.pages, document.source.title) == (3, "On fluorapatite")
    text = document.source.text
    assert text.count(PAGE_BREAK) == 2
    assert "Journal of Minerals" not in text
    assert document.source.sha256 == sha256_text(text)
    assert [(each.title, each.page) for each in document.outline] == [
        ("Introduction", 1), ("Results", 2), ("Conclusions", 3),
    ]  # fmt: skip
    starts = [text[each.start :].split("\n")[0] for each in document.outline]
    assert starts == ["Introduction", "Results", "Conclusions"]


def test_a_sentence_of_a_paper_is_found_on_its_page_also_across_lines() -> None:
    text = document_from_response(response(paper())).source.text
    found = locate(SENTENCE, text, page=2)
    assert found is not None
    assert locate("Nobody knew the lattice parameter of this mineral", text) is not None
    over = "this mineral before. 2 Results The lattice"
    assert locate(over, text, page=1) is not None
    assert locate(SENTENCE.replace("9.3702", "9.3072"), text) is None


@pytest.mark.parametrize("content", [b"%PDF-1.7\nnothing else", paper()[:300]])
def test_a_paper_that_was_cut_off_is_refused_in_one_sentence(content: bytes) -> None:
    with pytest.raises(UnreadablePaperError, match="The PDF cannot be read"):
        text_of_pdf(content)


def test_a_line_that_stands_on_few_pages_is_kept() -> None:
    pages = ["Head 1\nfirst\n1", "Head 2\nsecond\n2", "Head 3\nthird\n3", "Other\nfourth\n4"]
    assert without_running_heads(pages) == ["first", "second", "third", "Other\nfourth"]
    assert without_running_heads(pages[:2]) == pages[:2]


def test_a_page_has_its_main_text_and_title() -> None:
    words = "Titanium dioxide has a band gap of 3.2 eV, as was measured many times before. " * 5
    page = (
        "<!DOCTYPE html><html><head><title>Gaps &amp; bands</title><script>x=1</script></head>"
        f"<body><nav>Home</nav><article><h1>Gaps</h1><p>{words}</p></article></body></html>"
    )
    document = document_from_response(response(page.encode(), "text/plain"))
    assert document.media_type == "text/html"
    assert document.source.title == "Gaps & bands"
    assert "band gap of 3.2 eV" in document.source.text
    assert "x=1" not in document.source.text
    assert plain_text("<p>a<br>b</p><style>c</style>") == "a\nb"
    with pytest.raises(EmptyPageError):
        text_of_html(b"<html><body></body></html>")


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [(b"\x89PNG\r\n", "image/png", 200), (b"\x00\x01", "text/plain", 200), (b"gone", "", 404),
     (b"bits", "application/zip", 200)],
)  # fmt: skip
def test_what_is_no_document_is_refused_in_one_sentence(
    content: bytes, kind: str, status: int
) -> None:
    with pytest.raises(UnreadableDocumentError):
        document_from_response(response(content, kind, status))


def test_files_of_the_user_are_read_by_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(paper(title=""))
    (tmp_path / "notes.md").write_text("# Notes\n\nIron melts at 1538 degrees.\n")
    document = document_from_file(tmp_path / "a.pdf")
    assert (document.source.title, document.pages) == ("a", 3)
    assert document.source.url.startswith("file:///")
    notes = document_from_file(tmp_path / "notes.md")
    assert "1538" in notes.source.text
    with pytest.raises(UnreadableDocumentError, match="cannot be read"):
        document_from_file(tmp_path / "missing.pdf")


def test_headings_are_found_where_a_file_names_none() -> None:
    text = "Title\nAbstract\nWe did.\n1 Introduction\nx\f2.1 Samples and heat\ny\nReferences\n"
    found = [(each.title, each.level, each.page) for each in found_headings(text)]
    assert found == [
        ("Abstract", 1, 1), ("1 Introduction", 1, 1), ("2.1 Samples and heat", 2, 2),
        ("References", 1, 2),
    ]  # fmt: skip

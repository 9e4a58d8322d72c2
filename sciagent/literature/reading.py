"""Documents from answers and files: text with pages, outline and title, whatever they are."""

import re
from collections.abc import Iterator
from pathlib import Path

from sciagent.contracts.errors import InputError
from sciagent.contracts.literature import PAGE_BREAK, Document, Heading, Source
from sciagent.contracts.model import sha256_text
from sciagent.literature.pages import decoded, text_of_html
from sciagent.literature.papers import text_of_pdf
from sciagent.literature.response_store import Response

PDF = "application/pdf"
HTML = "text/html"
_MARKUP = frozenset({HTML, "application/xhtml+xml"})
_TEXT = frozenset({"text/plain", "text/markdown", "text/csv", "application/json"})
_ENDINGS = {".pdf": PDF, ".html": HTML, ".htm": HTML, ".txt": "text/plain", ".md": "text/markdown"}
_BEGIN, _END = re.compile(rb"(?i)<html[\s>]"), re.compile(rb"(?i)</(?:html|body)\s*>")
_NUMBERED = re.compile(
    r"(?<![^\n\f])(\d{1,2}(?:\.\d{1,2}){0,3})\.?[ \t]+([A-Z][^.!?\n\f]{2,80})$", re.MULTILINE
)
_NAMED = re.compile(
    r"(?<![^\n\f])(abstract|introduction|background|methods?|materials and methods|"
    r"experimental|results|"
    r"results and discussion|discussion|conclusions?|acknowledge?ments|references|appendix)$",
    re.MULTILINE | re.IGNORECASE,
)


class UnreadableDocumentError(InputError):
    """Something is no document that can be read as text."""

    kind = "input.document"


def document_from_response(response: Response) -> Document:
    """Read what a server answered.

    What it is, its first bytes tell; what the server says only counts where they do not.

    Raises
    ------
    UnreadableDocumentError
        If it is neither a page, a PDF nor a text, or an answer that reports an error.
    UnreadablePaperError, EmptyPageError
        If it is a broken PDF or an empty page.
    """
    if response.status >= 400:
        raise UnreadableDocumentError(
            f"{response.url} answers with the error {response.status}.", "Take another source."
        )
    kind = kind_of(response.content, response.media_type)
    if not kind:
        said = response.media_type or "nothing"
        raise UnreadableDocumentError(
            f"{response.url} is no page, PDF or text ({said} is said of it).",
            "Take another source.",
        )
    title, text, outline, detail = _read(response.content, kind, response.url)
    source = Source(url=response.url, title=title, sha256=sha256_text(text), text=text)
    return Document(
        source=source, media_type=kind, pages=text.count(PAGE_BREAK) + 1, outline=outline,
        raw_sha256=response.sha256, retrieved=response.retrieved, detail=detail,
    )  # fmt: skip


def document_from_file(path: Path) -> Document:
    """Read a file of the user's: PDF, HTML, Markdown or plain text.

    Raises
    ------
    UnreadableDocumentError
        If it is none of these, or cannot be opened.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableDocumentError(f"{path} cannot be read: {error.strerror}.") from error
    kind = kind_of(content, _ENDINGS.get(path.suffix.lower(), ""))
    if not kind:
        raise UnreadableDocumentError(f"{path} is no PDF, page or text.", "Convert it first.")
    title, text, outline, detail = _read(content, kind, path.as_uri() if path.is_absolute() else "")
    source = Source(
        url=path.resolve().as_uri(), title=title or path.stem, sha256=sha256_text(text), text=text
    )
    return Document(
        source=source, media_type=kind, pages=text.count(PAGE_BREAK) + 1, outline=outline,
        detail=detail,
    )  # fmt: skip


def kind_of(content: bytes, said: str) -> str:
    """Tell the media type from the first bytes, else from what is said; empty if not readable."""
    head = content[:1024].lstrip()
    if head.startswith(b"%PDF-"):
        return PDF
    if re.match(rb"(?i)<(!doctype html|html|head|body|\?xml[^>]*\?>\s*<!doctype html)", head):
        return HTML
    if said in _MARKUP:
        return HTML
    if said in _TEXT and b"\x00" not in content[:1024]:
        return said
    return ""


def _read(content: bytes, kind: str, url: str) -> tuple[str, str, tuple[Heading, ...], str]:
    if kind == PDF:
        paper = text_of_pdf(content)
        text = PAGE_BREAK.join(paper.pages)
        named = tuple(_headings(paper.outline, paper.pages))
        return paper.title, text, named or tuple(found_headings(text)), paper.detail
    if kind == HTML:
        title, text = text_of_html(content, url)
        is_cut = _BEGIN.search(content) and not _END.search(content)
        detail = "The page has no end: it may have been cut off." if is_cut else ""
        return title, text, tuple(found_headings(text)), detail
    text = decoded(content).replace(PAGE_BREAK, "\n")
    return "", text, tuple(found_headings(text)), ""


def _headings(outline: list[tuple[str, int, int]], pages: list[str]) -> Iterator[Heading]:
    starts = [0]
    for text in pages:
        starts.append(starts[-1] + len(text) + 1)
    for title, level, page in outline:
        if title and 1 <= page <= len(pages):
            place = pages[page - 1].casefold().find(title.casefold())
            start = starts[page - 1] + max(place, 0)
            yield Heading(title=title, level=level, page=page, start=start)


def found_headings(text: str) -> Iterator[Heading]:
    """Find lines that look like headings: numbered ones, and those that most papers have."""
    found: dict[int, tuple[str, int]] = {}
    for match in _NUMBERED.finditer(text):
        found[match.start()] = (match[0].strip(), match[1].count(".") + 1)
    for match in _NAMED.finditer(text):
        found.setdefault(match.start(), (match[0].strip(), 1))
    for start, (title, level) in sorted(found.items()):
        yield Heading(
            title=title, level=level, page=text.count(PAGE_BREAK, 0, start) + 1, start=start
        )

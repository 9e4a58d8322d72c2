"""Papers as text: the pages of a PDF, without running heads, with its outline."""

import contextlib
import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sciagent.contracts.errors import InputError
from sciagent.literature.tex_codes import TEX_CODES

_HEADS_FROM_PAGES = 3
_SHARE = 0.5
_EDGE_LINES = 2
_LONGEST_HEAD = 120
_DIGITS = re.compile(r"\d+")
_NOT_TEXT = str.maketrans({"\ufffe": "-\n", "\x02": "-\n", "\x00": None, "\x0c": "\n", **TEX_CODES})
"""pdfium writes U+FFFE or U+0002 for the hyphen and the line break at the end of a line."""
_FI = re.compile(r"(?<=[^\W\d_])\x0c(?=[^\W\d_])")
"""The form feed is OT1's ligature fi where it stands inside a word."""


class UnreadablePaperError(InputError):
    """A file is no PDF that can be read."""

    kind = "input.paper"


@dataclass(slots=True)
class PaperText:
    """What was read of a PDF.

    Attributes
    ----------
    pages
        Text of each page.
    title
        As its metadata say; often empty or wrong.
    outline
        Title, level from 1 and page from 1 of each part that the file names.
    detail
        What could not be read.
    """

    pages: list[str]
    title: str = ""
    outline: list[tuple[str, int, int]] = field(default_factory=list)
    detail: str = ""


def text_of_pdf(content: bytes) -> PaperText:
    """Read a PDF with pdfium, else with pypdf.

    Parameters
    ----------
    content
        The file.

    Raises
    ------
    UnreadablePaperError
        If neither reads it, for example because it was cut off or is locked.
    """
    try:
        paper = _by_pdfium(content)
    except UnreadablePaperError:
        paper = _by_pypdf(content)
    if not any(page.strip() for page in paper.pages):
        paper.detail = "No text is in the file: its pages may be images."
    paper.pages = without_running_heads(paper.pages)
    return paper


def _by_pdfium(content: bytes) -> PaperText:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        raise UnreadablePaperError(f"The PDF cannot be read: {error}.") from error
    with contextlib.closing(document):
        pages = []
        for page in document:
            text = page.get_textpage()
            pages.append(cleaned(text.get_text_bounded()))
            text.close()
            page.close()
        title = str(document.get_metadata_dict().get("Title", "")).strip()
        return PaperText(pages, title, list(_outline(document)))


def _outline(document: object) -> Iterator[tuple[str, int, int]]:
    with contextlib.suppress(Exception):  # process boundary: outlines are often broken
        for item in document.get_toc():  # type: ignore[attr-defined]
            target = item.get_dest()
            page = target.get_index() if target is not None else None
            if page is not None:
                yield item.get_title().strip(), item.level + 1, page + 1


def _by_pypdf(content: bytes) -> PaperText:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    # What is wrong with a file is said by the error alone.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(content))
        pages = [cleaned(page.extract_text()) for page in reader.pages]
    except (PyPdfError, ValueError, KeyError, OSError, RecursionError) as error:
        raise UnreadablePaperError(
            f"The PDF cannot be read: {error}.", "Fetch it again, or take another version."
        ) from error
    title = str((reader.metadata and reader.metadata.title) or "").strip()
    return PaperText(pages, title)


def cleaned(text: str) -> str:
    """Mend what readers of PDF leave behind: line ends, hyphens, control characters."""
    text = _FI.sub("fi", text.replace("\r\n", "\n").replace("\r", "\n")).translate(_NOT_TEXT)
    return text.replace("\f", "\n").strip("\n")


def without_running_heads(pages: Sequence[str]) -> list[str]:
    """Leave out the lines that stand at the top or bottom of most pages, numbers not compared.

    They would cut sentences that run over the end of a page.
    """
    if len(pages) < _HEADS_FROM_PAGES:
        return list(pages)
    lines = [page.split("\n") for page in pages]
    tops = Counter(_shape(line) for page in lines for line in page[:_EDGE_LINES])
    ends = Counter(_shape(line) for page in lines for line in page[-_EDGE_LINES:])
    least = _SHARE * len(pages)
    return ["\n".join(_trimmed(page, tops, ends, least)) for page in lines]


def _trimmed(page: list[str], tops: Counter[str], ends: Counter[str], least: float) -> list[str]:
    first, last = 0, len(page)
    while first < min(_EDGE_LINES, last) and _repeats(page[first], tops, least):
        first += 1
    while last > max(first, len(page) - _EDGE_LINES) and _repeats(page[last - 1], ends, least):
        last -= 1
    return page[first:last]


def _repeats(line: str, counts: Counter[str], least: float) -> bool:
    shape = _shape(line)
    return bool(shape) and len(shape) <= _LONGEST_HEAD and counts[shape] > least


def _shape(line: str) -> str:
    """A line with all numbers made equal."""
    return _DIGITS.sub("#", " ".join(line.split()))

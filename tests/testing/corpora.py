"""Small corpora that several tests look at; nobody writes to their folders."""

import atexit
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from sciagent.testing.corpus import Corpus, Paper, make_corpus


@cache
def small_corpus() -> Corpus:
    """Sixteen papers of three pages, with every trait."""
    folder = Path(mkdtemp(prefix="corpus-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make_corpus(folder, papers=16, seed=3, pages=3)


def read_pages(paper: Paper) -> list[str]:
    """Text of the pages of a PDF as pdfium reads it."""
    import pypdfium2

    assert paper.pdf is not None
    with pypdfium2.PdfDocument(paper.pdf) as document:
        return [page.get_textpage().get_text_range() for page in document]


def letters(text: str) -> str:
    """A text in lower case without blanks, hyphens and marks of footnotes behind a full stop."""
    folded = (
        text.replace("ﬁ", "fi").replace("ﬂ", "fl").replace("ﬀ", "ff").replace("ﬃ", "ffi")
        .replace("ﬄ", "ffl")
    )  # fmt: skip
    return "".join(each for each in folded.casefold() if each.isalnum())


def most_common(texts: list[str]) -> int:
    """How often the most frequent of some texts occurs."""
    return Counter(texts).most_common(1)[0][1]

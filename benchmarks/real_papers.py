"""Real PDFs of this machine's documentation, as a corpus to quote from.

What people copy is read by another reader than ours, `pdftotext` of Poppler, so that quotes hold
what a viewer gives and not what is looked for.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sciagent.contracts.literature import PAGE_BREAK, Work
from sciagent.literature.quoting.sentences import on_one_line, sentences
from sciagent.literature.tex_codes import TEX_CODES
from sciagent.testing.corpus import Corpus, Paper, Sentence

VARIABLE = "SCIAGENT_BENCHMARK_PDFS"
"""Names another folder with PDFs."""
FOLDERS = ("/usr/share/doc", "/usr/share/R/doc", "/usr/lib/R")
LEAST, MOST = 20, 40
"""Papers; fewer are not measured."""
PACKAGES = "r-doc-pdf r-cran-lme4 r-cran-survival r-cran-zoo r-cran-sp r-cran-coin r-cran-gstat"
"""Debian packages whose documentation is enough."""
_LEAST_SENTENCES = 20
_LETTERS = 0.75
_LENGTHS = range(50, 300)


def real_corpus() -> Corpus | str:
    """Read PDFs that are installed here; if there are too few, say what is missing."""
    if shutil.which("pdftotext") is None:
        return "install poppler-utils"
    folders = [Path(named)] if (named := os.environ.get(VARIABLE)) else [*map(Path, FOLDERS)]
    papers: list[Paper] = []
    for path in sorted(path for folder in folders for path in folder.rglob("*.pdf")):
        papers.extend(_paper(path, len(papers)))
        if len(papers) == MOST:
            break
    if len(papers) < LEAST:
        return f"{len(papers)} papers are too few; install {PACKAGES}"
    return Corpus(folder=Path(folders[0]), papers=tuple(papers))


def _paper(path: Path, number: int) -> Iterator[Paper]:
    read = subprocess.run(["pdftotext", path, "-"], capture_output=True, check=False)
    text = read.stdout.decode("utf-8", "replace").translate(str.maketrans(TEX_CODES))
    pages = tuple(text.split(PAGE_BREAK)[:-1])
    found = tuple(
        Sentence(text, page)
        for page, words in enumerate(pages, 1)
        for start, end in sentences(words)
        if _is_prose(text := on_one_line(words[start:end]))
    )
    if len(found) >= _LEAST_SENTENCES:
        work = Work(key=f"{path.stem}{number}", title=path.stem)
        yield Paper(
            work=work, pdf=path, html=None, pages=pages, facts=(), traits=frozenset(),
            sentences=found,
        )  # fmt: skip


def _is_prose(text: str) -> bool:
    letters = sum(each.isalpha() or each == " " for each in text)
    is_sentence = text[:1].isupper() and text.endswith(".")
    return len(text) in _LENGTHS and is_sentence and letters > _LETTERS * len(text)

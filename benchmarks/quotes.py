"""Quotes as people copy them are found in their papers, altered ones are not."""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.real_papers import real_corpus
from benchmarks.table import Row, present, progress
from sciagent.literature.quoting.locating import locate
from sciagent.literature.reading import document_from_file
from sciagent.testing.corpus import Corpus, make_corpus
from sciagent.testing.corpus.quotes import QUOTE_KINDS, seeded_quotes

PAPERS = 50
QUOTES = 1000
LEAST_FOUND = 0.995
LEAST_FOUND_REAL = 0.95
LEAST_RATE = 500.0


def measure(quick: bool) -> list[Row]:
    """Look every quote up in the text that was read of its paper."""
    papers, count = (20, 200) if quick else (PAPERS, QUOTES)
    with tempfile.TemporaryDirectory() as folder:
        progress(f"{papers} papers, {count} quotes")
        made = looked_up("all", make_corpus(Path(folder), papers=papers, seed=1), count)
    real = real_corpus()
    if isinstance(real, str):
        progress(f"no real papers: {real}")
        return made
    progress(f"{len(real.papers)} real papers, {count} quotes")
    return [*made, *looked_up("real", real, count, LEAST_FOUND_REAL)]


def looked_up(case: str, corpus: Corpus, count: int, least: float = LEAST_FOUND) -> list[Row]:
    """Quote a corpus, and count what is found."""
    quotes = seeded_quotes(corpus, count, seed=0)
    texts = {
        paper.work.key: document_from_file(paper.pdf).source.text
        for paper in corpus.papers
        if paper.pdf is not None
    }
    made: Counter[str] = Counter(quote.kind for quote in quotes)
    found: Counter[str] = Counter()
    start = time.process_time()
    for quote in quotes:
        found[quote.kind] += locate(quote.quote, texts[quote.work], quote.page) is not None
    rate = len(quotes) / (time.process_time() - start)
    true = {quote.kind for quote in quotes if quote.should_be_found}
    accepted = sum(found[kind] for kind in QUOTE_KINDS if kind not in true)
    share = sum(found[kind] for kind in true) / sum(made[kind] for kind in true)
    return [
        Row(case, "papers", len(corpus.papers), "{count}"),
        *(Row(f"{case} {kind}", "found", found[kind] / made[kind], "1") for kind in QUOTE_KINDS),
        Row(case, "true_found", share, "1", "at least", least),
        Row(case, "altered_accepted", accepted, "{count}", "must be", 0.0),
        Row(case, "quotes_per_cpu_s", rate, "1", "at least", LEAST_RATE),
    ]


def main() -> int:
    """Print the figures."""
    return present("quotes", measure)


if __name__ == "__main__":
    sys.exit(main())

"""Quotes as people copy them are found in their papers, altered ones are not."""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.table import Row, present, progress
from sciagent.literature.quoting.locating import locate
from sciagent.literature.reading import document_from_file
from sciagent.testing.corpus import make_corpus
from sciagent.testing.corpus.quotes import QUOTE_KINDS, seeded_quotes

PAPERS = 50
QUOTES = 1000
LEAST_FOUND = 0.995
LEAST_RATE = 500.0


def measure(quick: bool) -> list[Row]:
    """Look every quote up in the text that was read of its paper."""
    papers, count = (20, 200) if quick else (PAPERS, QUOTES)
    with tempfile.TemporaryDirectory() as folder:
        progress(f"{papers} papers, {count} quotes")
        corpus = make_corpus(Path(folder), papers=papers, seed=1)
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
        *(Row(kind, "found", found[kind] / made[kind], "1") for kind in QUOTE_KINDS),
        Row("all", "true_found", share, "1", "at least", LEAST_FOUND),
        Row("all", "altered_accepted", accepted, "{count}", "must be", 0.0),
        Row("all", "quotes_per_cpu_s", rate, "1", "at least", LEAST_RATE),
    ]


def main() -> int:
    """Print the figures."""
    return present("quotes", measure)


if __name__ == "__main__":
    sys.exit(main())

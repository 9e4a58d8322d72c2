"""A library of the user's own papers: how fast it is made, and how fast it answers."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.table import Row, present, progress
from sciagent.literature.library.adding import add
from sciagent.literature.library.library import Library
from sciagent.literature.quoting.folding import fold
from sciagent.testing.corpus import Corpus, Fact, make_corpus

PAPERS, QUICK_PAPERS = 1000, 60
QUERIES = 200
LEAST_RATE = 5.0
MOST_QUERY_MS = 50.0
_TOP = 10


def measure(quick: bool) -> list[Row]:
    """Make a library of generated papers and ask it for facts that stand in them."""
    count = QUICK_PAPERS if quick else PAPERS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        progress(f"writing {count} papers, which is not measured")
        corpus = make_corpus(folder / "papers", papers=count, seed=2)
        library = Library(folder / "library.sqlite")
        progress("adding them")
        used_s = cpu_s()
        added = list(add(library, [folder / "papers"]))
        used_s = cpu_s() - used_s
        pdfs = sum(each.outcome == "added" and each.name.endswith(".pdf") for each in added)
        progress("asking")
        times_ms, found, asked = asked_for_facts(library, corpus)
    case = f"{count} papers"
    return [
        Row(case, "added", pdfs, "{count}"),
        Row(case, "papers_per_cpu_s", pdfs / used_s, "1", "at least", LEAST_RATE),
        Row(case, "query_ms", statistics.median(times_ms), "ms", "below", MOST_QUERY_MS),
        Row(case, "query_p95_ms", sorted(times_ms)[int(0.95 * len(times_ms))], "ms"),
        Row(case, "recall_at_10", found / asked, "1"),
    ]  # fmt: skip


def cpu_s() -> float:
    """CPU seconds of this process and of those that it started and that still live or ended."""
    me = psutil.Process()
    own = me.cpu_times()
    total: float = own.user + own.system + own.children_user + own.children_system
    for child in me.children(recursive=True):
        times = child.cpu_times()
        total += times.user + times.system
    return total


def asked_for_facts(library: Library, corpus: Corpus) -> tuple[list[float], int, int]:
    """Ask for the entity and the quantity of facts; count those whose sentence comes back."""
    times_ms: list[float] = []
    found = asked = 0
    facts = [fact for paper in corpus.papers for fact in paper.facts if paper.pdf]
    for fact in facts[:: max(len(facts) // QUERIES, 1)][:QUERIES]:
        query = f"{fact.entity} {fact.quantity}"
        start = time.process_time()
        passages = library.search(query, _TOP)
        times_ms.append(1000.0 * (time.process_time() - start))
        asked += 1
        found += any(_says(each.text, fact) for each in passages)
    return times_ms, found, asked


def _says(text: str, fact: Fact) -> bool:
    """Whether a text holds the value and the entity, however they are printed."""
    folded = fold(text).text
    return all(fold(each).text in folded for each in (fact.value, fact.entity))


def main() -> int:
    """Print the figures."""
    return present("library", measure)


if __name__ == "__main__":
    sys.exit(main())

"""Indexes and sites that fail in every known way: nothing crashes, no failure looks like nothing.

All servers are on this machine; one of them is a trap that nobody may ask.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.table import Row, present, progress
from sciagent.contracts.errors import SciagentError
from sciagent.contracts.literature import Document, Found
from sciagent.literature.pacing import Pacing
from sciagent.literature.response_store import ResponseStore
from sciagent.literature.searching import INDEXES, OnlineLiterature
from sciagent.literature.settings import RetrievalSettings
from sciagent.literature.transport import Transport
from sciagent.testing.corpus import SERVER_FAULTS, Corpus, CorpusServer, Paper, make_corpus
from sciagent.testing.corpus.responses import known_to

PAPERS, REPLAYS, QUICK_REPLAYS = 24, 20, 3
_KEY = "OPENALEX_API_KEY"
_RIGHT = {"rate_limited": "rate_limited", "needs_key": "needs_key", "wrong_type": "ok"}
"""Status for a fault; all others are `unreachable`. A type that is wrongly said is seen through."""
_AS_PAGES = frozenset({"wrong_type", "moved_fields", "moved_record_fields"})
"""Faults that change nothing of a file, or only what is said of it."""
_HALVED = frozenset({"truncated_file", "malformed_json"})


@dataclass
class Tally:
    """What came of all cases."""

    cases: int = 0
    crashes: int = 0
    silent: int = 0
    right: int = 0
    private: int = 0


def settings_for(server: CorpusServer, **given: object) -> RetrievalSettings:
    """Ask the server in place of all indexes, without pauses and not for long."""
    netloc = urlsplit(server.base).netloc
    return RetrievalSettings.model_validate({
        "mode": "live", "contact": "a@example.org", "trusted_hosts": (netloc,),
        "addresses": server.addresses, "spacing_factor": 0.0, "timeout_s": 0.5, "deadline_s": 2.0,
        "search_s": 3.0, "most_mib": 2.0, **given,
    })  # fmt: skip


def literature(settings: RetrievalSettings, folder: Path | None = None) -> OnlineLiterature:
    """Open all indexes, with rests of their own."""
    store = ResponseStore(folder) if folder else None
    return OnlineLiterature(Transport(settings, store, Pacing()), settings)


def indexes_under(fault: str, corpus: Corpus, tally: Tally) -> None:
    """Break all indexes in one way, and ask each."""
    with CorpusServer(corpus) as server:
        server.break_with(fault)
        for index in INDEXES:
            paper = next(each for each in corpus.papers if known_to(index.name, each.work))
            query = paper.work.doi if index.name == "unpaywall" else paper.work.title
            settings = settings_for(server, without=[
                each.name for each in INDEXES if each is not index
            ])  # fmt: skip
            tally.cases += 1
            try:
                with literature(settings) as online:
                    asked = online.search if index.finds == "pages" else online.scholar
                    found = asked(query)
            except Exception as error:  # noqa: BLE001 # process boundary: it is counted
                tally.crashes += 1
                progress(f"  {fault} of {index.name}: {error!r}")
                continue
            status = found.answers[0].status
            right = _RIGHT.get(fault, "unreachable")
            tally.right += status == right
            tally.silent += right != "ok" and status in {"ok", "no_match"}
            if status != right:
                progress(f"  {fault} of {index.name}: {found.answers[0]}")
        tally.private += len(server.trapped)


def pages_under(fault: str, corpus: Corpus, tally: Tally) -> None:
    """Break a site in one way, and read a paper and a page of it."""
    paper = next(each for each in corpus.papers if each.pdf and each.work.open_access == "open")
    with CorpusServer(corpus) as server:
        for address in (server.pdf_address(paper), server.page_address(paper)):
            tally.cases += 1
            try:
                with literature(settings_for(server)) as online:
                    document = online.visit(server.faulty(fault, address))
            except SciagentError:
                tally.right += fault not in _AS_PAGES
                continue
            except Exception as error:  # noqa: BLE001 # process boundary: it is counted
                tally.crashes += 1
                progress(f"  {fault} of {address}: {error!r}")
                continue
            is_right = _is_right(fault, document, paper)
            tally.right += is_right
            tally.silent += not is_right
            if not is_right:
                progress(f"  {fault} of {address}: read as {document.source.text[:60]!r}")


def _is_right(fault: str, document: Document, paper: Paper) -> bool:
    """Whether what was read is what stands there, all of it."""
    if fault == "html_error" and document.media_type == "text/html":
        return "maintenance" in document.source.text
    if fault in _HALVED:
        return "cut off" in document.detail
    return fault in _AS_PAGES and paper.work.title.split()[0] in document.source.text


def replays(corpus: Corpus, count: int) -> int:
    """Record a search, and replay it without the server; how often it is the same to the byte."""
    paper = next(each for each in corpus.papers if each.pdf and each.work.open_access == "open")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with CorpusServer(corpus) as server:
            settings = settings_for(server, mode="record", timeout_s=10.0, deadline_s=20.0,
                                    search_s=30.0, most_mib=20.0)  # fmt: skip
            with literature(settings, folder) as online:
                first = retrieved(online, paper)
        settings = settings.model_copy(update={"mode": "replay"})
        same = 0
        for _ in range(count):
            with literature(settings, folder) as online:
                same += retrieved(online, paper) == first
    return same


def retrieved(online: OnlineLiterature, paper: Paper) -> list[str]:
    """Search and read, as text."""
    found: list[Found | Document] = [online.scholar(paper.work.title), online.search("alloy")]
    works = [work for each in found if isinstance(each, Found) for work in each.works]
    found += [online.visit(url) for work in works for url in work.full_text[:1]]
    return [each.model_dump_json() for each in found]


def measure(quick: bool) -> list[Row]:
    """Break everything; the quick version leaves out what takes its whole time."""
    slow = {"hang", "endless", "gzip_bomb", "short_body"}
    faults = [each for each in SERVER_FAULTS if not (quick and each in slow)]
    tally, before = Tally(), os.environ.get(_KEY)
    os.environ[_KEY] = "a-key"
    try:
        with tempfile.TemporaryDirectory() as name:
            corpus = make_corpus(Path(name), papers=PAPERS, seed=1)
            for fault in faults:
                progress(fault)
                indexes_under(fault, corpus, tally)
                pages_under(fault, corpus, tally)
            count = QUICK_REPLAYS if quick else REPLAYS
            same = replays(corpus, count)
    finally:
        os.environ.pop(_KEY) if before is None else os.environ.update({_KEY: before})
    return list(_rows(tally, same, count))


def _rows(tally: Tally, same: int, count: int) -> Iterator[Row]:
    yield Row("all", "cases", tally.cases, "{count}")
    yield Row("all", "crashes", tally.crashes, "{count}", "must be", 0.0)
    yield Row("all", "silent_empty", tally.silent, "{count}", "must be", 0.0)
    yield Row("all", "right_status", tally.right / tally.cases, "1", "must be", 1.0)
    yield Row("redirects", "private_connections", tally.private, "{count}", "must be", 0.0)
    yield Row("replay", "identical", same, "{count}", "of", count)


def main() -> int:
    """Print the figures."""
    return present("retrieval_faults", measure)


if __name__ == "__main__":
    sys.exit(main())

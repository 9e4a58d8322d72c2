"""A report of hundreds of citations is assembled, printed, sealed and verified."""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from benchmarks.table import Row, present, progress
from sciagent.contracts.citation import Citation, Quote
from sciagent.contracts.claim import (
    CitationClaim,
    InferenceClaim,
    ReportRequest,
    Verification,
)
from sciagent.contracts.literature import Source
from sciagent.contracts.run import RunRequest
from sciagent.reports.assemble import read_claims
from sciagent.reports.references import References
from sciagent.runs.answering import ASKED
from sciagent.runs.environment import describe_environment
from sciagent.runs.finishing import publish, write_environment
from sciagent.runs.verification import verify
from sciagent.testing.corpus import Corpus, SeededQuote, make_corpus, seeded_quotes
from sciagent.tools.sources import keep_sources
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.workspace import create_workspace

WORKS = 96
CHAPTERS = 8
CITATIONS = 400
WRONG = 10
LEAST_CITATIONS, LEAST_REFERENCES = 391, 84
MOST_VERIFY_CPU_S = 10.0
PER_PARAGRAPH = 5
PAGES = 3


@dataclass(frozen=True)
class SeededReport:
    """A report to assemble, with the IDs of the citations that must not pass."""

    request: ReportRequest
    wrong: frozenset[str]
    of_retracted: frozenset[str]


def seeded_report(root: Path, corpus: Corpus, citations: int, wrong: int) -> SeededReport:
    """Keep the texts of a corpus as sources, and cite them in chapters."""
    texts = {paper.work.key: _kept(root, paper.work.url, paper.text) for paper in corpus.papers}
    # Half of the seeded quotes are right.
    quotes = seeded_quotes(corpus, 2 * citations, seed=0)
    right = [quote for quote in quotes if quote.should_be_found]
    false = [quote for quote in quotes if not quote.should_be_found][:wrong]
    claims, wrong_ids = [], set()
    for number, quote in enumerate((*right, *false)):
        claims.append(_citation(f"cite.{number:04d}", quote, texts[quote.work]))
        if not quote.should_be_found:
            wrong_ids.add(claims[-1].id)
    # The wrong ones stand among the right ones.
    claims.sort(key=lambda claim: claim.id[::-1])
    inferences = tuple(
        InferenceClaim(
            id=f"inference.{chapter}", subject="the literature", quantity="inference",
            statement="Taken together, these reports agree less than each of them claims.",
        )
        for chapter in range(CHAPTERS)
    )  # fmt: skip
    request = ReportRequest(
        title="What is known, and by whom it was found",
        source="\n\n".join(_chapters(claims, inferences)) + "\n",
        numbers=(),
        citations=tuple(claims),
        inferences=inferences,
        works=tuple(paper.work for paper in corpus.papers),
    )
    retracted = {each.work.key for each in corpus.having("retracted")}
    return SeededReport(
        request,
        frozenset(wrong_ids),
        frozenset(claim.id for claim in claims if claim.citation.work in retracted),
    )


def _kept(root: Path, url: str, text: str) -> str:
    (source,) = keep_sources(root, [Source(url=url, sha256="", text=text)])
    return source.sha256


def _citation(identifier: str, quote: SeededQuote, sha256: str) -> CitationClaim:
    return CitationClaim(
        id=identifier, subject=quote.entity, quantity="cited statement",
        statement=quote.statement,
        citation=Citation(
            work=quote.work, source_sha256=sha256, quote=Quote(text=quote.quote, page=quote.page)
        ),
    )  # fmt: skip


def _chapters(
    claims: Sequence[CitationClaim], inferences: Sequence[InferenceClaim]
) -> Iterator[str]:
    names = ("Materials", "Methods", "Structure", "Kinetics", "Stability", "Errors", "Uses", "Gaps")
    size = -(-len(claims) // CHAPTERS)
    for chapter, name in enumerate(names):
        yield f"## {name}"
        mine = claims[chapter * size : (chapter + 1) * size]
        for start in range(0, len(mine), PER_PARAGRAPH):
            yield " ".join(f"{{{{claim:{each.id}}}}}" for each in mine[start:][:PER_PARAGRAPH])
        yield f"{{{{claim:{inferences[chapter].id}}}}}"


def published(folder: Path, citations: int, works: int, wrong: int) -> tuple[Path, SeededReport]:
    """Make the report's workspace as a run does, to its seal."""
    corpus = make_corpus(folder / "corpus", papers=works, seed=3, pages=PAGES)
    request = RunRequest(question="agent/ask", policy="model")
    layout = create_workspace(folder / "runs", request, {}, slug="report-size")
    report = seeded_report(layout.root, corpus, citations, wrong)
    environment = describe_environment(request, [])
    write_environment(layout, environment)
    with JournalFile.open(layout.journal) as journal:
        publish(layout, ASKED, report.request, environment, journal, "completed")
    return layout.root, report


class _Links(HTMLParser):
    """The places of a page and what they link to.

    Attributes
    ----------
    places
        All ids.
    back
        Place of a citation by the entry that links to it.
    forth
        Entry that is linked to, by the place of the citation.
    """

    def __init__(self) -> None:
        super().__init__()
        self.places: list[str] = []
        self.targets: list[str] = []
        self.forth: dict[str, str] = {}
        self.back: dict[str, str] = {}
        self._entry = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        place, target = given.get("id", ""), given.get("href", "")
        self.places += [place] if place else []
        self.targets += [target[1:]] if target.startswith("#") else []
        if tag == "li":
            self._entry = place
        elif tag == "a" and place.startswith("cite-"):
            self.forth[place] = target[1:]
        elif tag == "a" and target.startswith("#cite-"):
            self.back[target[1:]] = self._entry

    def lead_both_ways(self) -> bool:
        """Whether each citation leads to its entry and back, and no link leads nowhere."""
        is_unique = len(self.places) == len(set(self.places))
        return is_unique and self.forth == self.back and set(self.targets) <= set(self.places)


def links_of(page: str) -> _Links:
    """Read the links of a page."""
    links = _Links()
    links.feed(page)
    return links


def right_verdicts(verification: Verification, report: SeededReport) -> float:
    """Share of the citations that are judged as they were seeded."""
    verdicts = {each.claim: each.verdict for each in verification.verdicts}
    right = 0
    for claim in report.request.citations:
        verdict = verdicts[claim.id]
        if claim.id in report.wrong:
            right += verdict in {"not_found", "unsupported", "retracted"}
        elif claim.id in report.of_retracted:
            right += verdict == "retracted"
        else:
            right += verdict == "quoted"
    return right / len(report.request.citations)


def measure(quick: bool) -> list[Row]:
    """Assemble, print, seal and verify one report."""
    citations, works = (120, 30) if quick else (CITATIONS, WORKS)
    with tempfile.TemporaryDirectory() as folder:
        progress(f"a report with {citations} citations of {works} works")
        start = time.process_time()
        root, report = published(Path(folder), citations, works, WRONG)
        made_cpu_s = time.process_time() - start
        progress("verify")
        start = time.process_time()
        verification = verify(root)
        verify_cpu_s = time.process_time() - start
        claims = read_claims(root)
        page = (root / "report.html").read_text(encoding="utf-8")
    references = References(claims)
    links = links_of(page)
    return [
        Row("deep", "citations", len(references.citations), "{count}", "at least",
            LEAST_CITATIONS),
        Row("deep", "references", len(references.entries), "{count}", "at least",
            LEAST_REFERENCES),
        Row("deep", "resolved_or_flagged", right_verdicts(verification, report), "1",
            "must be", 1.0),
        Row("deep", "findings", len(verification.findings), "{count}", "must be", 0.0),
        Row("deep", "verify_cpu_s", verify_cpu_s, "s", "below", MOST_VERIFY_CPU_S),
        Row("deep", "made_cpu_s", made_cpu_s, "s"),
        Row("deep", "html_size", len(page.encode()) / 1e6, "MB"),
        Row("deep", "places_that_cite", len(links.forth), "{count}"),
        Row("deep", "links_both_ways", float(links.lead_both_ways()), "1", "must be", 1.0),
    ]  # fmt: skip


def main() -> int:
    """Print the figures."""
    return present("report_size", measure)


if __name__ == "__main__":
    sys.exit(main())

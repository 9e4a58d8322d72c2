"""Evidence without a model: what is quoted, what is said of what failed, and what is refused."""

import json
from pathlib import Path

import pytest

from sciagent.contracts.claim import CitationClaim
from sciagent.contracts.errors import InputError, RandomError
from sciagent.contracts.literature import Author, Document, Found, Source, SourceAnswer, Work
from sciagent.contracts.model import sha256_text
from sciagent.runs import Run, gather, open_run, resume, verify
from sciagent.runs.gathering import quotable_sentences

PAPER = (
    "Thermal expansion of apatites\nWe measured the thermal expan-\nsion of fluorapatite between "
    "293 and 1273 K. Its coefficient along a is 9.4 x 10-6 per kelvin.\fNo expansion was seen in "
    "the hydroxyl sites. References are listed below."
)
OPEN = Work(
    key="hill1988thermal", title="Thermal expansion of apatites", year=1988, doi="10.1/hill",
    authors=(Author(family="Hill"),), full_text=("https://example.org/hill.pdf",),
    open_access="open", status="current",
)  # fmt: skip
CLOSED = Work(
    key="koch2001expansion", title="Expansion of minerals", year=2001, doi="10.1/koch",
    abstract="The thermal expansion of fluorapatite is anisotropic and was retracted since then.",
    status="retracted", status_date="2003-01-01",
)  # fmt: skip
EMPTY = Work(key="nemo2010title", title="Thermal expansion of nothing", year=2010)
ANSWERS = (
    SourceAnswer(source="crossref", status="ok", records=3),
    SourceAnswer(source="arxiv", status="rate_limited", retry_after_s=30.0),
)


class Shelf:
    """Three works: one is open, one has an abstract, one has neither."""

    def __init__(self, *works: Work) -> None:
        self.works = works
        self.visits = 0

    def search(self, query: str) -> Found:
        return self.scholar(query)

    def scholar(self, query: str) -> Found:
        return Found(query=query, works=self.works, answers=ANSWERS)

    def visit(self, url: str) -> Document:
        self.visits += 1
        if url != OPEN.full_text[0]:
            raise RandomError(f"{url} did not answer.")
        source = Source(url=url, title=OPEN.title, sha256=sha256_text(PAPER), text=PAPER)
        return Document(source=source, pages=2)


def citations(run: Run) -> list[CitationClaim]:
    assert run.claims is not None
    return [each for each in run.claims.claims if isinstance(each, CitationClaim)]


def test_the_best_sentences_of_each_work_are_quoted_with_their_places(tmp_path: Path) -> None:
    shelf = Shelf(OPEN, CLOSED, EMPTY)
    run = gather("thermal expansion fluorapatite", literature=shelf, out=tmp_path)
    assert run.summary.status == "completed"
    claims = citations(run)
    quoted = {each.statement: each.citation for each in claims}
    best = next(each for each in quoted if "between 293 and 1273 K" in each)
    assert "thermal expansion of fluorapatite" in best
    assert quoted[best].quote.page == 1
    assert {each.work for each in quoted.values()} == {OPEN.key, CLOSED.key}
    checked = verify(run.path)
    assert checked.quoted == len(claims) - checked.retracted
    assert checked.retracted == 1
    report = (run.path / "report.md").read_text()
    assert "rate_limited" in report
    assert "only its abstract was read" in report
    assert "not read (no open text is known)" in report
    (first, second) = json.loads((run.path / "references.json").read_text())
    assert {first["id"], second["id"]} == {OPEN.key, CLOSED.key}


def test_what_a_work_denies_is_quoted_too(tmp_path: Path) -> None:
    run = gather("expansion in the hydroxyl sites", literature=Shelf(OPEN), out=tmp_path)
    statements = [each.statement for each in citations(run)]
    assert "No expansion was seen in the hydroxyl sites." in statements
    assert verify(run.path).ok


def test_without_evidence_the_run_abstains_and_says_how_each_source_answered(
    tmp_path: Path,
) -> None:
    run = gather("thermal expansion", literature=Shelf(EMPTY), out=tmp_path)
    assert run.summary.status == "abstained"
    report = (run.path / "report.md").read_text()
    assert "That proves no absence" in report
    assert "rate_limited" in report
    assert verify(run.path).ok


def test_gathering_can_be_stopped_and_gone_on_with(tmp_path: Path) -> None:
    class Interrupted(Shelf):
        def visit(self, url: str) -> Document:
            raise KeyboardInterrupt(url)

    with pytest.raises(KeyboardInterrupt):
        gather("thermal expansion", literature=Interrupted(OPEN), out=tmp_path)
    (path,) = tmp_path.iterdir()
    assert open_run(path).summary.status == "stopped"
    from sciagent.runs.gathering import resume_gather

    run = resume_gather(path, Shelf(OPEN))
    assert run.summary.status == "completed"
    assert resume(path).summary.status == "completed"


@pytest.mark.parametrize(("query", "said"), [("  ", "no query"), ("apatite", "no literature")])
def test_what_cannot_be_asked_is_refused_before_anything_is_written(
    tmp_path: Path, query: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        gather(query, out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_only_whole_sentences_of_the_body_are_quoted() -> None:
    text = (
        "Thermal expansion was measured with great care in all samples. It is the reason why in"
        "\fFurther on the expansion of the sample was measured once more.\nReferences\n"
        "J. Hill, The thermal expansion of everything, Journal of Things, 1988, which is long."
    )
    assert list(quotable_sentences(text)) == [
        "Thermal expansion was measured with great care in all samples.",
        "Further on the expansion of the sample was measured once more.",
    ]

import hashlib
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.citation import Citation, Quote
from sciagent.contracts.claim import CitationClaim
from sciagent.contracts.literature import Work
from sciagent.reports.citations import CitationJudge

PAGE = "Fluorapatite has a cell length of 9.367 Å at room temperature."
TEXT = f"A first page.\f{PAGE}"
QUOTE = "Fluorapatite has a cell length of 9.367 Å"
START = TEXT.index(QUOTE)


def claim(statement: str = "fluorapatite has a = 9.367 Å", **changes: Any) -> CitationClaim:
    quote = Quote.model_validate({"text": QUOTE, **changes.pop("quote", {})})
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    identifier = changes.pop("id", "c")
    fields = {"work": "hughes1989", "source_sha256": digest, "quote": quote, **changes}
    return CitationClaim(
        id=identifier, subject="fluorapatite", quantity="cell length", statement=statement,
        citation=Citation.model_validate(fields),
    )  # fmt: skip


def judged(root: Path, one: CitationClaim, *others: CitationClaim) -> tuple[str, str]:
    work = Work(key="hughes1989", title="Structural variations in apatites")
    return CitationJudge((one, *others), root, {work.key: work}).judge(one)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / f"{hashlib.sha256(TEXT.encode()).hexdigest()}.txt").write_bytes(TEXT.encode())
    return tmp_path


@pytest.mark.parametrize(
    "quote",
    [
        {},
        {"page": 2, "start": START, "end": START + len(QUOTE)},
        {"text": "Fluorapatite has a cell\nlength of 9.367 Å", "page": 2},
    ],
)
def test_a_quote_that_stands_in_its_source_and_supports_the_statement_is_quoted(
    root: Path, quote: dict[str, Any]
) -> None:
    verdict, detail = judged(root, claim(quote=quote))
    assert verdict == "quoted"
    assert "page 2" in detail


@pytest.mark.parametrize(
    "quote",
    [
        {"text": QUOTE.replace("9.367", "9.376")},
        {"text": QUOTE.replace("has a", "has no")},
        {"page": 1},
        {"page": 3},
        {"page": 2, "start": START + 1, "end": START + len(QUOTE)},
        {"page": 1, "start": START, "end": START + len(QUOTE)},
    ],
)
def test_a_quote_with_another_word_digit_or_place_is_not_found(
    root: Path, quote: dict[str, Any]
) -> None:
    assert judged(root, claim(quote=quote))[0] == "not_found"


def test_a_statement_with_a_number_or_subject_not_in_the_quote_is_unsupported(root: Path) -> None:
    verdict, detail = judged(root, claim("fluorapatite has a = 9.4 Å"))
    assert (verdict, "9.4" in detail) == ("unsupported", True)
    assert judged(root, claim("fluorapatite has not a = 9.367 Å"))[0] == "unsupported"
    other = claim().model_copy(update={"subject": "chlorapatite"})
    assert judged(root, other)[0] == "unsupported"


def test_one_quote_cannot_serve_statements_that_it_is_not_about(root: Path) -> None:
    right = claim("The cell length of fluorapatite is 9.367 Å.")
    wrong = claim("Fluorapatite dissolves in acid, as everybody knows.", id="d")
    assert judged(root, right, wrong)[0] == "quoted"
    verdict, detail = judged(root, wrong, right)
    assert (verdict, "serves c too" in detail) == ("unsupported", True)


def test_a_retracted_work_is_retracted_with_its_date(root: Path) -> None:
    verdict, detail = judged(root, claim(status="retracted", status_date="2020-02-02"))
    assert (verdict, "2020-02-02" in detail) == ("retracted", True)


def test_a_citation_of_a_work_that_the_report_does_not_list_is_unresolved(root: Path) -> None:
    verdict, detail = judged(root, claim(work="nobody2000"))
    assert (verdict, "nobody2000" in detail) == ("unresolved", True)


def test_a_source_that_is_not_kept_intact_is_unresolved(root: Path) -> None:
    next((root / "sources").iterdir()).write_text("something else")
    assert judged(root, claim())[0] == "unresolved"

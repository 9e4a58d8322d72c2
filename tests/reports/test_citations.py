import hashlib
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.citation import Citation, Quote
from sciagent.contracts.claim import CitationClaim
from sciagent.reports.citations import judge_citation

TEXT = "A first page.\fFluorapatite has a cell length of 9.367 Å at room temperature."
QUOTE = "Fluorapatite has a cell length of 9.367 Å"


def claim(statement: str = "fluorapatite has a = 9.367 Å", **changes: Any) -> CitationClaim:
    quote = Quote.model_validate({"text": QUOTE, **changes.pop("quote", {})})
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    fields = {"work": "hughes1989", "source_sha256": digest, "quote": quote, **changes}
    return CitationClaim(
        id="c", subject="fluorapatite", quantity="cell length", statement=statement,
        citation=Citation.model_validate(fields),
    )  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / f"{hashlib.sha256(TEXT.encode()).hexdigest()}.txt").write_bytes(TEXT.encode())
    return tmp_path


def test_a_quote_that_stands_in_its_source_and_supports_the_statement_is_quoted(
    root: Path,
) -> None:
    assert judge_citation(claim(), root)[0] == "quoted"
    exact = {"page": 2, "start": 0, "end": len(QUOTE)}
    assert judge_citation(claim(quote=exact), root)[0] == "quoted"


@pytest.mark.parametrize(
    "quote",
    [
        {"text": QUOTE.replace("9.367", "9.376")},
        {"text": QUOTE.replace("has a", "has no")},
        {"page": 1},
        {"page": 3},
        {"page": 2, "start": 1, "end": len(QUOTE)},
    ],
)
def test_a_quote_with_another_word_digit_or_place_is_not_found(
    root: Path, quote: dict[str, Any]
) -> None:
    assert judge_citation(claim(quote=quote), root)[0] == "not_found"


def test_a_statement_with_a_number_or_subject_not_in_the_quote_is_unsupported(root: Path) -> None:
    verdict, detail = judge_citation(claim("fluorapatite has a = 9.4 Å"), root)
    assert (verdict, "9.4" in detail) == ("unsupported", True)
    other = claim().model_copy(update={"subject": "chlorapatite"})
    assert judge_citation(other, root)[0] == "unsupported"


def test_a_retracted_work_is_retracted_with_its_date(root: Path) -> None:
    verdict, detail = judge_citation(claim(status="retracted", status_date="2020-02-02"), root)
    assert (verdict, "2020-02-02" in detail) == ("retracted", True)


def test_a_source_that_is_not_kept_intact_is_unresolved(root: Path) -> None:
    next((root / "sources").iterdir()).write_text("something else")
    assert judge_citation(claim(), root)[0] == "unresolved"

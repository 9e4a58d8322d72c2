from pathlib import Path

import pytest

from sciagent.contracts.claim import ClaimsFile, Statement
from sciagent.contracts.errors import InputError, UnknownNameError, WorkspaceError
from sciagent.workspace.content import sha256_of_file
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import Layout
from sciagent.workspace.reviews import add_review, read_reviews
from sciagent.workspace.seal import check_seal, seal
from tests.workspace.samples import finished_workspace

CLAIM = Statement(
    id="cell_a_agrees", subject="line", quantity="slope", left="a", operator="within", right="b"
)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = finished_workspace(tmp_path)
    claims = ClaimsFile(
        question="toy/line", title="Line", report_source="", required=(), claims=(CLAIM,)
    )
    (layout / "claims.json").write_text(claims.model_dump_json())
    with JournalFile.open(layout.journal) as journal:
        seal(journal, layout.root, "completed")
    return layout


def test_reviews_of_a_sealed_report_are_read_back_and_break_no_seal(layout: Layout) -> None:
    first = add_review(layout, "Ada", "cell_a_agrees", "Which standard?")
    second = add_review(layout, "Grace", "", verdict="signed_off")
    assert read_reviews(layout) == (first, second)
    assert first.reviewer == "Ada"
    assert first.claims_sha256 == sha256_of_file(layout / "claims.json")
    assert check_seal(layout.root) == []


def test_a_line_that_a_crash_cut_off_is_removed_by_the_next_review(layout: Layout) -> None:
    first = add_review(layout, "Ada", "", "Good.")
    with (layout / "reviews.jsonl").open("a") as stream:
        stream.write('{"half":')
    assert read_reviews(layout) == (first,)
    second = add_review(layout, "Ada", "", "Better.")
    assert read_reviews(layout) == (first, second)


def test_an_unknown_claim_is_refused_with_the_nearest(layout: Layout) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'cell_a_agrees'"):
        add_review(layout, "Ada", "cell_a_agree", "?")
    assert not (layout / "reviews.jsonl").exists()


@pytest.mark.parametrize(("reviewer", "text"), [(" ", "Good."), ("Ada", " ")])
def test_a_review_needs_a_name_and_something_said(layout: Layout, reviewer: str, text: str) -> None:
    with pytest.raises(InputError):
        add_review(layout, reviewer, "", text)


def test_a_run_without_a_report_cannot_be_reviewed(layout: Layout) -> None:
    (layout / "claims.json").unlink()
    with pytest.raises(WorkspaceError, match="Finish the run first"):
        add_review(layout, "Ada", "", "Good.")


def test_a_file_that_holds_no_reviews_is_refused(layout: Layout) -> None:
    (layout / "reviews.jsonl").write_text("hello\n")
    with pytest.raises(WorkspaceError, match="no review"):
        read_reviews(layout)
    assert read_reviews(Layout(layout.root / "data")) == ()

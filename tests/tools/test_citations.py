import json
from typing import Any

import pytest

from sciagent.contracts.claim import ReportRequest
from sciagent.contracts.literature import Author, Source, Work
from sciagent.reports.assemble import assemble
from sciagent.testing.toy import DOMAIN
from sciagent.tools.boundary import FencedResult
from sciagent.tools.citations import record_citation, record_inference
from sciagent.tools.claims import record_claim, record_statement, write_report
from sciagent.tools.context import ToolContext
from sciagent.tools.report_draft import REPORT_REQUEST
from sciagent.tools.sources import SourceOfWork, keep_sources, stored_sources
from sciagent.tools.standard import standard_toolbox
from tests.tools.calls import used

URL = "https://papers.example/hughes"
TEXT = (
    "Structural variations in apatites.\fFluorapatite has a cell length of 9.397 Å at room "
    "temperature. Chlorapatite is not hexagonal below 200 °C."
)
QUOTE = "Fluorapatite has a cell length of 9.397 Å"
HUGHES = Work(
    key="hughes1989structural", title="Structural variations in apatites", year=1989,
    authors=(Author(family="Hughes", given="John M."),), doi="10.5555/ammin.1989", url=URL,
    full_text=("https://papers.example/hughes.pdf",),
)  # fmt: skip
CITED = {
    "id": "hughes.a", "subject": "fluorapatite", "url_or_work": URL, "quote": QUOTE,
    "statement": "The cell length of fluorapatite is 9.397 Å.",
}  # fmt: skip


@pytest.fixture
def read(context: ToolContext) -> ToolContext:
    """A workspace in which a paper was read."""
    keep_sources(context.root, [SourceOfWork(url=URL, sha256="", text=TEXT, work=HUGHES)])
    return context


def recorded(context: ToolContext, **changes: Any) -> FencedResult:
    return used(record_citation, context, **(CITED | changes))


def draft(context: ToolContext) -> ReportRequest:
    return ReportRequest.model_validate_json((context.root / REPORT_REQUEST).read_bytes())


def test_a_quote_is_looked_up_at_once_and_its_place_is_told(read: ToolContext) -> None:
    start = TEXT.index(QUOTE)
    assert recorded(read).text == (
        f"Recorded hughes.a: the quote stands on page 2, characters {start} to "
        f"{start + len(QUOTE)}, of hughes1989structural."
    )
    (claim,), (work,) = draft(read).citations, draft(read).works
    assert (claim.citation.quote.page, claim.citation.quote.start) == (2, start)
    assert work == HUGHES


@pytest.mark.parametrize(
    "name",
    ["hughes1989structural", "10.5555/AMMIN.1989", "https://doi.org/10.5555/ammin.1989", f"{URL}/"],
)
def test_a_work_is_found_by_its_key_its_doi_or_its_address(read: ToolContext, name: str) -> None:
    assert recorded(read, url_or_work=name).text.startswith("Recorded")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"quote": QUOTE.replace("9.397", "9.379")}, f"on page 2: “{QUOTE}"),
        ({"quote": "Elephants remember whom they met at the river"}, "nor does anything like it"),
        ({"quote": "apatite"}, "too short"),
        ({"page": 1}, "The quote stands on page 2, not on page 1."),
        ({"statement": "Fluorapatite has a = 9.4 Å."}, "does not hold 9.4"),
        ({"statement": "Fluorapatite has a = 9.397 nm."}, "in another unit"),
        ({"statement": "Fluorapatite has not a = 9.397 Å."}, "does not deny"),
        ({"subject": "hydroxyapatite"}, "does not name hydroxyapatite"),
        ({"url_or_work": "https://papers.example/hugh"}, f"Did you mean '{URL}'?"),
        ({"subject": "fluorapatite 42"}, "The subject holds the number '42'"),
    ],
)
def test_a_citation_that_its_source_does_not_bear_out_is_not_recorded(
    read: ToolContext, changes: dict[str, Any], message: str
) -> None:
    result = recorded(read, **changes)
    assert message in result.text
    assert result.text.startswith("Error")
    assert not (read.root / REPORT_REQUEST).exists()


def test_what_a_source_says_instead_counts_as_text_from_outside(read: ToolContext) -> None:
    assert recorded(read, quote=QUOTE.replace("9.397", "9.379")).label.fetched
    assert read.taint.read_any


def test_one_quote_does_not_serve_two_statements_of_different_things(read: ToolContext) -> None:
    recorded(read)
    result = recorded(
        read, id="other", statement="Fluorapatite dissolves in acid, as everybody knows."
    )
    assert "its quote serves hughes.a too" in result.text
    assert [claim.id for claim in draft(read).citations] == ["hughes.a"]


def test_recording_a_citation_again_replaces_it_and_drops_works_that_nobody_cites(
    read: ToolContext,
) -> None:
    recorded(read)
    page = "https://pages.example/minerals"
    keep_sources(read.root, [Source(url=page, title="Minerals of the apatite group", sha256="",
                                    text=TEXT.replace("9.397", "9.4"))])  # fmt: skip
    changed = {"quote": QUOTE.replace("9.397", "9.4"), "statement": "Fluorapatite has a = 9.4 Å."}
    assert recorded(read, url_or_work=page, **changed).text.startswith("Recorded")
    (claim,), (work,) = draft(read).citations, draft(read).works
    assert (work.kind, work.title, work.url) == ("webpage", "Minerals of the apatite group", page)
    assert claim.citation.work == work.key == "pagesexampleminerals"


def test_two_works_of_one_key_are_told_apart(read: ToolContext) -> None:
    recorded(read)
    other = HUGHES.model_copy(update={"doi": "10.5555/other", "url": "https://o.example"})
    text = TEXT.replace("9.397", "9.5")
    keep_sources(read.root, [SourceOfWork(url=other.url, sha256="", text=text, work=other)])
    recorded(
        read, id="other.a", url_or_work=other.url, quote=QUOTE.replace("9.397", "9.5"),
        statement="Fluorapatite has a = 9.5 Å.",
    )  # fmt: skip
    keys = [claim.citation.work for claim in draft(read).citations]
    assert keys == ["hughes1989structural", "hughes1989structuralb"]
    assert [work.key for work in draft(read).works] == keys


def test_the_full_text_of_a_work_that_a_search_found_is_cited_as_that_work(
    context: ToolContext,
) -> None:
    full_text = HUGHES.full_text[0]
    found = SourceOfWork(url=URL, sha256="", text="An abstract only.", work=HUGHES)
    keep_sources(context.root, [found, Source(url=full_text, sha256="", text=TEXT)])
    assert recorded(context, url_or_work=full_text).text.endswith("of hughes1989structural.")


def test_a_work_known_later_is_kept_with_the_text_read_before(context: ToolContext) -> None:
    keep_sources(context.root, [Source(url=URL, sha256="", text=TEXT)])
    keep_sources(context.root, [SourceOfWork(url=URL, sha256="", text=TEXT, work=HUGHES)])
    keep_sources(context.root, [Source(url=URL, sha256="", text=TEXT)])
    (kept,) = stored_sources(context.root)
    assert isinstance(kept, SourceOfWork)
    assert kept.work == HUGHES


def test_a_retracted_work_is_recorded_with_a_warning(context: ToolContext) -> None:
    work = HUGHES.model_copy(update={"status": "retracted", "status_date": "2020-02-02"})
    keep_sources(context.root, [SourceOfWork(url=URL, sha256="", text=TEXT, work=work)])
    assert "this work was retracted on 2020-02-02" in recorded(context).text


def test_before_anything_was_read_nothing_can_be_cited(context: ToolContext) -> None:
    assert "Nothing was read from outside yet" in recorded(context).text


def test_an_inference_is_recorded_without_source_and_without_numbers(read: ToolContext) -> None:
    said = {"id": "thought", "subject": "apatites"}
    result = used(record_inference, read, **said, statement="Chlorine expands the cell.")
    assert "your inference" in result.text
    assert "holds the number '9.4'" in used(
        record_inference, read, **said, statement="The cell length is 9.4 Å."
    ).text  # fmt: skip
    assert [each.statement for each in draft(read).inferences] == ["Chlorine expands the cell."]


def test_an_id_serves_one_kind_of_claim_only(read: ToolContext) -> None:
    recorded(read)
    said = {"id": "hughes.a", "subject": "apatites", "statement": "Chlorine expands the cell."}
    assert "of another kind already" in used(record_inference, read, **said).text
    used(record_inference, read, **(said | {"id": "thought"}))
    assert "of another kind already" in recorded(read, id="thought").text
    outcome = read.root / "trials" / "0001" / "outcome.json"
    outcome.parent.mkdir(parents=True)
    outcome.write_text(json.dumps({"a": {"value": 9.4, "unit": "Ao"}}))
    number = {
        "subject": "fluorapatite", "quantity": "cell length", "path": "trials/0001/outcome.json",
        "pointer": "/a/value", "unit": "Ao", "decimals": 3, "tolerance": 0.01,
    }  # fmt: skip
    assert "of another kind already" in used(record_claim, read, **number, id="thought").text
    assert "Recorded a" in used(record_claim, read, **number, id="a").text
    same = {"subject": "a", "quantity": "same", "left": "a", "operator": "le", "right": "a"}
    assert "of another kind already" in used(record_statement, read, **same, id="hughes.a").text


def test_a_report_prints_statements_with_numbered_references(read: ToolContext) -> None:
    recorded(read)
    source = "## Cell\n\n{{claim:hughes.a}}\n"
    text = used(write_report, read, title="Apatite", source=source).text
    assert "The cell length of fluorapatite is 9.397 Å" in text
    assert "J. M. Hughes (1989). Structural variations in apatites." in text
    claims = assemble(read.root, DOMAIN.questions[0], draft(read), "0" * 64)
    assert [each.id for each in claims.claims] == ["hughes.a"]
    assert json.loads((read.root / "references.json").read_text())[0]["id"] == HUGHES.key


def test_without_access_to_the_literature_no_citation_is_offered() -> None:
    names = standard_toolbox(literature_port=False).names
    assert "record_citation" not in names
    assert "record_inference" in names

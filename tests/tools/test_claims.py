import json
from typing import Any

import pytest

from sciagent.contracts.claim import ReportRequest
from sciagent.reports.assemble import assemble
from sciagent.testing.toy import DOMAIN
from sciagent.tools.approval import ApprovalRule
from sciagent.tools.claims import drop_claim, record_claim, record_statement, write_report
from sciagent.tools.context import ToolContext
from sciagent.tools.files import write_file
from sciagent.tools.report_draft import REPORT_REQUEST
from tests.tools.calls import used

CELL = {
    "id": "cell.a", "subject": "fluorapatite", "quantity": "cell length a",
    "path": "trials/0002/outcome.json", "pointer": "/metrics/a/value", "unit": "Ao",
    "decimals": 4, "tolerance": 0.001,
}  # fmt: skip
SOURCE = "## Result\n\nThe cell length is {{claim:cell.a}}, measured at `300 K`.\n"


@pytest.fixture
def measured(context: ToolContext) -> ToolContext:
    """A workspace with the results of two trials."""
    for number, a in ((1, 9.41), (2, 9.3702)):
        path = context.root / "trials" / f"{number:04d}" / "outcome.json"
        path.parent.mkdir(parents=True)
        metrics = {"a": {"value": a, "unit": "Ao"}, "name": "P63/m"}
        path.write_text(json.dumps({"metrics": metrics, "r/wp": [0.08]}))
    (context.root / "data" / "files").mkdir(parents=True)
    (context.root / "data" / "files" / "table.csv").write_text("height,unit\n1.5,um\n")
    return ToolContext(root=context.root, journal=context.journal, approval=ApprovalRule("auto"))


def draft(context: ToolContext) -> ReportRequest:
    return ReportRequest.model_validate_json((context.root / REPORT_REQUEST).read_bytes())


def recorded(context: ToolContext, **changes: Any) -> str:
    return used(record_claim, context, **(CELL | changes)).text


def test_a_claim_is_recorded_by_its_place_and_its_value_is_read(measured: ToolContext) -> None:
    assert recorded(measured) == "Recorded cell.a: fluorapatite: cell length a = 9.3702 Å."
    (claim,) = draft(measured).numbers
    assert (claim.path, claim.pointer, claim.trial) == (CELL["path"], CELL["pointer"], 2)


def test_recording_an_id_again_replaces_the_claim(measured: ToolContext) -> None:
    recorded(measured)
    recorded(measured, decimals=2, path="trials//0001/./outcome.json")
    (claim,) = draft(measured).numbers
    assert (claim.decimals, claim.path, claim.trial) == (2, "trials/0001/outcome.json", 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pointer": "/metrics/b/value"}, "Numbers stand at: /metrics/a/value, /r~1wp/0."),
        ({"pointer": "/metrics/name"}, "there is no number"),
        ({"path": "trials/0009/outcome.json"}, "cannot be opened"),
        ({"path": "../secret.txt"}, "leads out"),
        ({"path": "events.jsonl"}, "holds no results"),
        ({"path": "data/report/request.json"}, "holds no results"),
        ({"path": "sources/abc.json"}, "holds no results"),
        ({"unit": "Å"}, "Its code is 'Ao'"),
        ({"unit": "nm"}, "holds it in 'Ao'"),
        ({"unit": "angstrom"}, "There is no unit 'angstrom'"),
        ({"id": "Cell A"}, "'id' of record_claim cannot be 'Cell A'"),
        ({"tolerance": 10.0}, "larger than the value"),
        ({"tolerance": -1.0}, "greater than or equal to 0"),
        ({"quantity": "cell length a = 9.99"}, "The quantity holds the number '9.99'"),
        ({"subject": "fluorapatite 42"}, "The subject holds the number '42'"),
        ({"value": 9.99}, "There is no argument of record_claim 'value'"),
    ],
)
def test_a_claim_that_cannot_be_read_from_a_result_is_refused(
    measured: ToolContext, changes: dict[str, Any], message: str
) -> None:
    assert message in recorded(measured, **changes)
    assert not (measured.root / REPORT_REQUEST).exists()


def test_a_number_that_the_model_typed_into_a_file_cannot_be_claimed(
    measured: ToolContext,
) -> None:
    typed = '{"a": {"value": 1.0, "unit": "Ao"}}'
    used(write_file, measured, path="data/files/typed.json", text=typed)
    text = recorded(measured, path="data/files/./typed.json", pointer="/a/value")
    assert "was written by hand" in text


def test_words_and_cells_of_tables_can_be_claimed(measured: ToolContext) -> None:
    text = recorded(measured, id="group", kind="text", pointer="/metrics/name", unit="1",
                    quantity="space group")  # fmt: skip
    assert text.endswith("space group = P63/m.")
    text = recorded(measured, id="height", path="data/files/table.csv", pointer="0,height",
                    unit="um", decimals=1)  # fmt: skip
    assert text.endswith("= 1.5 µm.")


def test_a_statement_compares_claims_that_are_there(measured: ToolContext) -> None:
    recorded(measured)
    recorded(measured, id="start.a", path="trials/0001/outcome.json")
    said = {"id": "smaller", "subject": "fluorapatite", "quantity": "smaller than at the start",
            "left": "cell.a", "operator": "lt"}  # fmt: skip
    assert (
        "Did you mean 'start.a'?" in used(record_statement, measured, **said, right="strat.a").text
    )
    assert used(record_statement, measured, **said, right="start.a").label.status == "ok"
    assert "There is a statement 'smaller'" in recorded(measured, id="smaller")
    assert [each.id for each in draft(measured).statements] == ["smaller"]


def test_a_report_of_tokens_is_printed_with_the_digits_of_the_files(measured: ToolContext) -> None:
    recorded(measured)
    recorded(measured, id="start.a", path="trials/0001/outcome.json")
    result = used(write_report, measured, title="A  cell", source=SOURCE)
    assert result.label.status == "ok"
    assert "9.3702 Å" in result.text
    assert "No token prints start.a." in result.text
    assert (draft(measured).title, draft(measured).source) == ("A cell", SOURCE)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("Fine.\n\nThe cell length is 9.3702 Å.", "Line 3: the number '9.3702' is typed by hand."),
        ("It is {{claim:cell.a}} or 42.", "Line 1: the number '42'"),
        ("It is {{claim:cel.a}}.", "Did you mean 'cell.a'?"),
        ("It is {{claim:Cell A}}.", "Line 1: what begins with '{{' is not a token."),
        ("See {{claims:cell}} here.", "must stand alone on its line"),
        ("![x](http://example.org/x.png)", "an image that is not a figure token"),
        ("`{{claim:cell.a}}`", "a token stands in code"),
        ("   ", "is empty"),
    ],
)
def test_a_report_with_anything_but_tokens_for_numbers_is_refused(
    measured: ToolContext, source: str, message: str
) -> None:
    recorded(measured)
    result = used(write_report, measured, title="A cell", source=source)
    assert (result.label.status, message in result.text.replace("&#123;", "{")) == ("failed", True)
    assert draft(measured).source == ""


def test_a_refused_report_leaves_the_one_before_as_it_was(measured: ToolContext) -> None:
    recorded(measured)
    used(write_report, measured, title="A cell", source=SOURCE)
    used(write_report, measured, title="A cell", source="It is 42.")
    assert draft(measured).source == SOURCE


def test_many_faults_are_named_and_the_rest_counted(measured: ToolContext) -> None:
    source = "\n\n".join(f"It is {number}.5 eV." for number in range(14))
    text = used(write_report, measured, title="A cell", source=source).text
    assert text.count("is typed by hand") == 10
    assert "And 4 more." in text


def test_a_report_whose_evidence_is_gone_is_refused(measured: ToolContext) -> None:
    recorded(measured)
    (measured.root / str(CELL["path"])).write_text("{}")
    result = used(write_report, measured, title="A cell", source=SOURCE)
    assert "There is no 'metrics'" in result.text


def test_a_claim_can_be_dropped_again(measured: ToolContext) -> None:
    recorded(measured)
    assert "Did you mean 'cell.a'?" in used(drop_claim, measured, id="cell.b").text
    used(drop_claim, measured, id="cell.a")
    assert draft(measured).numbers == ()


def test_a_draft_that_somebody_spoiled_is_said(measured: ToolContext) -> None:
    (measured.root / REPORT_REQUEST).parent.mkdir(parents=True)
    (measured.root / REPORT_REQUEST).write_text("{")
    assert "is no draft of a report" in recorded(measured)


def test_the_draft_is_what_the_assembly_of_a_run_takes(measured: ToolContext) -> None:
    recorded(measured)
    used(write_report, measured, title="A cell", source=SOURCE)
    claims = assemble(measured.root, DOMAIN.questions[0], draft(measured), "0" * 64)
    assert [each.id for each in claims.claims] == ["cell.a"]

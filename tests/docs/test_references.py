"""The reference is what the code says, and no word that a user can meet goes unexplained."""

import re
import subprocess
import sys
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from sciagent.contracts import errors
from sciagent.contracts.claim import Claim, Finding, VerdictName
from sciagent.contracts.domain import Domain
from sciagent.contracts.events import EventBody
from sciagent.contracts.run import RunStatus
from sciagent.contracts.study import Conclusion
from sciagent.contracts.units import UNITS
from sciagent.domains.registry import domains
from sciagent.workspace import layout
from tests.cli.terminal import environment
from tests.docs.pages import DOCS, HOW_TO, ROOT

CONTRACTS = DOCS / "reference" / "contracts.md"
VERDICTS = DOCS / "explanations" / "verdicts.md"
LOOP = DOCS / "explanations" / "the-loop.md"
WORKSPACE = DOCS / "explanations" / "the-workspace.md"


def rows_of(page: Any) -> set[str]:
    """Words in code style that stand in the first cell of a row of a table."""
    first_cells = re.findall(r"^\| ([^|]+) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {word for cell in first_cells for word in re.findall(r"`([^`]+)`", cell)}


def words_of(model: type[BaseModel], field: str) -> set[str]:
    """Words that a field of a model allows."""
    return set(get_args(model.model_fields[field].annotation))


def error_kinds() -> set[str]:
    known = [each for each in vars(errors).values() if isinstance(each, type)]
    return {each.kind for each in known if issubclass(each, errors.SciagentError)}


def test_the_reference_of_contracts_is_what_the_code_says() -> None:
    script = ROOT / "scripts" / "write_contracts_reference.py"
    finished = subprocess.run(
        [sys.executable, str(script), "--check"], cwd=ROOT, env=environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (finished.returncode, finished.stderr) == (0, "")


def test_the_reference_has_a_row_for_every_event_unit_and_kind_of_error() -> None:
    events = {each.model_fields["kind"].default for each in get_args(get_args(EventBody)[0])}
    assert (events | set(UNITS) | error_kinds()) - rows_of(CONTRACTS) == set()


def test_the_reference_has_a_heading_for_every_model_that_a_file_may_hold() -> None:
    text = CONTRACTS.read_text(encoding="utf-8")
    for name in ("ClaimsFile", "Verification", "StudyFile", "Environment", "Event", "Review"):
        assert f"\n### {name}\n" in text


def test_the_explanation_of_verdicts_has_a_row_for_every_verdict() -> None:
    assert set(get_args(VerdictName)) - rows_of(VERDICTS) == set()


def test_the_explanation_of_verdicts_has_a_row_for_every_finding() -> None:
    assert words_of(Finding, "problem") - rows_of(VERDICTS) == set()


def test_the_explanation_of_verdicts_has_a_row_for_every_kind_of_claim() -> None:
    kinds = set()
    for each in get_args(get_args(Claim)[0]):
        kinds |= words_of(each, "kind")
    assert kinds - rows_of(VERDICTS) == set()


def test_the_explanation_of_the_loop_has_a_row_for_every_end_of_a_study() -> None:
    ends = words_of(Conclusion, "status")
    assert ends - rows_of(LOOP) == set()
    assert ends <= set(get_args(RunStatus))


def test_the_explanation_of_the_workspace_has_a_row_for_every_file_and_folder() -> None:
    names = {value for name, value in vars(layout).items() if name.isupper()}
    files = {value for value in names if isinstance(value, str)}
    shown = " ".join(rows_of(WORKSPACE))
    not_yet_written = {layout.SOURCES}
    inside_a_trial = {layout.OUTCOME}
    absent = {each for each in files - not_yet_written - inside_a_trial if each not in shown}
    assert absent == set()


@pytest.mark.parametrize(
    "domain", [pytest.param(each, id=each.name) for each in domains() if each.name != "toy"]
)
def test_a_page_names_every_input_and_setting_of_a_field(domain: Domain) -> None:
    for question in domain.questions:
        name = f"{domain.name}/{question.name}"
        texts = [page.read_text(encoding="utf-8") for page in HOW_TO.glob("*.md")]
        about = "\n".join(text for text in texts if name in text)
        inputs = {each.name for each in question.inputs}
        asked = inputs | set(question.settings.model_fields)
        assert {each for each in asked if f"`{each}" not in about} == set(), name

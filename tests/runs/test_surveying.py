"""Surveys by scripted models over a small library: what holds, what is refused, what is resumed."""

import json
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.claim import CitationClaim, InferenceClaim
from sciagent.contracts.errors import InputError
from sciagent.runs import ask, resume, verify
from sciagent.runs.surroundings import Surroundings
from sciagent.testing.model_server import (
    ModelServer,
    Policy,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    saying,
)
from sciagent.testing.pretended_literature import PretendedLiterature, page
from tests.runs.asking import settings

IRON, GOLD = "https://example.org/iron", "https://example.org/gold"
PAGES = [
    page(IRON, "Iron melts at 1538 °C under normal pressure. Its lattice is body-centred cubic."),
    page(GOLD, "Gold melts at 1064 °C under normal pressure. It does not rust in air."),
]
PLAN = {
    "title": "Melting of metals",
    "facets": [
        {"id": "iron", "name": "Iron", "question": "Where does iron melt?"},
        {"id": "gold", "name": "Gold", "question": "Where does gold melt?"},
    ],
    "chapters": [
        {"title": "Base metals", "facets": ["iron"]},
        {"title": "Noble metals", "facets": ["gold"]},
    ],
}
FINDINGS = {
    "iron": [("Iron", "Iron melts at 1538 °C.", IRON, "Iron melts at 1538 °C under normal")],
    "gold": [("Gold", "Gold melts at 1064 °C.", GOLD, "Gold melts at 1064 °C under normal")],
}
SUMMARY = {
    "summary": "Both were measured: {{claim:iron.1}} And then {{claim:gold.1}}",
    "conflicts": [{"findings": ["iron.1", "gold.1"], "about": "They melt at other points."}],
    "open_questions": ["Nobody asked about copper."],
}


def answer(content: Any) -> ScriptedAnswer:
    return saying(json.dumps(content))


def found(name: str, findings: dict[str, list[tuple[str, str, str, str]]]) -> ScriptedAnswer:
    keys = ("subject", "statement", "url", "quote")
    listed = [dict(zip(keys, each, strict=True)) for each in findings[name]]
    return answer({"findings": listed, "open_questions": [f"What of {name} alloys?"]})


def surveyor(
    plan: dict[str, Any] = PLAN,
    findings: dict[str, list[tuple[str, str, str, str]]] = FINDINGS,
    chapter: Policy | None = None,
    consistency: dict[str, Any] = SUMMARY,
) -> Policy:
    """Play all agents of a survey."""

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        task = next(each["content"] for each in request.messages if each["role"] == "user")
        if request.system.startswith("You plan"):
            return answer(plan)
        if request.system.startswith("You look for evidence"):
            name = "iron" if "part: Iron" in task else "gold"
            if not request.results("visit"):
                return ScriptedAnswer(
                    calls=(ScriptedCall("visit", {"url": f"https://example.org/{name}"}),)
                )
            return found(name, findings)
        if request.system.startswith("You read all findings"):
            return answer(consistency)
        if chapter is not None:
            return chapter(request)
        name = "iron" if "iron.1" in task else "gold"
        number = 1 if name == "iron" else 2
        thought = f"chapter-{number}.order"
        return answer({
            "source": f"Known: {{{{claim:{name}.1}}}} It follows: {{{{claim:{thought}}}}}",
            "inferences": [{"id": thought, "subject": name, "statement": "It is a metal."}],
        })  # fmt: skip

    return policy


def surveyed(tmp_path: Path, policy: Policy, literature: Any = None, **given: Any) -> Any:
    around = Surroundings(literature=literature or PretendedLiterature(PAGES))
    with ModelServer(policy) as server:
        return ask(
            settings(server, question="Where do metals melt?", report="deep", **given),
            surroundings=around, out=tmp_path,
        )  # fmt: skip


def test_a_survey_is_a_report_in_chapters_whose_statements_are_quoted(tmp_path: Path) -> None:
    run = surveyed(tmp_path, surveyor())
    assert run.summary.status == "completed"
    claims = run.claims.claims
    assert {each.id for each in claims if isinstance(each, CitationClaim)} == {"iron.1", "gold.1"}
    assert len([each for each in claims if isinstance(each, InferenceClaim)]) == 2
    report = (
        run.report_text if hasattr(run, "report_text") else (run.path / "report.md").read_text()
    )
    for heading in ("Base metals", "Noble metals", "Conflicts", "Coverage", "Open questions"):
        assert f"## {heading}" in report
    assert "Iron melts at 1538 °C." in report
    assert "inference" in report
    assert "Nobody asked about copper." in report
    assert "What of iron alloys?" in report
    checked = verify(run.path)
    assert checked.ok
    assert checked.quoted == 2
    references = json.loads((run.path / "references.json").read_text())
    assert {each["URL"] for each in references} == {IRON, GOLD}


@pytest.mark.parametrize(
    ("altered", "said"),
    [
        (("Iron", "Iron melts at 1583 °C.", IRON, "Iron melts at 1583 °C under normal"), "stand"),
        (("Iron", "Iron melts at 1500 °C.", IRON, "Iron melts at 1538 °C under normal"), "1500"),
        (("Zinc", "Zinc melts at 1538 °C.", IRON, "Iron melts at 1538 °C under normal"), "Zinc"),
        (("Iron", "Iron melts.", "https://example.org/x", "Iron melts at 1538 °C"), "was read"),
    ],
)
def test_a_finding_that_does_not_hold_is_sent_back_and_never_printed(
    tmp_path: Path, altered: tuple[str, str, str, str], said: str
) -> None:
    corrections: list[str] = []

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        corrections.extend(
            each["content"] for each in request.messages[2:] if each["role"] == "user"
        )
        findings = {**FINDINGS, "iron": [altered]}
        consistency = {"summary": "Only: {{claim:gold.1}}"}
        return surveyor(findings=findings, consistency=consistency)(request)

    run = surveyed(tmp_path, policy)
    assert any(said in each and "Finding 1" in each for each in corrections)
    assert [each.id for each in run.claims.claims if isinstance(each, CitationClaim)] == ["gold.1"]
    assert "No evidence was found for this chapter." in (run.path / "report.md").read_text()
    assert verify(run.path).ok


def test_without_evidence_there_is_no_report_but_an_abstention(tmp_path: Path) -> None:
    nothing: dict[str, list[tuple[str, str, str, str]]] = {"iron": [], "gold": []}
    run = surveyed(tmp_path, surveyor(findings=nothing))
    assert run.summary.status == "abstained"
    assert "No evidence was found" in (run.path / "report.md").read_text()
    assert verify(run.path).ok


def test_a_chapter_that_types_numbers_is_written_from_its_evidence_alone(tmp_path: Path) -> None:
    run = surveyed(
        tmp_path, surveyor(chapter=lambda _: answer({"source": "Iron melts at 9999 °C."}))
    )
    report = (run.path / "report.md").read_text()
    assert "9999" not in report
    assert "This chapter lists its evidence." in report
    assert verify(run.path).ok


def test_a_correction_takes_the_place_of_its_statement_everywhere(tmp_path: Path) -> None:
    better = "Under normal pressure iron melts at 1538 °C."
    wrong = {"id": "gold.1", "statement": "Gold melts at 9 °C."}

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        right = {**SUMMARY, "corrections": [{"id": "iron.1", "statement": better}]}
        if request.system.startswith("You read all findings") and len(request.messages) == 2:
            return answer({**right, "corrections": [*right["corrections"], wrong]})
        return surveyor(consistency=right)(request)

    run = surveyed(tmp_path, policy)
    statements = {
        each.id: each.statement for each in run.claims.claims if isinstance(each, CitationClaim)
    }
    assert statements == {"iron.1": better, "gold.1": "Gold melts at 1064 °C."}
    assert verify(run.path).ok


def test_an_atlas_is_a_table_of_the_same_questions_about_many_things(tmp_path: Path) -> None:
    plan = {**PLAN, "form": "atlas", "questions": [{"id": "melting", "question": "Melting point"}]}

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        given = surveyor(plan=plan)(request)
        if '"findings": [{"subject"' not in given.content:
            return given
        content = json.loads(given.content)
        content["findings"] = [{**each, "question": "melting"} for each in content["findings"]]
        return answer(content)

    run = surveyed(tmp_path, policy)
    report = (run.path / "report.md").read_text()
    assert "## Atlas" in report
    assert "| Entity | Melting point |" in report
    assert verify(run.path).ok


def test_a_survey_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    stopped: list[bool] = []

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if request.system.startswith("You read all findings"):
            stopped.append(True)
        return surveyor()(request)

    around = Surroundings(
        literature=PretendedLiterature(PAGES), cancelled=lambda: len(stopped) == 1
    )
    with ModelServer(policy) as server:
        run = ask(
            settings(server, question="Where do metals melt?", report="deep"),
            surroundings=around, out=tmp_path,
        )  # fmt: skip
        assert run.summary.status == "stopped"
        stopped.append(True)
        run = resume(run.path, surroundings=around)
    assert run.summary.status == "completed"
    spans = [event.span for event in run.events() if event.kind == "agent_started"]
    assert spans.count("main/plan") == spans.count("main/facet/iron") == 1
    assert verify(run.path).ok


def test_a_survey_needs_somebody_to_ask(tmp_path: Path) -> None:
    with ModelServer(surveyor()) as server, pytest.raises(InputError, match="no literature"):
        ask(settings(server, question="Where?", report="deep"), out=tmp_path)
    assert list(tmp_path.iterdir()) == []

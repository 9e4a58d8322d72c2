"""The report of a survey: chapters, conflicts, coverage, and what is still open."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from sciagent.agent.survey.findings import Evidence
from sciagent.agent.survey.plan import SurveyPlan
from sciagent.agent.survey.result import SurveyResult
from sciagent.contracts.claim import ClaimRequest, ReportRequest
from sciagent.reports.escaping import code, escaped
from sciagent.tools.report_draft import with_citation
from sciagent.workspace.atomic import write_atomic

COVERAGE = "data/survey/coverage.json"
"""How much was found for each facet."""

NOTHING = (
    "No evidence was found, so that there is no report. That proves no absence: see what was asked "
    "and how each source answered in the journal."
)


def survey_report(root: Path, question: str, result: SurveyResult) -> ReportRequest:
    """Make the report of a survey; it says so where there is no evidence.

    Parameters
    ----------
    root
        The workspace; `COVERAGE` is written in it.
    question
        As it was asked.
    result
        What the survey came to.
    """
    draft = ReportRequest(
        title=result.plan.title,
        source="\n\n".join(_parts(question, result)) + "\n",
        numbers=tuple(_coverage(root, result)),
        inferences=tuple(each for chapter in result.chapters for each in chapter.inferences),
    )
    for each in result.evidence:
        draft = with_citation(draft, each.claim, each.work)
    return draft


def _parts(question: str, result: SurveyResult) -> Iterator[str]:
    yield "\n".join(f"> {line}" for line in _literal(question).splitlines())
    if not result.evidence:
        yield NOTHING
    if result.consistency is not None:
        yield result.consistency.summary
    elif result.evidence:
        yield "Nobody read all findings together: there is no summary."
    for chapter in result.chapters:
        yield f"## {chapter.title}"
        yield chapter.source
    if result.plan.questions and result.evidence:
        yield "## Atlas"
        yield _atlas(result.plan, result.evidence)
    yield "## Conflicts"
    yield _listed(_conflicts(result), "Nobody found any.")
    yield "## Coverage"
    yield "What was looked into, and how much of it is evidence in this report."
    yield "{{claims:coverage.}}"
    yield from _skipped(result)
    yield "## Open questions"
    yield _listed(_open_questions(result), "None were named.")


def _skipped(result: SurveyResult) -> Iterator[str]:
    names = {facet.id: facet.name for facet in result.plan.facets}
    if result.skipped:
        listed = ", ".join(names[each] for each in result.skipped)
        yield f"Not looked into, because the budget was used up: {_literal(listed)}."


def _conflicts(result: SurveyResult) -> Iterator[str]:
    if result.consistency is not None:
        for conflict in result.consistency.conflicts:
            shown = "; ".join(f"{{{{claim:{name}}}}}" for name in conflict.findings)
            yield f"{conflict.about} {shown}"
    for lines in result.conflicts.values():
        yield from lines


def _open_questions(result: SurveyResult) -> Iterator[str]:
    if result.consistency is not None:
        yield from result.consistency.open_questions
    for lines in result.open_questions.values():
        yield from lines


def _listed(lines: Iterator[str], otherwise: str) -> str:
    """A list without repetitions."""
    items = list(dict.fromkeys(lines))
    return "\n".join(f"- {each}" for each in items) if items else otherwise


def _atlas(plan: SurveyPlan, evidence: Sequence[Evidence]) -> str:
    """A row for each entity, a column for each question."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in evidence:
        found.setdefault((each.facet, each.question), []).append(each.claim.id)
    heads = ["Entity", *(_literal(each.question) for each in plan.questions)]
    rows = [heads, ["---"] * len(heads)]
    for facet in plan.facets:
        cells = [found.get((facet.id, each.id), []) for each in plan.questions]
        shown = ["; ".join(f"{{{{claim:{name}}}}}" for name in names) for names in cells]
        rows.append([_literal(facet.name), *(each or "not found" for each in shown)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _coverage(root: Path, result: SurveyResult) -> Iterator[ClaimRequest]:
    counted = {}
    for facet in result.plan.facets:
        own = [each for each in result.evidence if each.facet == facet.id]
        works = {each.work.key for each in own}
        counted[facet.id] = {"findings": len(own), "works": len(works)}
    write_atomic(root / COVERAGE, json.dumps(counted, indent=1) + "\n")
    for facet in result.plan.facets:
        for quantity in ("findings", "works"):
            yield ClaimRequest(
                id=f"coverage.{facet.id}.{quantity}", subject=facet.name, quantity=quantity,
                path=COVERAGE, pointer=f"/{facet.id}/{quantity}", unit="{count}", decimals=0,
                tolerance=0.0, kind="record",
            )  # fmt: skip


def _literal(text: str) -> str:
    """Words of people and models in one line, where a number in them is no claim."""
    return code(text) if any(each.isdigit() for each in text) else escaped(text)

"""What the agents of a survey are told."""

import json
from collections.abc import Sequence

from sciagent.agent.survey.findings import Evidence
from sciagent.agent.survey.plan import Chapter, Facet, SurveyPlan


def facet_task(plan: SurveyPlan, facet: Facet, question: str) -> str:
    """All that is told to who looks into a facet."""
    parts = [f"# The survey\n\n{plan.title}\n\n{question}", f"# Your part: {facet.name}"]
    parts.append(facet.question)
    if plan.questions:
        asked = "\n".join(f"- `{each.id}`: {each.question}" for each in plan.questions)
        parts.append(f"Answer each of these for it, and give the id as `question`:\n\n{asked}")
    return "\n\n".join(parts)


def chapter_task(chapter: Chapter, plan: SurveyPlan, evidence: str, prefix: str) -> str:
    """All that is told to who writes a chapter; `prefix` begins the ids of its inferences."""
    others = ", ".join(each.title for each in plan.chapters if each is not chapter) or "none"
    return (
        f"# The chapter\n\n{chapter.title}\n\n{chapter.brief}\n\nOther chapters: {others}\n\n"
        f"Ids of your inferences begin with `{prefix}`.\n\n# Evidence\n\n{evidence}"
    )


def listed(evidence: Sequence[Evidence]) -> str:
    """Evidence as a model reads it, a line of JSON for each piece."""
    return "\n".join(
        json.dumps({
            "id": each.claim.id, "subject": each.claim.subject, "statement": each.claim.statement,
            "quote": each.claim.citation.quote.text, "work": each.work.title,
            "year": each.work.year, "status": each.work.status,
        }, ensure_ascii=False)
        for each in evidence
    )  # fmt: skip

"""What a survey came to."""

from dataclasses import dataclass

from sciagent.agent.survey.consistency import ConsistencyAnswer
from sciagent.agent.survey.findings import Evidence
from sciagent.agent.survey.plan import SurveyPlan
from sciagent.contracts.claim import InferenceClaim


@dataclass(frozen=True, slots=True)
class WrittenChapter:
    """A chapter of the report.

    Attributes
    ----------
    title, source
        Its heading, and Markdown with tokens.
    inferences
        Statements of its writer without evidence.
    """

    title: str
    source: str
    inferences: tuple[InferenceClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class SurveyResult:
    """What a survey came to.

    Attributes
    ----------
    plan, evidence, chapters
        What was looked for, what holds, and what was written from it.
    consistency
        Summary, conflicts and open questions of the last reader; none if there was none.
    conflicts, open_questions
        As those who looked for evidence named them, by facet.
    skipped
        Facets that the budget did not allow to look into.
    """

    plan: SurveyPlan
    evidence: tuple[Evidence, ...]
    chapters: tuple[WrittenChapter, ...]
    consistency: ConsistencyAnswer | None
    conflicts: dict[str, tuple[str, ...]]
    open_questions: dict[str, tuple[str, ...]]
    skipped: tuple[str, ...] = ()

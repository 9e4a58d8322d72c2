"""The plan of a survey: what is looked for, and which chapters it becomes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from pydantic import Field

from sciagent.agent.survey.reading import read_answer
from sciagent.contracts.model import Contract

MOST_FACETS = 100
MOST_CHAPTERS = 20
_RESERVED = ("coverage", "chapter-")
"""How identifiers of other claims of the report begin."""
_MARKUP = re.compile(r"[{}<>`\n]")

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9\-]{0,39}$")]
Line = Annotated[str, Field(min_length=1, max_length=300)]


class Facet(Contract):
    """A part of the question that one subagent looks into; of an atlas, one entity."""

    id: Identifier
    name: Line
    question: str = Field(min_length=1)


class Chapter(Contract):
    """A chapter and the facets whose evidence it is written from."""

    title: Line
    facets: tuple[str, ...] = Field(min_length=1)
    brief: str = ""


class AtlasQuestion(Contract):
    """A question that an atlas asks of each entity."""

    id: Identifier
    question: Line


class SurveyPlan(Contract):
    """What a survey looks for.

    A `review` has facets and chapters. An `atlas` asks the same questions of many entities: its
    facets are the entities, and its findings become a table.
    """

    title: Line
    form: Literal["review", "atlas"] = "review"
    facets: tuple[Facet, ...] = Field(min_length=1, max_length=MOST_FACETS)
    chapters: tuple[Chapter, ...] = Field(min_length=1, max_length=MOST_CHAPTERS)
    questions: tuple[AtlasQuestion, ...] = ()


def read_plan(text: str) -> SurveyPlan | str:
    """Read a plan from a model's answer, or say what is wrong with it."""
    plan = read_answer(SurveyPlan, text)
    if isinstance(plan, str):
        return plan
    return " ".join(_faults(plan)) or plan


def _faults(plan: SurveyPlan) -> Iterator[str]:
    yield from _faults_of_names(plan)
    for line in (plan.title, *(each.title for each in plan.chapters)):
        if _MARKUP.search(line):
            yield f"The title {line!r} holds markup; write plain words."
    known = [facet.id for facet in plan.facets]
    used = {name for chapter in plan.chapters for name in chapter.facets}
    for name in sorted(used - set(known)):
        yield f"A chapter names the facet {name!r}, which is not in the plan."
    for name in known:
        if name not in used:
            yield f"No chapter is written from the facet {name!r}."
    if (plan.form == "atlas") != bool(plan.questions):
        yield "An atlas, and only an atlas, has `questions` that are asked of each facet."


def _faults_of_names(plan: SurveyPlan) -> Iterator[str]:
    known = [facet.id for facet in plan.facets]
    for name in known:
        if name.startswith(_RESERVED):
            yield f"A facet cannot have the id {name!r}."
    kinds = {
        "facets have the id": known,
        "chapters are titled": [chapter.title for chapter in plan.chapters],
        "questions have the id": [each.id for each in plan.questions],
    }
    for words, names in kinds.items():
        for name in _repeated(names):
            yield f"Two {words} {name!r}."


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]

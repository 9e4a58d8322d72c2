"""Carries a survey out: plan, evidence, chapters, consistency; each step an agent of its own.

All that is known stands in the journal, so that a survey goes on where it was cut off: an agent
that came to its end is not asked again.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from sciagent.agent.survey.chapters import (
    ChapterAnswer,
    fault_of_chapter,
    inference_claims,
)
from sciagent.agent.survey.consistency import (
    ConsistencyAnswer,
    corrected,
    fault_of_consistency,
)
from sciagent.agent.survey.findings import Evidence, FacetAnswer, FindingJudge, related
from sciagent.agent.survey.plan import Chapter, Facet, SurveyPlan, read_plan
from sciagent.agent.survey.reading import read_answer
from sciagent.agent.survey.result import SurveyResult, WrittenChapter
from sciagent.agent.survey.tasks import chapter_task, facet_task, listed
from sciagent.agent.team import MAIN, Team
from sciagent.contracts.agent import AgentBudget, AgentOutcome
from sciagent.contracts.conversation import Usage
from sciagent.contracts.errors import EndpointError
from sciagent.study.loop import StudyStopped
from sciagent.tools.boundary import Label
from sciagent.tools.report_draft import source_faults

Item = TypeVar("Item")
Made = TypeVar("Made")

RETRIEVAL = (
    "search", "scholar", "visit", "outline", "read_pages", "find_in_document", "take_note",
    "read_notes",
)  # fmt: skip
"""Tools of those who plan and look for evidence; who writes has none."""


@dataclass(slots=True)
class Survey:
    """A survey by the agents of one run.

    Attributes
    ----------
    team
        Its model, tools and journal.
    judge
        Looks findings up in what was read.
    """

    team: Team
    judge: FindingJudge
    _skipped: list[str] = field(default_factory=list)

    def carry_out(self, question: str) -> SurveyResult:
        """Answer a question by a survey, or go on with one where the journal stands.

        Parameters
        ----------
        question
            In words.

        Raises
        ------
        StudyStopped
            If it was asked to stop.
        EndpointError
            If the endpoint failed; the survey can be gone on with.
        """
        plan = self._plan(question)
        answers = self._found(plan, question)
        evidence = self._evidence(plan, answers)
        if not evidence:
            return self._result(plan, (), (), None, answers)
        consistency = self._consistency(question, evidence)
        if consistency is not None:
            statements = {each.id: each.statement for each in consistency.corrections}
            evidence = [corrected(each, statements) for each in evidence]
        chapters = self._chapters(plan, evidence)
        return self._result(plan, evidence, chapters, consistency, answers)

    def _plan(self, question: str) -> SurveyPlan:
        outcome = self._work(
            "plan", question, "survey_plan", RETRIEVAL,
            lambda text: plan if isinstance(plan := read_plan(text), str) else "",
        )  # fmt: skip
        plan = read_plan(outcome.answer)
        if not isinstance(plan, str):
            return plan
        facet = Facet(id="question", name="The question", question=question)
        chapter = Chapter(title="What was found", facets=(facet.id,))
        return SurveyPlan(title=question[:300], facets=(facet,), chapters=(chapter,))

    def _found(self, plan: SurveyPlan, question: str) -> dict[str, FacetAnswer]:
        """Look into all facets, several at a time; those that the budget forbids are skipped."""

        def look(facet: Facet) -> FacetAnswer | None:
            if self._is_spent():
                return None
            task = facet_task(plan, facet, question)
            outcome = self._work(f"facet/{facet.id}", task, "survey_facet", RETRIEVAL, self._fault)
            answer = read_answer(FacetAnswer, outcome.answer)
            return FacetAnswer() if isinstance(answer, str) else answer

        found = dict(zip(plan.facets, self._side_by_side(look, plan.facets), strict=True))
        self._skipped = [facet.id for facet, answer in found.items() if answer is None]
        return {facet.id: answer or FacetAnswer() for facet, answer in found.items()}

    def _fault(self, text: str) -> str:
        fault = self.judge.fault_of_answer(text)
        answer = read_answer(FacetAnswer, text)
        if fault or isinstance(answer, str):
            return fault
        typed = [source_faults(each) for each in (*answer.conflicts, *answer.open_questions)]
        return " ".join(fault for faults in typed for fault in faults)

    def _evidence(self, plan: SurveyPlan, answers: dict[str, FacetAnswer]) -> list[Evidence]:
        return related([
            each
            for facet in plan.facets
            for each in self.judge.evidence(facet.id, facet.name, answers[facet.id].findings)
        ])  # fmt: skip

    def _consistency(self, question: str, evidence: Sequence[Evidence]) -> ConsistencyAnswer | None:
        known = {each.claim.id: each for each in evidence}
        task = f"# Question\n\n{question}\n\n# Findings\n\n{self._fenced(evidence)}"
        outcome = self._work(
            "consistency", task, "survey_consistency", (),
            lambda text: fault_of_consistency(text, known),
        )  # fmt: skip
        answer = read_answer(ConsistencyAnswer, outcome.answer)
        if isinstance(answer, str) or fault_of_consistency(outcome.answer, known):
            return None
        return answer

    def _chapters(
        self, plan: SurveyPlan, evidence: Sequence[Evidence]
    ) -> tuple[WrittenChapter, ...]:
        taken = {each.claim.id for each in evidence}

        def write(number_and_chapter: tuple[int, Chapter]) -> WrittenChapter:
            number, chapter = number_and_chapter
            own = [each for each in evidence if each.facet in chapter.facets]
            return self._chapter(number, chapter, plan, own, taken)

        return tuple(self._side_by_side(write, list(enumerate(plan.chapters, 1))))

    def _chapter(
        self,
        number: int,
        chapter: Chapter,
        plan: SurveyPlan,
        evidence: Sequence[Evidence],
        taken: set[str],
    ) -> WrittenChapter:
        if not evidence:
            return WrittenChapter(chapter.title, "No evidence was found for this chapter.")
        names, prefix = [each.claim.id for each in evidence], f"chapter-{number}."

        def fault(text: str) -> str:
            answer = read_answer(ChapterAnswer, text)
            if isinstance(answer, ChapterAnswer):
                for each in answer.inferences:
                    if not each.id.startswith(prefix):
                        return f"The inference id {each.id!r} must begin with {prefix!r}."
            return fault_of_chapter(text, names, taken)

        task = chapter_task(chapter, plan, self._fenced(evidence), prefix)
        outcome = self._work(f"chapter/{number}", task, "survey_chapter", (), fault)
        answer = read_answer(ChapterAnswer, outcome.answer)
        if isinstance(answer, str) or fault(outcome.answer):
            listed = "\n".join(f"- {{{{claim:{name}}}}}" for name in names)
            return WrittenChapter(chapter.title, f"This chapter lists its evidence.\n\n{listed}")
        inferences = tuple(inference_claims(answer, chapter.title))
        return WrittenChapter(chapter.title, answer.source, inferences)

    def _work(
        self, span: str, task: str, prompt: str, tools: Sequence[str], fault: Callable[[str], str]
    ) -> AgentOutcome:
        """Let an agent do one step, or read what it did before."""
        toolbox = self.team.toolbox
        budget = AgentBudget(turns=self.team.settings.subagent_max_turns)
        settings = self.team.settings.model_copy(update={"budget": budget, "subagents": False})
        record = self.team.record(f"{MAIN}/{span}", parent=MAIN)
        agent = self.team.agent(
            record, toolbox.only([name for name in tools if name in toolbox.names]), settings
        )
        agent.accepts = fault
        outcome = agent.run(task, agent.calls.instructions(prompt))
        if outcome.status == "stopped":
            raise StudyStopped
        if outcome.status == "failed" and agent.conversation.answer is None:
            raise EndpointError(outcome.reason, "Resume the run when the endpoint answers.")
        return outcome

    def _fenced(self, evidence: Sequence[Evidence]) -> str:
        """Evidence as a model may be shown it: its quotes are text from outside."""
        label = Label(tool="evidence", origin="outside", fetched=True)
        return self.team.context.boundary.fenced(listed(evidence), label)

    def _side_by_side(self, work: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
        with ThreadPoolExecutor(self.team.settings.max_tasks_per_spawn) as pool:
            yield from list(pool.map(work, items))

    def _is_spent(self) -> bool:
        budget, usage = self.team.settings.budget, Usage()
        for span in self.team.spans(MAIN):
            conversation = self.team.known(span)
            usage += conversation.usage if conversation is not None else Usage()
        tokens = usage.prompt_tokens + usage.completion_tokens
        return budget.tokens is not None and tokens >= budget.tokens

    def _result(
        self,
        plan: SurveyPlan,
        evidence: Sequence[Evidence],
        chapters: tuple[WrittenChapter, ...],
        consistency: ConsistencyAnswer | None,
        answers: dict[str, FacetAnswer],
    ) -> SurveyResult:
        return SurveyResult(
            plan, tuple(evidence), chapters, consistency,
            {name: _writable(each.conflicts) for name, each in answers.items()},
            {name: _writable(each.open_questions) for name, each in answers.items()},
            tuple(self._skipped),
        )  # fmt: skip


def _writable(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines that may stand in a report: a number typed into one is no claim."""
    return tuple(
        " ".join(line.split()) for line in lines if line.strip() and not source_faults(line)
    )

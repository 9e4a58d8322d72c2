"""Surveys as runs: agents look for evidence and write chapters, the harness checks every quote."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sciagent.agent.survey.findings import FindingJudge
from sciagent.agent.survey.result import SurveyResult
from sciagent.agent.survey.survey import Survey
from sciagent.agent.team import MAIN, Team
from sciagent.contracts.agent import AgentBudget, AgentOutcome
from sciagent.contracts.conversation import Usage
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.errors import EndpointError, InputError
from sciagent.contracts.events import AgentEnded, AgentStarted, ModelAnswered, OwnerStopped
from sciagent.contracts.literature import Source, Work
from sciagent.contracts.run import RunStatus
from sciagent.runs.agents import AgentGround
from sciagent.runs.answering import asked_question
from sciagent.runs.environment import describe_environment
from sciagent.runs.finishing import publish, write_environment
from sciagent.runs.ownership import Owned
from sciagent.runs.retrieval import no_literature
from sciagent.runs.survey_report import NOTHING, survey_report
from sciagent.tools.citable import CitableTexts
from sciagent.tools.standard import standard_toolbox
from sciagent.workspace.journal import read_events
from sciagent.workspace.seal import is_sealed

SURVEY = asked_question("survey", "A survey of the literature", "Written by agents from quotes.")
"""How a survey is described where a study's run names its question."""


@dataclass(slots=True)
class KeptTexts:
    """The texts that a run read, by their address, each with its work."""

    texts: CitableTexts
    _works: dict[str, Work] = field(default_factory=dict)

    def of(self, url: str) -> Sequence[Source]:
        """Return the texts that were fetched from an address."""
        try:
            found = self.texts.of(url)
        except InputError:
            return ()
        self._works |= {each.source.sha256: each.work for each in found}
        return [each.source for each in found]

    def work_of(self, source: Source) -> Work:
        """Return the work of a text that was given before."""
        return self._works[source.sha256]


def survey(ground: AgentGround, question: str) -> SurveyResult:
    """Let the agents of a run survey the literature, or go on where they were cut off.

    Raises
    ------
    InputError
        If there is nothing that could be searched.
    StudyStopped
        If it was asked to stop.
    EndpointError
        If the endpoint failed; the run is resumable.
    """
    around = ground.surroundings
    with ground.model() as model, ground.literature() as literature:
        if literature is None:
            raise no_literature()
        toolbox = standard_toolbox(code_port=False, studies_port=False)
        context = ground.context(ground.stop_waits, literature=literature)
        team = Team(model, toolbox, context, ground.settings, ground.inbox, around.heard)
        root = ground.mine.layout.root
        texts = KeptTexts(CitableTexts(root))
        judge = FindingJudge(texts.of, texts.work_of)
        try:
            return Survey(team, judge).carry_out(question)
        except EndpointError as error:
            ground.mine.journal.append(OwnerStopped(reason=error.message))
            remedy = f"Then go on with: sciagent resume {root}"
            raise EndpointError(error.message, remedy) from error


def publish_survey(mine: Owned, question: str, endpoint: Endpoint, result: SurveyResult) -> None:
    """Write the report of a survey, verify it, and seal the run."""
    if is_sealed(mine.layout.root):
        return
    status: RunStatus = "completed" if result.evidence else "abstained"
    if result.skipped:
        status = "limit"
    _tell_end(mine, question, result)
    environment = describe_environment(mine.request, [], endpoint, None)
    write_environment(mine.layout, environment)
    wanted = survey_report(mine.layout.root, question, result)
    publish(mine.layout, SURVEY, wanted, environment, mine.journal, status)


def _tell_end(mine: Owned, question: str, result: SurveyResult) -> None:
    """Journal what the survey came to as the answer of its main agent, which only directs."""
    usage, turns = Usage(), 0
    for event in read_events(mine.layout.journal):
        if isinstance(event.body, AgentEnded) and event.span == MAIN:
            return
        if isinstance(event.body, ModelAnswered):
            usage, turns = usage + event.body.usage, turns + 1
    works = {each.work.key for each in result.evidence}
    answer = f"{len(result.evidence)} findings from {len(works)} works." if works else NOTHING
    started = AgentStarted(task=question, tools=(), budget=AgentBudget(), verification=False)
    outcome = AgentOutcome(status="completed", answer=answer, usage=usage, turns=turns)
    mine.journal.append_many([started, AgentEnded(outcome=outcome)], span=MAIN)

"""Puts a question to an agent and leaves a workspace with a verified report, like any study."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import Field

from sciagent.agent.team import MAIN, Team
from sciagent.contracts.agent import AgentOutcome
from sciagent.contracts.conversation import Usage
from sciagent.contracts.errors import EndpointError, InputError
from sciagent.contracts.events import (
    AgentEnded,
    MessageAdded,
    ModelAnswered,
    Noted,
    OwnerStopped,
)
from sciagent.contracts.run import AskResult, RunRequest
from sciagent.runs.agents import AgentGround, require_usable
from sciagent.runs.answering import publish_answer
from sciagent.runs.configuration import Asked, Configuration, with_asked
from sciagent.runs.given import Files, listed_files
from sciagent.runs.opened import Run, open_run
from sciagent.runs.ownership import owned, tell_beginning
from sciagent.runs.retrieval import require_literature
from sciagent.runs.studies import RunStudies
from sciagent.runs.surroundings import Surroundings, redactor_for
from sciagent.study.loop import StudyStopped
from sciagent.tools.standard import standard_toolbox
from sciagent.workspace.folders import copied_folders, copy_folder, require_folder
from sciagent.workspace.inbox import send_command
from sciagent.workspace.journal import read_events
from sciagent.workspace.layout import Layout
from sciagent.workspace.seal import is_sealed
from sciagent.workspace.workspace import create_workspace, open_workspace, read_request

ASK = "agent/ask"
"""What stands in place of ``domain/question`` in a run that an agent answers."""

_SLUG_LENGTH = 40


class AskSettings(Configuration):
    """What is asked of an agent and how it may work: all that a resumed run needs."""

    question: str = Field(min_length=1)
    report: Literal["answer", "deep"] = Field(
        default="answer", description="deep: a survey of the literature in chapters."
    )

    @property
    def configuration(self) -> Configuration:
        """All but the question and what is made of it."""
        return Configuration.model_validate(self.model_dump(exclude={"question", "report"}))


def ask(
    settings: AskSettings,
    *,
    inputs: Files | None = None,
    surroundings: Surroundings | None = None,
    out: str | Path = "artifacts",
    seed: int = 0,
) -> Run:
    """Let an agent answer a question.

    Parameters
    ----------
    settings
        The question, the endpoint, and how the agent may work.
    inputs
        Files for the agent, by a name for each; they are copied into `data/`.
    surroundings
        Ports, and who is asked and told.
    out
        Folder in which the workspace is made.
    seed
        Of the studies that the agent runs.

    Returns
    -------
    Run
        The run; not sealed if it was stopped, and then resumable.

    Raises
    ------
    InputError
        If a setting or a file cannot be used; no workspace is made then.
    EndpointError
        If the endpoint cannot be used; the run is resumable.
    """
    around = surroundings or Surroundings()
    question = redactor_for(settings.endpoint).text(settings.question.strip())
    if not question:
        raise InputError("There is no question.", 'Ask one: sciagent ask "QUESTION".')
    settings = settings.model_copy(update={"question": question})
    require_usable(settings.endpoint)
    _require_paths(around, Path(out))
    if settings.report == "deep" and around.literature is None:
        require_literature(settings.literature, local_only=settings.local_only)
    request = RunRequest(
        question=ASK, settings=settings.model_dump(mode="json"), policy="model", seed=seed
    )
    layout = create_workspace(
        Path(out), request, listed_files(inputs or {}), slug=question[:_SLUG_LENGTH]
    )
    tell_beginning(layout, around.observer)
    return _answered(layout, settings, around)


def _require_paths(around: Surroundings, out: Path) -> None:
    for folder in around.folders:
        require_folder(folder, out)
    names = [folder.resolve().name for folder in around.folders]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"Two folders are named {twice[0]}, and so their copies would be.",
            "Rename one, or give the folder that holds both.",
        )
    for path in around.readable:
        if not path.exists():
            raise InputError(f"There is no {path}.", "Give a folder or file that exists.")


def resume_ask(
    path: str | Path,
    surroundings: Surroundings | None = None,
    *,
    asked: Asked | None = None,
) -> Run:
    """Go on with a run that an agent answers.

    Parameters
    ----------
    path
        Folder of the run.
    surroundings
        Ports, and who is asked and told.
    asked
        Settings that hold from now on, by their dotted names, such as an endpoint that moved.
    """
    layout = open_workspace(Path(path))
    if is_sealed(layout.root):
        return open_run(layout.root)
    settings = AskSettings.model_validate(read_request(layout).settings)
    changed = with_asked(settings.configuration, asked or {})
    fields = {name: getattr(changed, name) for name in Configuration.model_fields}
    return _answered(layout, settings.model_copy(update=fields), surroundings or Surroundings())


def is_ask(request: RunRequest) -> bool:
    """Whether an agent answers a run."""
    return request.question == ASK


def _answered(layout: Layout, settings: AskSettings, surroundings: Surroundings) -> Run:
    request = read_request(layout)
    with owned(layout, request, surroundings.observer) as mine:
        ground = AgentGround(mine, settings, surroundings)
        with ground.confined():
            if settings.endpoint != AskSettings.model_validate(request.settings).endpoint:
                place = f"{settings.endpoint.base_url}, model {settings.endpoint.model}"
                mine.journal.append(Noted(text=f"The endpoint is now {place}."))
            _copy_folders(ground)
            if settings.report == "deep":
                from sciagent.runs.surveying import publish_survey, survey

                result = survey(ground, settings.question)
                publish_survey(mine, settings.question, settings.endpoint, result)
            else:
                outcome = _outcome(ground, settings.question)
                publish_answer(mine, settings.question, settings.endpoint, outcome)
    return open_run(layout.root)


def _outcome(ground: AgentGround, question: str) -> AgentOutcome:
    """Let the agent work to its end.

    Raises
    ------
    StudyStopped
        If it was asked to stop.
    EndpointError
        If the endpoint failed, so that there is no answer.
    """
    outcome, has_answered = _work(ground, question)
    if outcome.status == "stopped":
        raise StudyStopped
    if outcome.status == "failed" and not has_answered:
        ground.mine.journal.append(OwnerStopped(reason=outcome.reason))
        remedy = f"Then go on with: sciagent resume {ground.mine.layout.root}"
        raise EndpointError(outcome.reason, remedy)
    return outcome


def _work(ground: AgentGround, question: str) -> tuple[AgentOutcome, bool]:
    """Let the agent work; also say whether its last message is an answer, usable or not."""
    late = _after(ground.settings.budget.wall_s, ground.mine.wall_used_s)
    redactor = redactor_for(ground.configuration.endpoint)
    studies = RunStudies(ground.mine, lambda: ground.stop_waits() or late(), redactor)
    around = ground.surroundings
    with ground.model() as model, ground.code(MAIN) as code, ground.literature() as literature:
        toolbox = standard_toolbox(
            literature_port=literature is not None, code_port=code is not None
        )
        context = ground.context(around.cancelled, studies, code, literature)
        team = Team(model, toolbox, context, ground.settings, ground.inbox, around.heard)
        try:
            outcome = team.ask(_task(question, ground))
        finally:
            studies.close()
    conversation = team.known(MAIN)
    return outcome, conversation is not None and conversation.answer is not None


def _after(limit_s: float | None, used_s: float) -> Callable[[], bool]:
    """Make what says whether a run has worked for as long as it may."""
    started = time.monotonic()
    return lambda: limit_s is not None and used_s + time.monotonic() - started >= limit_s


def _copy_folders(ground: AgentGround) -> None:
    """Copy the user's folders that code may change, once."""
    mine = ground.mine
    events = tuple(read_events(mine.layout.journal))
    known = {each.source for each in copied_folders(events)}
    new = [each for each in ground.surroundings.folders if str(each.resolve()) not in known]
    copied = []
    for folder in new:
        copied.append(copy_folder(mine.layout, folder))
        mine.journal.append(copied[-1])
    if copied and any(isinstance(event.body, MessageAdded) for event in events):
        # The question, which names the folders of the beginning, has been put already.
        paths = ", ".join(each.path for each in copied)
        text = f"You may now change these folders too (copies of the user's): {paths}"
        send_command(mine.layout, "steer", {"text": text})


def _task(question: str, ground: AgentGround) -> str:
    mine = ground.mine
    files = [each.path for artifacts in mine.request.inputs.values() for each in artifacts]
    folders = [each.path for each in copied_folders(read_events(mine.layout.journal))]
    readable = [str(each) for each in ground.surroundings.readable]
    told = (
        ("Files in the workspace", files),
        ("Folders that code may change (copies of the user's)", folders),
        ("Code may read besides", readable),
    )
    lines = [f"{what}: {', '.join(names)}" for what, names in told if names]
    return "\n".join([question, "", *lines]) if lines else question


def ask_result(run: Run) -> AskResult:
    """Say what a question to an agent came to, finished or not.

    The usage is that of all agents; what was not answered to the end counts too.
    """
    usage, turns, answer = Usage(), 0, ""
    for event in run.events():
        if isinstance(event.body, ModelAnswered):
            usage += event.body.usage
            turns += event.span == MAIN and event.body.finish != "interrupted"
        elif isinstance(event.body, AgentEnded) and event.span == MAIN:
            answer = event.body.outcome.answer
    return AskResult(
        run=str(run.path), status=run.summary.status, answer=answer,
        claims=len(run.claims.claims) if run.claims else 0, usage=usage, turns=turns,
        trials=run.summary.trials,
    )  # fmt: skip

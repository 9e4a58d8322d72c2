"""Puts a question to an agent and leaves a workspace with a verified report, like any study."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from sciagent.agent.settings import AgentSettings
from sciagent.agent.team import Team
from sciagent.contracts.agent import AgentOutcome
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.errors import EndpointError, InputError
from sciagent.contracts.events import Noted, OwnerStopped
from sciagent.contracts.model import Contract
from sciagent.contracts.ports import CodeRunner, Literature, Model, Observer
from sciagent.contracts.run import RunRequest
from sciagent.execution.network import only_endpoint
from sciagent.llm.client import EndpointModel
from sciagent.runs.answering import publish_answer
from sciagent.runs.opened import Run, open_run
from sciagent.runs.ownership import Owned, owned
from sciagent.runs.studies import RunStudies
from sciagent.study.loop import StudyStopped
from sciagent.tools.approval import ApprovalMode, ApprovalRule, AskApproval
from sciagent.tools.context import ToolContext
from sciagent.tools.inbox_approval import InboxApproval
from sciagent.tools.secrets import RedactingJournal, Redactor
from sciagent.tools.standard import standard_toolbox
from sciagent.workspace.inbox import InboxFolder
from sciagent.workspace.layout import Layout
from sciagent.workspace.seal import is_sealed
from sciagent.workspace.workspace import create_workspace, open_workspace, read_request

ASK = "agent/ask"
"""What stands in place of ``domain/question`` in a run that an agent answers."""

Heard = Callable[[str, str], None]


class AskSettings(Contract):
    """What is asked of an agent and how it may work: all that a resumed run needs."""

    question: str = Field(min_length=1)
    endpoint: Endpoint = Endpoint()
    agent: AgentSettings = AgentSettings()
    approval: ApprovalMode = "ask"
    local_only: bool = Field(
        default=False, description="Refuse every connection but the one to the endpoint."
    )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an agent finds around it; nothing of it is kept in files.

    Attributes
    ----------
    model
        Answers in place of the endpoint.
    literature, code
        Ports; tools that need an absent one are not offered.
    ask_approval
        Asks a person; without it, answers are waited for in the inbox.
    heard, observer
        Told each piece of an answer, and each event.
    """

    model: Model | None = None
    literature: Literature | None = None
    code: CodeRunner | None = None
    ask_approval: AskApproval | None = None
    heard: Heard | None = None
    observer: Observer | None = None


def ask(
    settings: AskSettings,
    *,
    inputs: Mapping[str, Path] | None = None,
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
        If a file cannot be used; no workspace is made then.
    EndpointError
        If the endpoint cannot be used; the run is resumable.
    """
    if not settings.question.strip():
        raise InputError("There is no question.", 'Ask one: sciagent ask "QUESTION".')
    files = {name: (Path(path),) for name, path in (inputs or {}).items()}
    request = RunRequest(
        question=ASK, settings=settings.model_dump(mode="json"), policy="model", seed=seed
    )
    layout = create_workspace(Path(out), request, files, slug=settings.question[:40])
    return _answered(layout, surroundings or Surroundings())


def resume_ask(path: str | Path, surroundings: Surroundings | None = None) -> Run:
    """Go on with a run that an agent answers."""
    layout = open_workspace(Path(path))
    if is_sealed(layout.root):
        return open_run(layout.root)
    return _answered(layout, surroundings or Surroundings())


def _answered(layout: Layout, surroundings: Surroundings) -> Run:
    request = read_request(layout)
    settings = AskSettings.model_validate(request.settings)
    with owned(layout, request, surroundings.observer) as mine:
        with only_endpoint(_only(settings), lambda target: _note_refused(mine, target)):
            outcome = _work(mine, settings, surroundings)
        if outcome.status == "stopped":
            raise StudyStopped
        if outcome.status == "failed" and not outcome.turns:
            mine.journal.append(OwnerStopped(reason=outcome.reason))
            raise EndpointError(outcome.reason, f"Mend it, then `sciagent resume {layout.root}`.")
        publish_answer(mine, settings.question, settings.endpoint, outcome)
    return open_run(layout.root)


def _work(mine: Owned, settings: AskSettings, surroundings: Surroundings) -> AgentOutcome:
    inbox = InboxFolder(mine.layout.inbox)
    redactor = _redactor(settings.endpoint)
    journal = RedactingJournal(mine.journal, redactor)
    # The agent takes the command out of the inbox; its studies only look.
    stop_waits = lambda: any(each.command == "stop" for each in inbox.take())  # noqa: E731
    studies = RunStudies(mine, stop_waits)
    context = ToolContext(
        root=mine.layout.root,
        journal=journal,
        literature=surroundings.literature,
        code=surroundings.code,
        studies=studies,
        ask_approval=surroundings.ask_approval or InboxApproval(inbox, mine.journal, stop_waits),
        approval=ApprovalRule(settings.approval),
        redactor=redactor,
        takes_images=settings.endpoint.images,
    )
    toolbox = standard_toolbox(
        literature_port=surroundings.literature is not None,
        code_port=surroundings.code is not None,
    )
    model = surroundings.model or EndpointModel(settings.endpoint, root=mine.layout.root)
    team = Team(model, toolbox, context, settings.agent, inbox, surroundings.heard)
    try:
        return team.ask(_task(settings, mine))
    finally:
        studies.close()


def _only(settings: AskSettings) -> str | None:
    return settings.endpoint.base_url if settings.local_only else None


def _note_refused(mine: Owned, target: str) -> None:
    text = f"A connection to {target} was refused: the run is local only."
    mine.journal.append(Noted(text=text, level="warning"))


def _redactor(endpoint: Endpoint) -> Redactor:
    key = os.environ.get(endpoint.api_key_variable)
    return Redactor.of_environment({**os.environ, **({"SCIAGENT_API_KEY": key} if key else {})})


def _task(settings: AskSettings, mine: Owned) -> str:
    files = [each.path for artifacts in mine.request.inputs.values() for each in artifacts]
    if not files:
        return settings.question
    return f"{settings.question}\n\nFiles in the workspace: {', '.join(files)}"


def is_ask(request: RunRequest) -> bool:
    """Whether an agent answers a run."""
    return request.question == ASK

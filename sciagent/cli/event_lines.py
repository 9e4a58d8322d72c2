"""One line for each event of a journal."""

from functools import singledispatch

from pydantic import BaseModel

from sciagent.cli.progress import action_text
from sciagent.contracts.events import (
    AgentEnded,
    ChangeDecided,
    CommandTaken,
    Event,
    FolderCopied,
    MessageAdded,
    ModelAnswered,
    RunStarted,
    Sealed,
    StudyConcluded,
    StudyOpened,
    TrialDecided,
    TrialFinished,
    TrialProposed,
)
from sciagent.tools.markup import inline

_TEXT_WIDTH = 100


def event_line(event: Event) -> str:
    """Number, time and kind of an event, and what it says."""
    text = f"{event.sequence:>6}  {event.time}  {event.kind}"
    detail = _detail(event.body)
    return f"{text}: {detail}" if detail else text


@singledispatch
def _detail(body: BaseModel) -> str:
    """Short fields by name; long ones are for the journal itself."""
    shown = body.model_dump(exclude={"kind", "schema_version"}, exclude_defaults=True)
    return ", ".join(f"{k} {v}" for k, v in shown.items() if isinstance(v, str | int | float))


@_detail.register
def _(body: RunStarted) -> str:
    return f"{body.request.question} as {body.run}"


@_detail.register
def _(body: FolderCopied) -> str:
    return f"{body.source} as {body.path}, {len(body.files)} files"


@_detail.register
def _(body: ChangeDecided) -> str:
    return f"{body.decision} {body.path}"


@_detail.register
def _(body: StudyOpened) -> str:
    return f"{body.question}, {body.objective.direction} {body.objective.metric}"


@_detail.register
def _(body: TrialProposed) -> str:
    return f"trial {body.trial}, {action_text(body.proposal.action)}"


@_detail.register
def _(body: TrialFinished) -> str:
    adopted = ", found finished" if body.adopted else ""
    return f"trial {body.trial}, {body.outcome.status}{adopted}"


@_detail.register
def _(body: TrialDecided) -> str:
    reasons = f" ({'; '.join(body.decision.reasons)})" if body.decision.reasons else ""
    return f"trial {body.trial}, {body.decision.verdict}{reasons}"


@_detail.register
def _(body: StudyConcluded) -> str:
    return f"{body.conclusion.status}, {body.conclusion.reason}"


@_detail.register
def _(body: CommandTaken) -> str:
    author = f" by {body.command.author}" if body.command.author else ""
    return f"{body.command.command}{author}"


@_detail.register
def _(body: Sealed) -> str:
    return f"{body.status}, {len(body.files)} files"


@_detail.register
def _(body: MessageAdded) -> str:
    message = body.message
    called = "".join(f", calls {inline(call.name, 40)}" for call in message.tool_calls)
    said = f" “{inline(message.content, _TEXT_WIDTH)}”" if message.content.strip() else ""
    return f"{message.role}{said}{called}"


@_detail.register
def _(body: ModelAnswered) -> str:
    usage = body.usage
    mended = f", mended: {', '.join(body.repairs)}" if body.repairs else ""
    return f"{usage.prompt_tokens} tokens read, {usage.completion_tokens} written{mended}"


@_detail.register
def _(body: AgentEnded) -> str:
    reason = f": {inline(body.outcome.reason, _TEXT_WIDTH)}" if body.outcome.reason else ""
    return f"{body.outcome.status}{reason}"

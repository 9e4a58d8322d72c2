"""One row for each event of an agent's work that people wait for."""

from functools import singledispatch

from pydantic import BaseModel
from rich.text import Text

from sciagent.contracts.conversation import Message, ToolCall
from sciagent.contracts.events import (
    AgentEnded,
    AgentStarted,
    ApprovalAnswered,
    CommandTaken,
    Delegated,
    DelegationReturned,
    Event,
    MessageAdded,
    ModelAnswered,
    ReviewRecorded,
    StageCompacted,
)
from sciagent.tools.boundary import results_in
from sciagent.tools.markup import inline

ARGUMENTS_WIDTH = 80
VALUE_WIDTH = 40
TEXT_WIDTH = 120
MAIN = "main"


def rows_of(event: Event, calls: dict[str, ToolCall], *, begun: bool) -> list[Text]:
    """Tell an event of an agent in rows; none for what nobody waits for.

    Parameters
    ----------
    event
        Of the journal.
    calls
        Calls without a result so far, by agent and identifier; kept up to date here.
    begun
        Whether calls are shown when they begin, too.
    """
    body = event.body
    if isinstance(body, MessageAdded):
        rows = _message_rows(body.message, event.span, calls, begun=begun)
    else:
        row = _row(body)
        rows = [] if row is None else [row]
    if event.span in {"", MAIN}:
        return rows
    return [Text(f"{event.span}  ", style="dim").append_text(row) for row in rows]


def call_text(call: ToolCall) -> str:
    """Write a call in one line, safe to print."""
    parts = [f"{inline(key, 30)}={inline(str(value), VALUE_WIDTH)}"
             for key, value in call.arguments.items()]  # fmt: skip
    return f"{inline(call.name, 40)} {inline(' '.join(parts), ARGUMENTS_WIDTH)}".rstrip()


def _message_rows(
    message: Message, span: str, calls: dict[str, ToolCall], *, begun: bool
) -> list[Text]:
    if message.role == "assistant":
        calls.update({f"{span} {call.id}": call for call in message.tool_calls})
        told = message.tool_calls if begun else ()
        return [Text("▸ ", style="cyan").append(call_text(each), "default") for each in told]
    call = calls.pop(f"{span} {message.tool_call_id}", None)
    if message.role != "tool" or call is None:
        return []
    return [_result_row(call, message.content)]


def _result_row(call: ToolCall, content: str) -> Text:
    result = next(results_in(content), None)
    if result is None or result.label.status == "ok":
        return Text("✓ ", style="green").append(call_text(call), "default")
    row = Text("✗ ", style="red").append(call_text(call), "default")
    return row.append(f": {result.label.status}: {inline(result.text, TEXT_WIDTH)}", "red")


@singledispatch
def _row(_body: BaseModel) -> Text | None:
    """Events that nobody waits for."""
    return None


@_row.register
def _(body: AgentStarted) -> Text:
    return Text(f"began: {inline(body.task, TEXT_WIDTH)}", style="dim")


@_row.register
def _(body: ModelAnswered) -> Text | None:
    if not body.repairs:
        return None
    return Text(f"the model's answer was mended: {', '.join(body.repairs)}", style="yellow")


@_row.register
def _(body: ApprovalAnswered) -> Text:
    comment = f": {inline(body.comment, TEXT_WIDTH)}" if body.comment else ""
    word, style = ("approved", "green") if body.approved else ("not approved", "yellow")
    return Text(f"{word}{comment}", style=style)


@_row.register
def _(body: ReviewRecorded) -> Text:
    review = body.review
    counts = (
        f"{len(review.confirmed)} confirmed, {len(review.assumptions)} assumed, "
        f"{len(review.rejected)} rejected, {len(review.gaps)} open"
    )
    return Text(f"review: {counts}", style="magenta")


@_row.register
def _(body: StageCompacted) -> Text:
    return Text(f"stage {body.record.stage} left the prompt; it can be recalled", style="dim")


@_row.register
def _(body: Delegated) -> Text:
    text = f"{len(body.tasks)} tasks were delegated ({body.composition})"
    return Text(text, style="cyan")


@_row.register
def _(body: DelegationReturned) -> Text:
    return Text(f"subagent {body.place + 1} returned: {body.result.status}", style="cyan")


@_row.register
def _(body: CommandTaken) -> Text:
    said = inline(str(body.command.arguments.get("text", "")), TEXT_WIDTH)
    author = f" by {inline(body.command.author, 40)}" if body.command.author else ""
    return Text(f"{body.command.command}{author}{f': {said}' if said else ''}", style="yellow")


@_row.register
def _(body: AgentEnded) -> Text | None:
    outcome = body.outcome
    if outcome.status == "completed":
        return None
    return Text(f"ended ({outcome.status}): {inline(outcome.reason, TEXT_WIDTH)}", style="yellow")

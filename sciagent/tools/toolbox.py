"""The tools of one agent, and the one way in which they are called."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from sciagent.contracts.conversation import Message, ToolCall
from sciagent.contracts.errors import InputError, SciagentError, UnknownNameError
from sciagent.contracts.events import ApprovalAnswered, ApprovalAsked
from sciagent.contracts.tool import ToolSpec
from sciagent.tools.approval import ApprovalQuestion
from sciagent.tools.boundary import Label, Origin, Status
from sciagent.tools.context import ToolContext
from sciagent.tools.effects import effect_id, journalable
from sciagent.tools.sources import keep_sources
from sciagent.tools.spill import spill
from sciagent.tools.tool import Tool, ToolOutput

_LOG = logging.getLogger(__name__)

INTERRUPTED = (
    "Interrupted, state unknown: the call was begun and nobody saw its end. It was not carried "
    "out again. Look at what is there before you decide what to do."
)


@dataclass(frozen=True, slots=True)
class _Result:
    """What a call came to, before it passes the boundary."""

    output: ToolOutput
    origin: Origin
    status: Status


def _own(text: str, status: Status) -> _Result:
    return _Result(ToolOutput(text), "own", status)


class Toolbox:
    """Offers tools to a model and carries its calls out.

    Parameters
    ----------
    tools
        Each name once.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for each in tools:
            if each.name in self._tools:
                raise InputError(f"There are two tools {each.name!r}.", "Rename one of them.")
            self._tools[each.name] = each

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tools, in their order."""
        return tuple(self._tools)

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told, in a fixed order."""
        return tuple(each.spec for each in self._tools.values())

    def is_read_only(self, name: str) -> bool:
        """Whether a tool may run side by side with others and run again; unknown ones may."""
        return name not in self._tools or self._tools[name].spec.read_only

    def only(self, names: Iterable[str]) -> "Toolbox":
        """Make a toolbox of some of the tools, such as those that a subagent may use.

        Raises
        ------
        UnknownNameError
            If there is none of a name.
        """
        wanted = list(names)
        for name in wanted:
            if name not in self._tools:
                raise UnknownNameError.among("tool", name, self._tools)
        return Toolbox(each for name, each in self._tools.items() if name in wanted)

    def without(self, *names: str) -> "Toolbox":
        """Make a toolbox of all tools but some."""
        return Toolbox(each for name, each in self._tools.items() if name not in names)

    def including(self, *tools: Tool) -> "Toolbox":
        """Make a toolbox with more tools behind the present ones."""
        return Toolbox([*self._tools.values(), *tools])

    def execute(self, call: ToolCall, context: ToolContext) -> Message:
        """Carry a call out and write its result as the message that answers it.

        Nothing that a tool does wrong is raised: unknown names, wrong arguments, refused
        approval and failures come back as text. A call whose effect stands in the journal is
        not carried out again: its result is repeated, or said to be unknown. Calls that were
        left without an answer by a crash can therefore all be given to this method again.

        Raises
        ------
        ResourceError
            If the journal cannot be written.
        """
        result = self._refused(call, context) or self._settled(call, context)
        if result is None:
            tool = self._tools[call.name]
            result = _approved(tool, call, context)
            if result is None:
                read_only = tool.spec.read_only
                result = (_tried if read_only else _effected)(tool, call, context)
        return _passed(result, call, context)

    def _refused(self, call: ToolCall, context: ToolContext) -> _Result | None:
        """Say what makes a call impossible."""
        try:
            if call.name not in self._tools:
                raise UnknownNameError.among("tool", call.name, self._tools)
            if call.fault:
                raise InputError(f"The call cannot be read: {call.fault}", "Write it again, whole.")
            self._tools[call.name].check(call.arguments)
            if context.cancelled():
                return _own("The run is being stopped; the call was not carried out.", "refused")
        except InputError as error:
            return _own(f"Error: {error}", "refused")
        return None

    def _settled(self, call: ToolCall, context: ToolContext) -> _Result | None:
        """Repeat the result of a call that was carried out before."""
        tool = self._tools[call.name]
        effect = effect_id(context.span, call.id)
        if tool.spec.read_only or not context.effects.begun(effect):
            return None
        past = context.effects.finished(effect)
        if past is None:
            names = {"span": context.span, "parent": context.parent}
            context.effects.end(effect, "interrupted", INTERRUPTED, **names)
        if past is None or past.status == "interrupted":
            return _own(INTERRUPTED, "interrupted")
        # Whether it held text from outside is not known any more.
        tainted = tool.origin != "own"
        return _Result(ToolOutput(past.detail, tainted=tainted), tool.origin, past.status)


def _approved(tool: Tool, call: ToolCall, context: ToolContext) -> _Result | None:
    """Ask a person if need be; none if the tool may act."""
    reason = context.approval.reason_to_ask(tool.spec, tool.origin, call.arguments, context.taint)
    if not reason:
        return None
    question = ApprovalQuestion(
        effect=effect_id(context.span, call.id),
        tool=tool.name,
        arguments=journalable(context.redactor.value(call.arguments)),
        reason=reason,
        agent=context.span,
    )
    names = {"span": context.span, "parent": context.parent}
    asked = ApprovalAsked(
        effect=question.effect, tool=tool.name, arguments=dict(question.arguments), reason=reason
    )
    context.journal.append(asked, **names)
    answer = context.ask_approval(question)
    answered = ApprovalAnswered(
        effect=question.effect, approved=answer.approved, author=answer.author,
        comment=answer.comment,
    )  # fmt: skip
    context.journal.append(answered, **names)
    if answer.approved:
        return None
    comment = f": {answer.comment}" if answer.comment else ""
    return _own(f"Not approved{comment}. The call was not carried out.", "refused")


def _effected(tool: Tool, call: ToolCall, context: ToolContext) -> _Result:
    """Carry out a call with effects: journaled before it acts, and when it has."""
    effect = effect_id(context.span, call.id)
    names = {"span": context.span, "parent": context.parent}
    arguments = context.redactor.value(call.arguments)
    if not context.effects.begin(effect, tool.name, arguments, **names):
        return _own(INTERRUPTED, "interrupted")
    result = _tried(tool, call, context)
    shown = spill(context.redactor.text(result.output.text), context.root, context.limits)
    detail = shown.text.encode("utf-8", "replace").decode()
    context.effects.end(effect, "ok" if result.status == "ok" else "failed", detail, **names)
    return result


def _tried(tool: Tool, call: ToolCall, context: ToolContext) -> _Result:
    """Run a tool; whatever goes wrong in it is its result."""
    try:
        return _Result(tool.run(context, call.arguments), tool.origin, "ok")
    except SciagentError as error:
        text = f"Error ({error.kind}): {error}"
    except Exception as error:  # noqa: BLE001 # process boundary: a fault is an answer too
        _LOG.warning("The tool %r failed", tool.name, exc_info=True)
        text = f"Error (unexpected): {type(error).__name__}: {error}"
    # The message of an error may repeat what the tool was reading.
    return _Result(ToolOutput(text, tainted=tool.origin == "outside"), tool.origin, "failed")


def _passed(result: _Result, call: ToolCall, context: ToolContext) -> Message:
    """Let a result through the boundary: secrets out, shortened, fenced."""
    output = result.output
    keep_sources(context.root, output.sources)
    fetched = output.tainted or result.origin == "outside" or bool(output.sources)
    shown = spill(context.redactor.text(output.text), context.root, context.limits)
    if fetched:
        context.taint.add(context.span, shown.text)
    provenance = output.provenance or " ".join(source.url for source in output.sources)
    label = Label(
        call.name, result.origin, result.status, fetched, context.redactor.text(provenance)
    )
    fenced = context.boundary.fenced(shown.text, label)
    content = f"{fenced}\n{shown.notice}" if shown.notice else fenced
    return Message(role="tool", content=content, tool_call_id=call.id, images=output.images)

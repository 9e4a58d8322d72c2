"""Carries out the calls of one answer, reading ones side by side and others in their order."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import takewhile

from sciagent.agent.conversation import Conversation
from sciagent.agent.instructions import instruction
from sciagent.contracts.conversation import Message, ToolCall
from sciagent.contracts.tool import ToolSpec
from sciagent.tools.boundary import Label
from sciagent.tools.context import ToolContext
from sciagent.tools.effects import effect_id
from sciagent.tools.toolbox import Toolbox

_SIDE_BY_SIDE = 8


@dataclass(slots=True)
class Calls:
    """The tools of one agent.

    Attributes
    ----------
    toolbox, context
        The tools, and what they act on.
    specs
        What the model is told of them; always the same, so that the prompt's prefix is.
    """

    toolbox: Toolbox
    context: ToolContext
    specs: tuple[ToolSpec, ...] = field(init=False)
    schema_characters: int = field(init=False)

    def __post_init__(self) -> None:
        self.specs = self.toolbox.specs()
        self.schema_characters = sum(len(json.dumps(s.model_dump(mode="json"))) for s in self.specs)

    def next_results(self, conversation: Conversation) -> list[Message]:
        """Carry out the next calls of the last answer and return their results, in order.

        These are all reading calls up to the next other one, or one other call.
        """
        pending = list(conversation.pending.values())
        reading = list(takewhile(lambda call: self.toolbox.is_read_only(call.name), pending))
        group = reading or pending[:1]
        if len(group) == 1:
            return [self._result(group[0])]
        with ThreadPoolExecutor(min(_SIDE_BY_SIDE, len(group))) as pool:
            return list(pool.map(self._result, group))

    def _result(self, call: ToolCall) -> Message:
        return self.toolbox.execute(call, self.context)

    def may_be_repeated(self, call: ToolCall) -> bool:
        """Whether a call can be carried out again, or has not been carried out at all."""
        if self.toolbox.is_read_only(call.name):
            return True
        return not self.context.effects.begun(effect_id(self.context.span, call.id))

    def instructions(self, name: str) -> str:
        """Make a system message: a text of ``prompts/``, and how results of tools are marked."""
        return f"{instruction(name)}\n\n{self.context.boundary.explanation}"

    def fenced(self, text: str) -> str:
        """Fence the record of a stage: it may repeat what strangers wrote."""
        label = Label("stage_record", origin="own", fetched=True)
        return self.context.boundary.fenced(text, label)


def named_apart(message: Message, conversation: Conversation) -> Message:
    """Rename calls whose identifiers stand in the conversation already, seen or evicted."""
    taken = set(conversation.identifiers)
    calls = []
    for call in message.tool_calls:
        name, number = call.id, 1
        while name in taken:
            number += 1
            name = f"{call.id}-{number}"
        taken.add(name)
        calls.append(call if name == call.id else call.model_copy(update={"id": name}))
    return message.model_copy(update={"tool_calls": tuple(calls)})

"""One agent's conversation as the events of its span tell it: all that an agent remembers."""

import json
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from sciagent.agent.instructions import instruction
from sciagent.agent.limits import Used
from sciagent.contracts.agent import AgentOutcome, Review, StageRecord, SubagentResult
from sciagent.contracts.conversation import Message, ToolCall, Usage
from sciagent.contracts.events import (
    AgentEnded,
    AgentStarted,
    CommandTaken,
    Delegated,
    DelegationReturned,
    Event,
    EventBody,
    MessageAdded,
    ModelAnswered,
    OwnerStarted,
    ReviewRecorded,
    StageCompacted,
)
from sciagent.contracts.ports import Journal

OPENING = 2
"""Messages that are always in the prompt: the system message and the task."""
_FRAME = 60
"""Characters of JSON around a message."""
_IMAGE = 4000
"""What a picture counts for."""


class PlacedReview(NamedTuple):
    """A review and the message that it was made in."""

    message: int
    review: Review


@dataclass(slots=True)
class Delegation:
    """A batch of subagents: what was asked in which message, and what has come back."""

    body: Delegated
    message: int
    results: dict[int, SubagentResult] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class Conversation:
    """What the events of one span add up to.

    Attributes
    ----------
    messages
        From the system message on; ``characters[i]`` is the length of all before message `i`.
    pending
        Calls of the last answer that have no result yet, by identifier.
    points
        Messages that are verification points.
    latest_answer
        Number of the model's last message.
    identifiers
        Of all calls.
    cut_off
        Whether the last answer ended at the limit of its length.
    """

    span: str
    messages: list[Message] = field(default_factory=list)
    characters: list[int] = field(default_factory=lambda: [0])
    pending: dict[str, ToolCall] = field(default_factory=dict)
    points: list[int] = field(default_factory=list)
    stages: list[StageRecord] = field(default_factory=list)
    reviews: list[PlacedReview] = field(default_factory=list)
    delegations: list[Delegation] = field(default_factory=list)
    commands: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    earlier_wall_s: float = 0.0
    outcome: AgentOutcome | None = None
    started: bool = False
    cut_off: bool = False
    identifiers: set[str] = field(default_factory=set)
    latest_answer: int = -1
    _closing: str | None = None
    _taken_up: float = field(default_factory=time.monotonic)

    def apply(self, event: Event) -> None:
        """Take an event of this span in."""
        body = event.body
        if isinstance(body, MessageAdded):
            self._add(body.message)
        elif isinstance(body, ModelAnswered):
            self.usage += body.usage
            self.turns += body.finish != "interrupted"
            self.cut_off = body.finish == "length"
        elif isinstance(body, Delegated | DelegationReturned):
            self._delegate(body)
        else:
            self._note(body)

    def _add(self, message: Message) -> None:
        place = len(self.messages)
        if message.role == "assistant":
            self.pending = {call.id: call for call in message.tool_calls}
            self.identifiers.update(self.pending)
            self.latest_answer = place
            if self.messages[-1].content.endswith(instruction("verification_point")):
                self.points.append(place)
        elif message.role == "user" and message.content.endswith(instruction("closing")):
            self._closing = message.content.removesuffix(instruction("closing")).strip()
        elif message.role == "tool":
            self.pending.pop(message.tool_call_id, None)
        self.messages.append(message)
        self.characters.append(self.characters[-1] + written_length(message))

    def _delegate(self, body: Delegated | DelegationReturned) -> None:
        if isinstance(body, Delegated):
            self.delegations.append(Delegation(body, self.latest_answer))
            return
        for delegation in self.delegations:
            if delegation.body.batch == body.batch:
                delegation.results[body.place] = body.result
                delegation.usage += body.usage
        self.usage += body.usage

    def _note(self, body: EventBody) -> None:
        if isinstance(body, AgentStarted):
            self.started = True
        elif isinstance(body, AgentEnded):
            self.outcome = body.outcome
        elif isinstance(body, StageCompacted):
            self.stages.append(body.record)
        elif isinstance(body, CommandTaken):
            self.commands.add(body.command.id)
        elif isinstance(body, ReviewRecorded):
            self.reviews.append(PlacedReview(self.latest_answer, body.review))
            if self.points[-1:] != [self.latest_answer]:
                self.points.append(self.latest_answer)

    @property
    def used(self) -> Used:
        """What was used so far, by earlier owners and by subagents too."""
        wall_s = self.earlier_wall_s + time.monotonic() - self._taken_up
        return Used(self.turns, self.usage, wall_s)

    @property
    def answer(self) -> Message | None:
        """The last message, if it is an answer that calls no tool."""
        last = self.messages[-1]
        return last if last.role == "assistant" and not last.tool_calls else None

    @property
    def closing(self) -> bool:
        """Whether the agent was asked to close with what it knows."""
        return self._closing is not None

    @property
    def closing_reason(self) -> str:
        """Why it was asked to."""
        return self._closing or ""

    @property
    def open_delegations(self) -> list[Delegation]:
        """Batches sent out by calls of the last answer."""
        return [each for each in self.delegations if each.message == self.latest_answer]

    @property
    def corrections(self) -> int:
        """How many answers in a row, up to the end, could not be used."""
        count = 0
        for message in reversed(self.messages):
            if message.role == "tool" or count > self.turns:
                break
            count += message.role == "assistant"
        return count

    @property
    def kept_from(self) -> int:
        """First message behind the stretches that were compacted."""
        return self.stages[-1].last_message + 1 if self.stages else OPENING

    def length(self, first: int, end: int) -> int:
        """Characters of the messages from `first` to before `end`."""
        return self.characters[end] - self.characters[first]


def said_by_user(text: str) -> MessageAdded:
    """Make the event of a message that the user, or the harness for them, adds."""
    return MessageAdded(message=Message(role="user", content=text))


def written_length(message: Message) -> int:
    """Characters of a message, about as many as its JSON has."""
    calls = sum(
        len(call.name) + len(json.dumps(call.arguments)) + _FRAME for call in message.tool_calls
    )
    images = len(message.images) * _IMAGE
    return len(message.content) + len(message.reasoning) + calls + images + _FRAME


def load_conversations(events: Iterable[Event]) -> dict[str, Conversation]:
    """Rebuild the conversations of all spans from a journal."""
    found: dict[str, Conversation] = {}
    latest: dict[str, float] = {}
    for event in events:
        if isinstance(event.body, OwnerStarted):
            latest.clear()
        if not event.span:
            continue
        conversation = found.setdefault(event.span, Conversation(event.span))
        conversation.apply(event)
        moment = datetime.fromisoformat(event.time).timestamp()
        conversation.earlier_wall_s += moment - latest.get(event.span, moment)
        latest[event.span] = moment
    return found


@dataclass(slots=True)
class SpanRecord:
    """Writes the events of one agent; what is written is at once part of its conversation."""

    journal: Journal
    conversation: Conversation
    parent: str = ""
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def write(self, *bodies: EventBody) -> None:
        """Write events with one wait for the disk: all or none."""
        self.write_all(bodies)

    def write_all(self, bodies: Sequence[EventBody]) -> None:
        """Write events with one wait for the disk: all or none."""
        with self._writing:
            events = self.journal.append_many(
                bodies, span=self.conversation.span, parent=self.parent
            )
            for event in events:
                self.conversation.apply(event)

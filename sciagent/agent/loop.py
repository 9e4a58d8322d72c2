"""The agent's loop: ask the model, carry its calls out, until there is an answer or a limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sciagent.agent.asking import Asker
from sciagent.agent.calls import Calls
from sciagent.agent.conversation import Conversation, SpanRecord, said_by_user, written_length
from sciagent.agent.instructions import instruction
from sciagent.agent.partial import partial_answer
from sciagent.agent.settings import AgentSettings
from sciagent.agent.stagnation import Watch
from sciagent.agent.steering import Steering
from sciagent.contracts.agent import AgentOutcome
from sciagent.contracts.conversation import Message
from sciagent.contracts.errors import EndpointError
from sciagent.contracts.events import AgentEnded, AgentStarted, EventBody, MessageAdded

_FINAL = frozenset({"completed", "limit"})


@dataclass(slots=True)
class Agent:
    """One agent or subagent; all that it knows stands in the events of its span.

    Every step is decided by the conversation as it stands, so that a new agent over the same
    journal goes on where the last one was cut off.

    Attributes
    ----------
    asker, calls
        The way to the model, and what carries out its tool calls.
    record
        The conversation and the journal it is written to.
    settings, steering
        Limits and modes; stop and steer.
    accepts
        Says what is wrong with an answer, or nothing if it can be used; an answer that cannot
        is sent back.
    """

    asker: Asker
    calls: Calls
    record: SpanRecord
    settings: AgentSettings
    steering: Steering
    accepts: Callable[[str], str] = lambda _: ""
    _watch: Watch = field(default_factory=Watch)

    @property
    def conversation(self) -> Conversation:
        """What was said so far."""
        return self.record.conversation

    def run(self, task: str, instructions: str) -> AgentOutcome:
        """Work on a task until it is answered, stopped or at a limit; or go on with it.

        Parameters
        ----------
        task
            The first message of the user.
        instructions
            The system message.

        Returns
        -------
        AgentOutcome
            Always with an answer: a partial one if the work was not completed. An agent that
            was stopped or whose endpoint failed goes on when it is run again.

        Raises
        ------
        ResourceError
            If the journal cannot be written; the agent can be run again.
        """
        conversation = self.conversation
        if not conversation.started:
            self._begin(task, instructions)
        if conversation.outcome is not None and conversation.outcome.status not in _FINAL:
            conversation.outcome = None
        self.steering.forget(conversation.commands)
        while conversation.outcome is None:
            try:
                self._step()
            except EndpointError as error:
                self._end("failed", str(error))
        return conversation.outcome

    def _begin(self, task: str, instructions: str) -> None:
        started = AgentStarted(
            task=task,
            tools=tuple(spec.name for spec in self.calls.specs),
            budget=self.settings.budget,
            verification=self.settings.verification,
        )
        system = MessageAdded(message=Message(role="system", content=instructions))
        self.record.write(started, system, said_by_user(task))

    def _step(self) -> None:
        """Do the one thing that the conversation, as it stands, calls for."""
        conversation = self.conversation
        if self.steering.obeyed(self.record):
            self._end("stopped", "It was asked to stop.")
        elif conversation.pending:
            self._act()
        elif conversation.answer is not None:
            self._judge(conversation.answer)
        elif conversation.closing:
            if not self.asker.ask(()) and not self.steering.stop_asked():
                self._end("limit", conversation.closing_reason)
        elif reason := self._limit():
            self._close(reason)
        else:
            self.asker.ask(self.calls.specs)

    def _act(self) -> None:
        """Carry out the next calls, and say what the model should know besides their results."""
        conversation = self.conversation
        messages = self.calls.next_results(conversation)
        if self.steering.stop_asked() and self._may_be_repeated(messages):
            return  # they are carried out again when the agent goes on
        bodies: list[EventBody] = [MessageAdded(message=message) for message in messages]
        if len(messages) == len(conversation.pending):
            self._watch.follow([*conversation.messages, *messages])
            warning = self._watch.warning()
            length = sum(map(written_length, messages))
            if warning or self.asker.window.review_is_due(length):
                text = f"{warning}\n\n{instruction('verification_point')}".strip()
                bodies.append(said_by_user(text))
        self.record.write_all(bodies)

    def _may_be_repeated(self, messages: Sequence[Message]) -> bool:
        pending = self.conversation.pending
        return all(self.calls.may_be_repeated(pending[each.tool_call_id]) for each in messages)

    def _judge(self, answer: Message) -> None:
        """End with an answer that can be used; send any other back, a few times."""
        text, conversation = answer.content.strip(), self.conversation
        if conversation.closing:
            self._end("limit", conversation.closing_reason, text)
        elif not (fault := self._fault(text)):
            self._end("completed", "", text)
        elif conversation.corrections > self.settings.corrections:
            self._end("failed", f"The answer could not be used: {fault}", text)
        else:
            self.record.write(said_by_user(fault))

    def _fault(self, text: str) -> str:
        if not text:
            return instruction("empty")
        return instruction("cut_off") if self.conversation.cut_off else self.accepts(text)

    def _limit(self) -> str:
        self._watch.follow(self.conversation.messages)
        if self._watch.idle_turns >= self.settings.stalled_turns:
            return f"Nothing new was learned in {self._watch.idle_turns} turns."
        return self.conversation.used.reached(self.settings.budget)

    def _close(self, reason: str) -> None:
        """Ask once more for what is known, if the budget allows that; else end with the notes."""
        used = self.conversation.used
        if used.affords_closing(self.settings.budget, self.asker.window.tokens):
            self.record.write(said_by_user(f"{reason}\n\n{instruction('closing')}"))
        else:
            self._end("limit", reason)

    def _end(
        self,
        status: Literal["completed", "limit", "stopped", "failed"],
        reason: str,
        text: str = "",
    ) -> None:
        conversation = self.conversation
        outcome = AgentOutcome(
            status=status,
            answer=text or partial_answer(conversation, reason, self.asker.cut_off),
            reason=reason,
            usage=conversation.usage,
            turns=conversation.turns,
        )
        self.record.write(AgentEnded(outcome=outcome))

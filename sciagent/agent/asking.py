"""Asks the model for its next message, with a prompt that fits its window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sciagent.agent.calls import named_apart
from sciagent.agent.conversation import Conversation, SpanRecord
from sciagent.agent.evidence import SourceTexts
from sciagent.agent.reviews import parsed_review
from sciagent.agent.settings import AgentSettings
from sciagent.agent.steering import Steering
from sciagent.agent.window import PromptWindow
from sciagent.contracts.conversation import Answer, Message
from sciagent.contracts.errors import ContextOverflowError
from sciagent.contracts.events import (
    EventBody,
    MessageAdded,
    ModelAnswered,
    ReviewRecorded,
    StageCompacted,
)
from sciagent.contracts.ports import Model
from sciagent.contracts.tool import ToolSpec


@dataclass(slots=True)
class Asker:
    """One agent's way to its model.

    Attributes
    ----------
    model, window
        Who is asked, and what of the conversation is shown.
    record, settings, steering, texts, heard
        Of the agent.
    """

    model: Model
    window: PromptWindow
    record: SpanRecord
    settings: AgentSettings
    steering: Steering
    texts: SourceTexts
    heard: Callable[[str, str], None] | None = None
    cut_off: str = field(default="", init=False)

    @property
    def conversation(self) -> Conversation:
        """What was said so far."""
        return self.record.conversation

    def ask(self, specs: Sequence[ToolSpec]) -> bool:
        """Ask once and journal the answer; false if it was interrupted.

        Of an interrupted answer only what it used is journaled, so that it is asked for again;
        what had been said until then stays in `cut_off`. Calls count only if tools were offered.

        Raises
        ------
        EndpointError
            If the endpoint does not answer, or the prompt cannot be made short enough.
        """
        self._compact()
        answer = self._answer(specs)
        if answer.finish == "interrupted":
            self.cut_off = answer.message.content
            self.record.write(_answered(answer))
            return False
        self.window.measured(answer.usage.prompt_tokens)
        message = named_apart(answer.message, self.conversation)
        if not specs:
            message = message.model_copy(update={"tool_calls": ()})
        self.record.write_all(self._bodies(answer, message))
        # The journal may have hidden what looked like a secret; the call is made as it was meant.
        self.conversation.pending = {call.id: call for call in message.tool_calls}
        return True

    def _bodies(self, answer: Answer, message: Message) -> list[EventBody]:
        bodies: list[EventBody] = [_answered(answer), MessageAdded(message=message)]
        if self.settings.verification and message.reasoning:
            review = parsed_review(message.reasoning, self.texts)
            bodies += [] if review is None else [ReviewRecorded(review=review)]
        return bodies

    def _answer(self, specs: Sequence[ToolSpec]) -> Answer:
        while True:
            try:
                return self.model.complete(
                    self.window.messages(), specs, verification=self.settings.verification,
                    heard=self.heard, cancelled=self._interrupted,
                )  # fmt: skip
            except ContextOverflowError as error:
                if self.window.exhausted:
                    raise
                self.window.refused(error.n_ctx, error.n_prompt_tokens)
                self._compact()

    def _compact(self) -> None:
        """Replace the stretch behind us by its record where it is due, or where room is needed."""
        record = self.window.due()
        if record is not None:
            self.record.write(StageCompacted(record=record))
        while not (self.window.fits or self.window.exhausted):
            record = self.window.make_room()
            if record is not None:
                self.record.write(StageCompacted(record=record))

    def _interrupted(self) -> bool:
        limit_s = self.settings.budget.wall_s
        late = limit_s is not None and self.conversation.used.wall_s >= limit_s
        return late or self.steering.stop_asked()


def _answered(answer: Answer) -> ModelAnswered:
    return ModelAnswered(
        usage=answer.usage, finish=answer.finish, repairs=answer.repairs, wall_s=answer.wall_s
    )

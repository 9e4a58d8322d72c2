"""The prompt: what of the conversation is shown to the model, and when it is compacted."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sciagent.agent.conversation import OPENING, Conversation
from sciagent.agent.settings import AgentSettings
from sciagent.agent.stages import is_written_down, stage_record
from sciagent.contracts.agent import StageRecord
from sciagent.contracts.conversation import Message

_CHARACTERS_PER_TOKEN = 4.0
_WORTH = 0.5
"""A stretch shorter than this part of `stretch_tokens` is left as it is."""
_UNWRITTEN = 8.0
"""The same for a stretch of which the agent has written nothing down."""
_RESERVE_TOKENS = 4096
_SHORTENED = 1500
"""Characters left of each end of a message that alone is too long."""


@dataclass(slots=True)
class PromptWindow:
    """Shows a conversation within a window of tokens, byte for byte the same between compactions.

    The prompt is the system message, the task followed by the records of the compacted stages,
    and all messages since. A window of unknown size is taken as unlimited until an endpoint
    refuses a prompt.

    Attributes
    ----------
    conversation, settings
        What is shown, and when it is compacted.
    tools_characters
        Length of the tools' schemas, which go with every prompt.
    fence
        Marks the stage records as material, not as instructions.
    """

    conversation: Conversation
    settings: AgentSettings
    tools_characters: int = 0
    fence: Callable[[str], str] = str
    window_tokens: int | None = None
    characters_per_token: float = _CHARACTERS_PER_TOKEN
    _prompt: list[Message] = field(default_factory=list)
    _shown: int = 0
    _stages: int = -1
    _hidden_stages: int = 0
    _shorten: bool = False

    def __post_init__(self) -> None:
        self.window_tokens = self.settings.context_tokens

    def messages(self) -> list[Message]:
        """Return the prompt as it stands; the same list grows from call to call."""
        conversation = self.conversation
        if self._stages != len(conversation.stages):
            self._prompt = [conversation.messages[0], self._task()]
            self._stages, self._shown = len(conversation.stages), conversation.kept_from
        new = conversation.messages[self._shown :]
        self._prompt += [_shortened(message) for message in new] if self._shorten else new
        self._shown += len(new)
        return self._prompt

    def _task(self) -> Message:
        task = self.conversation.messages[1]
        stages = self.conversation.stages[self._hidden_stages :]
        if not stages:
            return task
        records = self.fence("\n\n".join(record.text for record in stages))
        return task.model_copy(update={"content": f"{task.content}\n\n{records}"})

    @property
    def tokens(self) -> int:
        """About how long the next prompt is."""
        conversation = self.conversation
        kept = conversation.length(conversation.kept_from, len(conversation.messages))
        records = sum(len(record.text) for record in conversation.stages[self._hidden_stages :])
        return self._tokens(
            self.tools_characters + conversation.characters[OPENING] + kept + records
        )

    def _tokens(self, characters: int) -> int:
        return int(characters / self.characters_per_token)

    def measured(self, prompt_tokens: int) -> None:
        """Take from an answer how many tokens the prompt really had."""
        if prompt_tokens > 0:
            ratio = self.tokens * self.characters_per_token / prompt_tokens
            self.characters_per_token = min(8.0, max(1.0, ratio))

    def review_is_due(self, more: int) -> bool:
        """Whether the stretch since the last verification point calls for another.

        `more` characters are about to be added.
        """
        conversation = self.conversation
        first = max([conversation.kept_from, *conversation.points[-1:]])
        length = conversation.length(first, len(conversation.messages)) + more
        return length / _CHARACTERS_PER_TOKEN >= self.settings.stretch_tokens

    def due(self) -> StageRecord | None:
        """Return the record of the stretch that the last verification point closes, if any.

        A stretch that is too short to be worth a new prompt prefix becomes part of the next, and
        so does, for much longer, one of which the agent has written nothing down.
        """
        conversation = self.conversation
        first, point = conversation.kept_from, (conversation.points or [0])[-1]
        if point <= first:
            return None
        worth = _WORTH if is_written_down(conversation, first, point - 1) else _UNWRITTEN
        length = conversation.length(first, point) / _CHARACTERS_PER_TOKEN
        if length < worth * self.settings.stretch_tokens:
            return None
        return stage_record(conversation, first, point - 1)

    @property
    def fits(self) -> bool:
        """Whether the next prompt leaves room for an answer, as far as is known."""
        if self.window_tokens is None:
            return True
        reserve = min(_RESERVE_TOKENS, self.window_tokens // 4)
        return self.tokens <= self.window_tokens - reserve

    def refused(self, window_tokens: int | None, prompt_tokens: int | None) -> None:
        """Learn from an endpoint that the prompt was too long."""
        if prompt_tokens:
            self.measured(prompt_tokens)
        known = window_tokens or int(self.tokens * 0.8)
        self.window_tokens = min(known, self.window_tokens or known)

    def make_room(self) -> StageRecord | None:
        """Do the next thing that makes a prompt which does not fit shorter.

        First the conversation up to the last answer becomes a stage record, which is returned to
        be written; then old records are left out of the prompt (they stay retrievable); then
        long messages are shown by their ends only.
        """
        conversation = self.conversation
        end = self._end_of_stretch()
        if end is not None:
            return stage_record(conversation, conversation.kept_from, end - 1)
        if self._has_old_records():
            self._hidden_stages += (len(conversation.stages) - self._hidden_stages) // 2
        else:
            self._shorten = True
        self._stages = -1
        return None

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left that could make the prompt shorter."""
        return self._shorten and self._end_of_stretch() is None and not self._has_old_records()

    def _end_of_stretch(self) -> int | None:
        """The last answer, if something stands before it that can become a stage record."""
        conversation = self.conversation
        for place in range(len(conversation.messages) - 1, conversation.kept_from, -1):
            if conversation.messages[place].role == "assistant":
                return place
        return None

    def _has_old_records(self) -> bool:
        return self._hidden_stages < len(self.conversation.stages) - 1


def _shortened(message: Message) -> Message:
    content = message.content
    if len(content) <= 2 * _SHORTENED:
        return message
    left_out = len(content) - 2 * _SHORTENED
    text = f"{content[:_SHORTENED]}\n[… {left_out} characters left out; use recall …]\n"
    return message.model_copy(update={"content": text + content[-_SHORTENED:]})

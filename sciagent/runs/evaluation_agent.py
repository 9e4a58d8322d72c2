"""One question of the public evaluation, asked of the agent's loop with the evaluation's rules."""

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from sciagent.agent.asking import Asker
from sciagent.agent.calls import Calls
from sciagent.agent.conversation import Conversation, SpanRecord, said_by_user
from sciagent.agent.evidence import SourceTexts
from sciagent.agent.instructions import instruction
from sciagent.agent.loop import Agent
from sciagent.agent.settings import AgentSettings
from sciagent.agent.stagnation import Watch
from sciagent.agent.steering import Steering
from sciagent.agent.team import MAIN
from sciagent.agent.window import PromptWindow
from sciagent.contracts.agent import AgentBudget, AgentOutcome
from sciagent.contracts.conversation import Message, ToolCall
from sciagent.contracts.model import Contract
from sciagent.contracts.ports import Model
from sciagent.contracts.quantity import measured_in
from sciagent.contracts.run import RunRequest
from sciagent.runs.agents import AgentGround
from sciagent.runs.configuration import Configuration
from sciagent.runs.evaluation_rows import ERROR, NO_ANSWER, Item, prediction_in
from sciagent.runs.ownership import owned
from sciagent.runs.surroundings import Surroundings
from sciagent.tools.compatible import COMPATIBLE
from sciagent.tools.context import ToolContext
from sciagent.tools.toolbox import Toolbox
from sciagent.workspace.workspace import create_workspace

ANSWER = "answer"
TIMEOUT = "timeout"
NO_CALLS_LEFT = "exceed available llm calls"
NOT_FOUND = "answer not found"
AT_TOKEN_LIMIT = "generate an answer as token limit reached"
UNREADABLE_AT_TOKEN_LIMIT = f"format error: {AT_TOKEN_LIMIT}"

_NEVER = 10**9
_RESERVE_TOKENS = 4096
_FULL = "The conversation is as long as it may become"

_INSTRUCTIONS = """\
You answer one question that takes research. Search the web, read the pages that you find, and \
compute with Python where it helps, until you are sure.

- Split the question into what has to be found out, and look for each part.
- Check what you find in a second, independent source where you can.
- If a search finds nothing, ask in other words, more generally, or in another language.
- Keep going: the question has an answer.

When you are sure, give the final answer, short and complete, between <answer> and </answer>, in a \
message that calls no tool.

Today is {today}."""
_NO_TAGS = (
    "Your message calls no tool and holds no answer between <answer> and </answer>. Go on with "
    "the tools, or give the final answer between these tags."
)
_LAST_CALL = f"{_FULL}. Give the answer that is most likely, between <answer> and </answer>."


class Limits(Contract):
    """What one question may use; the defaults are those of the public evaluation."""

    max_calls: int = Field(default=300, ge=1, json_schema_extra={"unit": "{count}"})
    timeout_s: float = measured_in("s", default=9_000.0, gt=0.0)
    max_tokens: int = Field(
        default=128 * 1024, ge=1, json_schema_extra={"unit": "{token}"},
        description="Length of the conversation at which the answer is asked for.",
    )  # fmt: skip


class _Unconcerned(Watch):
    """Sees nothing: the evaluation neither warns nor ends an agent that goes round in circles."""

    def follow(self, messages: object) -> None:
        """Read nothing."""


@dataclass(slots=True)
class EvaluatedAgent(Agent):
    """The agent's loop with the limits of the public evaluation.

    It differs from any other agent in what happens at a limit: when its calls or its time are
    used up it is not asked once more, and a conversation that has become too long is not
    compacted: the answer is asked for, without tools.

    Attributes
    ----------
    max_tokens
        Length of the conversation at which the answer is asked for.
    """

    max_tokens: int = _NEVER

    def _limit(self) -> str:
        if reason := self.conversation.used.reached(self.settings.budget):
            return reason
        window = self.asker.window
        was_refused = window.window_tokens is not None  # only a refusal tells it how large it is
        return _LAST_CALL if was_refused or window.tokens > self.max_tokens else ""

    def _close(self, reason: str) -> None:
        if reason == _LAST_CALL:
            self.record.write(said_by_user(f"{reason}\n\n{instruction('closing')}"))
        else:
            self._end("limit", reason)


@dataclass(frozen=True, slots=True)
class Examiner:
    """Asks questions, each in a workspace and a kernel of its own that are gone afterwards.

    It may be used from several threads.

    Attributes
    ----------
    configuration, surroundings
        The endpoint, and the ports of the tools.
    limits
        What one question may use.
    folder
        Where the workspaces are made.
    abandoned
        Whether nobody waits for answers any more.
    """

    configuration: Configuration
    surroundings: Surroundings
    limits: Limits
    folder: Path
    abandoned: Callable[[], bool]

    def row(self, item: Item, name: str) -> dict[str, Any] | None:
        """Ask one question and give its row; none if it was abandoned.

        Parameters
        ----------
        item
            The question.
        name
            Names its workspace.

        Raises
        ------
        ResourceError
            If the disk is full.
        """
        request = RunRequest(question="agent/evaluation", policy="model")
        layout = create_workspace(self.folder, request, {}, slug=name)
        late = _after(self.limits.timeout_s)
        around = replace(
            self.surroundings, heard=None, observer=None,
            cancelled=lambda: self.abandoned() or late(),
        )  # fmt: skip
        try:
            with owned(layout, request) as mine:
                ground = AgentGround(mine, self.configuration, around)
                outcome, conversation = self._asked(ground, item.question)
        finally:
            shutil.rmtree(layout.root, ignore_errors=True)
        said = _last_words(conversation)
        termination = _termination(outcome, conversation, said, self.limits)
        if outcome.status == "stopped" and termination == NOT_FOUND:
            if not late():
                return None
            termination = TIMEOUT
        return {**_row(item, conversation, said, termination), **_failure(termination, outcome)}

    def _asked(self, ground: AgentGround, question: str) -> tuple[AgentOutcome, Conversation]:
        with ground.confined(), ground.model() as model, ground.code(MAIN) as code:
            context = ground.context(ground.surroundings.cancelled, None, code)
            agent = self._agent(context, model)
            today = f"{datetime.now(UTC):%Y-%m-%d}"
            instructions = _INSTRUCTIONS.format(today=today)
            explanation = context.boundary.explanation
            return agent.run(question, f"{instructions}\n\n{explanation}"), agent.conversation

    def _agent(self, context: ToolContext, model: Model) -> EvaluatedAgent:
        settings = self._settings()
        record = SpanRecord(context.journal, Conversation(MAIN))
        steering = Steering(cancelled=context.cancelled)
        calls = Calls(Toolbox(COMPATIBLE), context)
        window = PromptWindow(record.conversation, settings, calls.schema_characters, calls.fenced)
        texts = SourceTexts(_not_looked_up)
        asker = Asker(model, window, record, settings, steering, texts)
        return EvaluatedAgent(
            asker, calls, record, settings, steering,
            accepts=_fault, _watch=_Unconcerned(), max_tokens=self._max_tokens(),
        )  # fmt: skip

    def _settings(self) -> AgentSettings:
        """Switch off what the evaluation does not know: compaction, and giving up early."""
        budget = AgentBudget(turns=self.limits.max_calls, wall_s=self.limits.timeout_s)
        return AgentSettings(
            budget=budget,
            verification=self.configuration.agent.verification,
            context_tokens=None,  # the answer is asked for before the window is full
            stretch_tokens=_NEVER,
            corrections=_NEVER,
            stalled_turns=_NEVER,
        )

    def _max_tokens(self) -> int:
        """Length at which the answer is asked for: it must fit the window together with it."""
        window = self.configuration.endpoint.context_tokens
        if window is None:
            return self.limits.max_tokens
        return min(self.limits.max_tokens, window - min(_RESERVE_TOKENS, window // 4))


def _not_looked_up(_url: str) -> None:
    """Give no stored text: nobody checks quotes here."""


def _fault(text: str) -> str:
    return _NO_TAGS if prediction_in(text) is None else ""


def _after(limit_s: float) -> Callable[[], bool]:
    begun = time.monotonic()
    return lambda: time.monotonic() - begun >= limit_s


def _last_words(conversation: Conversation) -> str | None:
    """What the model said last, if that is its last word: no call, and nothing after it."""
    answer = conversation.answer if conversation.messages else None
    return None if answer is None else answer.content


def _termination(
    outcome: AgentOutcome, conversation: Conversation, said: str | None, limits: Limits
) -> str:
    """Say in the words of the evaluation how a question ended."""
    has_answer = said is not None and prediction_in(said) is not None
    if conversation.closing and said is not None:
        return AT_TOKEN_LIMIT if has_answer else UNREADABLE_AT_TOKEN_LIMIT
    if has_answer:
        return ANSWER
    if outcome.status == "failed":
        return ERROR
    if outcome.status == "limit":
        return NO_CALLS_LEFT if outcome.turns >= limits.max_calls else TIMEOUT
    return NOT_FOUND


def _row(
    item: Item, conversation: Conversation, said: str | None, termination: str
) -> dict[str, Any]:
    prediction = None if said is None else prediction_in(said)
    if prediction is None and termination == UNREADABLE_AT_TOKEN_LIMIT:
        prediction = said
    return {
        "question": item.question,
        "answer": item.answer,
        "messages": _messages(conversation.messages),
        "prediction": NO_ANSWER if prediction is None else prediction,
        "termination": termination,
        "usage": conversation.usage.model_dump(mode="json"),
    }


def _failure(termination: str, outcome: AgentOutcome) -> dict[str, str]:
    return {"error": outcome.reason} if termination == ERROR else {}


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Write a conversation as the evaluation's programs read it."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    written: list[dict[str, Any]] = []
    for message in messages:
        entry: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.role == "assistant":
            entry["reasoning"] = message.reasoning
            entry["tool_calls"] = [_call(call) for call in message.tool_calls] or None
        elif message.role == "tool":
            entry["tool_call_id"] = message.tool_call_id
            entry["name"] = names.get(message.tool_call_id, "")
        written.append(entry)
    return written


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "type": "function",
        "id": call.id,
        "function": {"name": call.name, "arguments": arguments},
    }

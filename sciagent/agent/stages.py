"""Stage records: what stays in the prompt of a stretch between two verification points."""

import json
from collections.abc import Collection, Iterable, Sequence

from sciagent.agent.conversation import Conversation
from sciagent.contracts.agent import Review, StageRecord
from sciagent.contracts.conversation import Message, ToolCall
from sciagent.tools.boundary import results_in

_LINE = 1200
_CALL = 100
_RECORD = 6000
_SAID_ENOUGH = 80
NOTE = "take_note"
_OWN_TOOLS = frozenset({"record_review", NOTE, "read_notes", "recall"})


def stage_record(conversation: Conversation, first: int, last: int) -> StageRecord:
    """Reduce the messages `first` to `last` to what a reader of the rest must know.

    It holds the words of the agent itself: its review, notes and calls, each with the number of
    the message that has the full text. Only where it wrote nothing down, the beginnings of the
    results stand for them.
    """
    stretch = conversation.messages[first : last + 1]
    placed = [each.review for each in conversation.reviews if first < each.message <= last + 1]
    review = _merged(placed, told={fact for each in conversation.stages for fact in each.evidence})
    sections = {
        "Confirmed": review.confirmed,
        "Not verified": review.assumptions,
        "Noted": tuple(_notes(stretch)),
        "Rejected": review.rejected,
        "Open": review.gaps,
        "Next": (review.next_step,) if review.next_step else (),
        "Said": () if placed else tuple(_said(conversation.messages[first + 1 : last + 2])),
        "Done": tuple(_done(stretch, first, " ".join(review.confirmed))),
        "Results begin": ()
        if is_written_down(conversation, first, last)
        else _heads(stretch, first),
    }
    stage = len(conversation.stages) + 1
    lines = [f"Stage {stage}, messages {first} to {last}."]
    for heading, items in sections.items():
        if items:
            lines += [f"{heading}:", *(f"- {_short(item, _LINE)}" for item in items)]
    return StageRecord(
        stage=stage, first_message=first, last_message=last, evidence=review.confirmed,
        rejected=review.rejected, gaps=review.gaps, text=_short("\n".join(lines), _RECORD),
    )  # fmt: skip


def is_written_down(conversation: Conversation, first: int, last: int) -> bool:
    """Whether the agent reviewed a stretch, took notes of it, or said at its end what it found.

    The answer behind the stretch is the one that was asked for a review.
    """
    if any(first < placed.message <= last + 1 for placed in conversation.reviews):
        return True
    answer = conversation.messages[last + 1]
    calls = [call for each in conversation.messages[first : last + 2] for call in each.tool_calls]
    return len(answer.content) >= _SAID_ENOUGH or any(call.name == NOTE for call in calls)


def _heads(stretch: Sequence[Message], first: int) -> tuple[str, ...]:
    return tuple(
        f"{number}: {_short(' '.join(result.text.split()), _CALL)}"
        for number, message in enumerate(stretch, start=first)
        for result in results_in(message.content)
        if message.role == "tool"
    )


def _merged(reviews: Sequence[Review], told: Collection[str]) -> Review:
    """Put reviews of one stretch together, without the facts that earlier records tell.

    The last review's open issues and next step hold.
    """
    if not reviews:
        return Review()
    confirmed = _each_once(item for review in reviews for item in review.confirmed)
    return Review(
        confirmed=tuple(fact for fact in confirmed if fact not in told),
        assumptions=_each_once(item for review in reviews for item in review.assumptions),
        rejected=_each_once(item for review in reviews for item in review.rejected),
        gaps=reviews[-1].gaps,
        next_step=reviews[-1].next_step,
    )


def _each_once(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _notes(stretch: Sequence[Message]) -> list[str]:
    calls = [call for message in stretch for call in message.tool_calls]
    return [
        ", ".join(str(value) for value in call.arguments.values())
        for call in calls
        if call.name == NOTE
    ]


def _said(answers: Sequence[Message]) -> list[str]:
    """Words of the model, the last of them, which it was asked for, at some length."""
    texts = [each.content.strip() for each in answers if each.role == "assistant"]
    *earlier, last = texts or [""]
    said = [_short(text, _CALL) for text in earlier if text]
    return [*said, last] if last else said


def _done(stretch: Sequence[Message], first: int, confirmed: str) -> list[str]:
    """List the calls with the message that holds each result, but for what is cited above."""
    results = {
        message.tool_call_id: number
        for number, message in enumerate(stretch, start=first)
        if message.role == "tool"
    }
    return [
        _short(f"{results.get(call.id, first)}: {call.name} {_values(call)}", _CALL)
        for message in stretch
        for call in message.tool_calls
        if call.name not in _OWN_TOOLS and not _cited(call, confirmed)
    ]


def _values(call: ToolCall) -> str:
    return ", ".join(json.dumps(value, ensure_ascii=False) for value in call.arguments.values())


def _cited(call: ToolCall, confirmed: str) -> bool:
    return any(isinstance(v, str) and v and v in confirmed for v in call.arguments.values())


def _short(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"

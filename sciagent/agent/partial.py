"""What an agent knows when it must end without an answer of its own."""

from collections.abc import Iterable

from sciagent.agent.conversation import Conversation
from sciagent.agent.stages import NOTE

_CHARACTERS = 2000


def partial_answer(conversation: Conversation, reason: str, cut_off: str = "") -> str:
    """Put together what was found until now from reviews, notes and the agent's own words.

    Parameters
    ----------
    conversation
        What was said.
    reason
        Why there is no answer.
    cut_off
        The beginning of an answer that was interrupted.
    """
    reviews = [placed.review for placed in conversation.reviews]
    said = [m.content.strip() for m in conversation.messages if m.role == "assistant"]
    calls = [call for message in conversation.messages for call in message.tool_calls]
    notes = [str(value) for c in calls if c.name == NOTE for value in c.arguments.values()]
    delegated = [
        result.answer
        for delegation in conversation.delegations
        for _, result in sorted(delegation.results.items())
        if result.status == "ok"
    ]
    sections = {
        "Confirmed": (fact for review in reviews for fact in review.confirmed),
        "Found by subagents": delegated,
        "Noted": notes,
        "Not verified": (each for review in reviews for each in review.assumptions),
        "Open": reviews[-1].gaps if reviews else (),
        "Said last": [text for text in said if text][-1:],
        "Interrupted while saying": [cut_off] if cut_off.strip() else [],
    }
    lines = [f"Not completed. {reason}".strip()]
    for heading, items in sections.items():
        kept = _each_once(items)
        lines += [f"\n{heading}:", *(f"- {item[:_CHARACTERS]}" for item in kept)] if kept else []
    if len(lines) == 1:
        done = _each_once(call.name for call in calls)
        lines.append(f"Nothing was found yet. Tools used: {', '.join(done) or 'none'}.")
    return "\n".join(lines)


def _each_once(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))

"""`record_review`: the tool by which a model writes down what it has confirmed and what not."""

from collections.abc import Mapping

from pydantic import JsonValue, TypeAdapter

from sciagent.agent.conversation import PlacedReview, SpanRecord
from sciagent.agent.evidence import RECORD_REVIEW, SourceTexts
from sciagent.agent.reviews import checked_review
from sciagent.contracts.agent import Review, SubagentEvidence
from sciagent.contracts.errors import InputError
from sciagent.contracts.events import ReviewRecorded
from sciagent.contracts.tool import ToolSpec
from sciagent.tools.context import ToolContext
from sciagent.tools.tool import Tool, ToolOutput

_FACTS: TypeAdapter[list[SubagentEvidence]] = TypeAdapter(list[SubagentEvidence])
_LISTS = ("assumptions", "rejected", "gaps")


def review_tool(record: SpanRecord, texts: SourceTexts) -> Tool:
    """Make the tool for one agent.

    Parameters
    ----------
    record
        Its conversation.
    texts
        What quotes are looked up in.
    """

    def run(_context: ToolContext, arguments: Mapping[str, JsonValue]) -> ToolOutput:
        given, review = _read(arguments)
        review = checked_review(given, review, texts)
        placed = PlacedReview(record.conversation.latest_answer, review)
        # A call that a crash left without an answer is made again; its review stands already.
        if placed not in record.conversation.reviews:
            record.write(ReviewRecorded(review=review))
        refused = [each for each in review.assumptions if "(not confirmed: " in each]
        lines = [f"Recorded; {len(review.confirmed)} of {len(given)} facts confirmed."]
        return ToolOutput("\n".join([*lines, *(f"Assumed only: {each}" for each in refused)]))

    return Tool(SPEC, run, origin="own", check=_check)


def _check(arguments: Mapping[str, JsonValue]) -> None:
    _read(arguments)


def _read(arguments: Mapping[str, JsonValue]) -> tuple[list[SubagentEvidence], Review]:
    known = {"confirmed", "next_step", *_LISTS}
    if unknown := set(arguments) - known:
        raise InputError(
            f"{RECORD_REVIEW} does not take {', '.join(sorted(unknown))}.",
            f"It takes {', '.join(sorted(known))}.",
        )
    try:
        given = _FACTS.validate_python(arguments.get("confirmed") or [])
        lists = {name: tuple(arguments.get(name) or ()) for name in _LISTS}  # type: ignore[arg-type]
        step = arguments.get("next_step") or ""
        return given, Review.model_validate({**lists, "next_step": step})
    except (ValueError, TypeError) as error:
        raise InputError(
            "The review cannot be read.",
            "confirmed is a list of objects with claim, url and quote; the others are lists of "
            "texts; next_step is a text.",
        ) from error


def _texts(description: str) -> dict[str, JsonValue]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


SPEC = ToolSpec(
    name=RECORD_REVIEW,
    description=(
        "Write down where you stand. A fact counts as confirmed only if its quote is found, word "
        "for word, in what was fetched from the url (tool:NAME for what a tool printed)."
    ),
    parameters={
        "type": "object",
        "properties": {
            "confirmed": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {name: {"type": "string"} for name in ("claim", "url", "quote")},
                    "required": ["claim", "url", "quote"],
                },
            },
            "assumptions": _texts("Believed, not verified."),
            "rejected": _texts("Paths given up, and why."),
            "gaps": _texts("Still open."),
            "next_step": {"type": "string"},
        },
    },
    read_only=True,
    approval="never",
)

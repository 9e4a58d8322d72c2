"""Self-reviews: recorded by a tool, or read from a model's reasoning."""

import re
from collections.abc import Sequence

from sciagent.agent.evidence import SourceTexts, fault_of
from sciagent.contracts.agent import Review, SubagentEvidence

_HEADINGS = {
    "confirmed": r"(?:confirmed|verified)(?: facts?)?",
    "assumptions": r"(?:unverified|unconfirmed)(?: assumptions?| facts?)?|assumptions?",
    "rejected": r"rejected(?: paths?| hypothes[ei]s| approaches)?",
    "gaps": r"(?:open|remaining|missing)?\s*(?:gaps?|issues|questions)",
    "next_step": r"next steps?",
}
_HEADING = re.compile(
    r"^[\s#*>\d.)-]*(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in _HEADINGS.items())
    + r")[*\s]*[::][*\s]*(?P<rest>.*)$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_EVIDENCE = re.compile(
    r"(?P<url>(?:https?|file|tool|doi|arxiv):[^\s\"“”()\[\]]+)\W{1,6}[\"“](?P<quote>[^\"“”]+)[\"”]"
)
_SECTIONS_OF_A_REVIEW = 2


def checked_review(
    confirmed: Sequence[SubagentEvidence], review: Review, texts: SourceTexts
) -> Review:
    """Let into `confirmed` only what stands in a stored source; the rest is an assumption."""
    facts, assumed = [], list(review.assumptions)
    for item in confirmed:
        fault = fault_of(item, texts)
        if fault:
            assumed.append(f"{item.claim} (not confirmed: {fault})")
        else:
            facts.append(f'{item.claim} ({item.url}: "{item.quote}")')
    return review.model_copy(update={"confirmed": tuple(facts), "assumptions": tuple(assumed)})


def parsed_review(text: str, texts: SourceTexts) -> Review | None:
    """Read a review from reasoning; none if it holds none.

    A review is recognised by two headings of its parts, such as ``Confirmed facts:``. A confirmed
    fact counts as such only with evidence of the form ``url: "quote"`` that is found; lines that
    belong to no part are kept as `text`.
    """
    parts: dict[str, list[str]] = {name: [] for name in _HEADINGS}
    rest: list[str] = []
    here = rest
    headings = set[str]()
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            name = next(name for name in _HEADINGS if heading[name])
            headings.add(name)
            here, line = parts[name], heading["rest"]
        item = _BULLET.sub("", line).strip()
        if item and item.casefold().strip(".") not in {"none", "-", "n/a"}:
            here.append(item)
    if len(headings) < _SECTIONS_OF_A_REVIEW:
        return None
    review = Review(
        assumptions=tuple(parts["assumptions"]), rejected=tuple(parts["rejected"]),
        gaps=tuple(parts["gaps"]), next_step=" ".join(parts["next_step"]), text="\n".join(rest),
    )  # fmt: skip
    return checked_review([_evidence(line) for line in parts["confirmed"]], review, texts)


def _evidence(line: str) -> SubagentEvidence:
    found = _EVIDENCE.search(line)
    if found is None:
        return SubagentEvidence(url="", quote="", claim=line)
    claim = (line[: found.start()] + line[found.end() :]).strip(" ([:,;)]") or found["quote"]
    return SubagentEvidence(url=found["url"].rstrip(":,;"), quote=found["quote"], claim=claim)

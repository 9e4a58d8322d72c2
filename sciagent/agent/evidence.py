"""Quotes looked up in the stored text of their source."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sciagent.contracts.agent import SubagentEvidence, SubagentResult
from sciagent.contracts.conversation import Message
from sciagent.literature.quoting.folding import fold, numbers_in
from sciagent.literature.quoting.locating import SHORTEST, locate
from sciagent.literature.quoting.support import missing_support
from sciagent.tools.boundary import results_in
from sciagent.tools.markup import escaped
from sciagent.workspace.layout import SOURCES

UNKNOWN = "UNKNOWN"
RECORD_REVIEW = "record_review"
_TOOL = "tool:"
_OWN_TOOLS = frozenset({"recall", "read_notes", "take_note", RECORD_REVIEW})


@dataclass(slots=True)
class StoredTexts:
    """The texts kept under `sources/`, by the address they came from.

    Each description is read once; new ones are looked for when they are asked for.
    """

    root: Path
    _paths: dict[str, list[Path]] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set)
    _reading: threading.Lock = field(default_factory=threading.Lock)

    def text(self, url: str) -> str | None:
        """Return all that was fetched from an address; none if nothing was."""
        with self._reading:
            self._look()
        texts = [path.read_text(encoding="utf-8") for path in self._paths.get(url, ())]
        return "\n".join(texts) if texts else None

    def _look(self) -> None:
        for path in sorted((self.root / SOURCES).glob("*.json")):
            if path.name not in self._read:
                self._read.add(path.name)
                about = json.loads(path.read_text(encoding="utf-8"))
                text = path.with_name(f"{about['sha256']}.txt")
                self._paths.setdefault(about["url"], []).append(text)


@dataclass(frozen=True, slots=True)
class SourceTexts:
    """Where the quotes of one agent are looked up.

    Attributes
    ----------
    stored
        Gives the text that was fetched from an address, or none.
    messages
        The agent's conversation: ``tool:NAME`` stands for what a tool gave in it.
    """

    stored: Callable[[str], str | None]
    messages: Sequence[Message] = ()

    def text(self, url: str) -> str | None:
        """Return the text behind an address or a tool's name; none if there is none."""
        if not url.startswith(_TOOL):
            return self.stored(url)
        tool = url.removeprefix(_TOOL)
        texts = [
            result.text
            for message in self.messages
            if message.role == "tool" and tool not in _OWN_TOOLS
            for result in results_in(message.content)
            if result.label.tool == tool and result.label.origin in {"workspace", "outside"}
            if result.label.status == "ok"
        ]
        return "\n".join(texts) if texts else None

    def is_own_word(self, url: str, quote: str) -> bool:
        """Whether what a tool gave only repeats what the agent had written into a call."""
        said = fold(quote).text
        return url.startswith(_TOOL) and any(
            said in fold(str(value)).text
            for message in self.messages
            for call in message.tool_calls
            if call.name != RECORD_REVIEW
            for value in call.arguments.values()
        )


def fault_of(item: SubagentEvidence, texts: SourceTexts) -> str:
    """Say why a piece of evidence does not count; empty if its quote stands in its source.

    Every number and negation of the claim must stand in the quote too.
    """
    if not item.url or not item.quote:
        return "no source and quote are given"
    if len(fold(item.quote).text) < SHORTEST:
        return f"the quote {item.quote!r} is too short to be found reliably"
    text = texts.text(item.url)
    if text is None:
        return f"nothing was fetched from {item.url}"
    # What the agent saw had passed the boundary, where control tokens are escaped.
    if locate(item.quote, text) is None and locate(item.quote, escaped(text)) is None:
        return f"the quote {_short(item.quote)!r} is not in the stored text of {item.url}"
    if texts.is_own_word(item.url, item.quote):
        return f"the quote {_short(item.quote)!r} is what you wrote into a call yourself"
    missing = missing_support("", item.claim, item.quote) if item.claim.strip() else ()
    return f"{missing[0]}: {_short(item.quote)!r}" if missing else ""


def checked_result(result: SubagentResult, texts: SourceTexts) -> SubagentResult:
    """Lower the status of a result whose evidence does not hold, and say why.

    Only evidence that was found is kept. A result that is unresolved answers "UNKNOWN"; what
    the subagent had said instead stays among the unresolved issues.
    """
    faults = [(item, fault_of(item, texts)) for item in result.evidence]
    issues = [*result.unresolved_issues, *(f"Evidence refused: {why}." for _, why in faults if why)]
    status = result.status
    if status == "ok" and not faults:
        issues.append("Evidence refused: none was given.")
    if status == "ok" and (not faults or any(why for _, why in faults)):
        status = "insufficient_evidence"
    answer = result.answer
    held = {number for item, why in faults if not why for number in numbers_in(item.quote)}
    unheld = [number for number in dict.fromkeys(numbers_in(answer)) if number not in held]
    if status == "ok" and unheld:
        issues.append(f"No quote holds {', '.join(unheld)}: computed or assumed.")
    if status in {"unknown", "insufficient_evidence"} and answer != UNKNOWN:
        if answer.strip():
            issues.append(f"Not relied on: {answer}")
        answer = UNKNOWN
    return SubagentResult(
        answer=answer, status=status, evidence=tuple(item for item, why in faults if not why),
        unresolved_issues=tuple(issues),
    )  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"

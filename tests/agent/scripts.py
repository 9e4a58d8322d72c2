"""What the scripted models of these tests answer, and a journal that dies."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sciagent.contracts.events import Event, EventBody
from sciagent.contracts.ports import Journal
from sciagent.testing.model_server import (
    Policy,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    in_turn,
    saying,
)

URL = "https://example.org/iron"
PAGES = {
    URL: "Iron melts at 1538 °C under normal pressure. Its lattice is body-centred cubic.",
    "https://example.org/gold": "Gold melts at 1064 °C under normal pressure.",
}


def calling_each(*calls: tuple[str, dict[str, Any]]) -> ScriptedAnswer:
    return ScriptedAnswer(calls=tuple(ScriptedCall(name, arguments) for name, arguments in calls))


def is_subagent(request: ScriptedRequest) -> bool:
    return request.system.startswith("You are a subagent")


def delegating(tasks: Sequence[str], subagent: Policy) -> Policy:
    """Delegate the tasks in one batch, then repeat what came back."""
    batch = [{"task": task, "context": "none", "expected_output": "a number"} for task in tasks]

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if is_subagent(request):
            return subagent(request)
        if not request.results("spawn_subagent"):
            return calling_each(("spawn_subagent", {"tasks": batch}))
        return saying(request.results("spawn_subagent")[-1])

    return policy


def finding(
    answer: str = "1538",
    status: str = "ok",
    evidence: Sequence[dict[str, str]] = (
        {"url": URL, "quote": "Iron melts at 1538 °C", "claim": "It melts at 1538 °C."},
    ),
) -> ScriptedAnswer:
    """A subagent's answer."""
    return saying(
        json.dumps(
            {
                "answer": answer,
                "status": status,
                "evidence": list(evidence),
                "unresolved_issues": [],
            }
        )
    )


reading_then_finding = in_turn(calling_each(("read_page", {"url": URL})), finding())


def results_in_answer(text: str) -> list[dict[str, Any]]:
    """The subagents' results as the main agent saw and repeated them."""
    found: list[dict[str, Any]] = json.loads(text[text.index("[{") : text.rindex("}]") + 2])
    return found


class Killed(BaseException):
    """The process is gone."""


class MortalJournal:
    """A journal whose owner dies at a write: before it, or right after it (a `Journal`)."""

    def __init__(self, journal: Journal, at: int, *, after: bool) -> None:
        self._journal, self._left, self._after = journal, at, after

    def _write(self, bodies: Sequence[EventBody], **names: str) -> list[Event]:
        self._left -= 1
        if self._left < 0 or (self._left == 0 and not self._after):
            raise Killed
        events = self._journal.append_many(bodies, **names)
        if self._left == 0:
            raise Killed
        return events

    def append(self, body: EventBody, **names: str) -> Event:
        return self._write([body], **names)[0]

    def append_unwaited(self, body: EventBody, *, study: str = "") -> Event:
        return self._write([body], study=study)[0]

    def append_many(self, bodies: Sequence[EventBody], **names: str) -> list[Event]:
        return self._write(bodies, **names)

    def events(self) -> Iterator[Event]:
        return self._journal.events()

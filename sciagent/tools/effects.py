"""Uses of tools that change something: journaled before they act, and never carried out twice."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import Literal

from pydantic import JsonValue

from sciagent.contracts.events import EffectFinished, EffectStarted
from sciagent.contracts.model import sha256_text
from sciagent.contracts.ports import Journal

_LONGEST_TEXT = 2_000


def effect_id(agent: str, call: str) -> str:
    """Name the effect of a call; calls are unique within the conversation of one agent."""
    return f"{agent}:{call}"


@dataclass(slots=True)
class EffectLedger:
    """All effects of a run, by their identifier; shared by all of its agents.

    It is read from the journal when it is first asked.
    """

    journal: Journal
    _started: dict[str, EffectStarted] = field(default_factory=dict)
    _finished: dict[str, EffectFinished] = field(default_factory=dict)
    _loaded: bool = False
    _lock: RLock = field(default_factory=RLock, repr=False)

    def _load(self) -> None:
        if self._loaded:
            return
        for event in self.journal.events():
            if isinstance(event.body, EffectStarted):
                self._started[event.body.effect] = event.body
            elif isinstance(event.body, EffectFinished):
                self._finished[event.body.effect] = event.body
        self._loaded = True

    def finished(self, effect: str) -> EffectFinished | None:
        """How an effect ended, if it did."""
        with self._lock:
            self._load()
            return self._finished.get(effect)

    def begun(self, effect: str) -> bool:
        """Whether an effect was ever begun."""
        with self._lock:
            self._load()
            return effect in self._started

    def begin(
        self, effect: str, tool: str, arguments: Mapping[str, JsonValue], *, span: str, parent: str
    ) -> bool:
        """Journal that a tool is about to act; false if it was begun before: do not act then."""
        with self._lock:
            self._load()
            if effect in self._started:
                return False
            body = EffectStarted(
                effect=effect, tool=tool, read_only=False, arguments=journalable(arguments)
            )
            self.journal.append(body, span=span, parent=parent)
            self._started[effect] = body
            return True

    def end(
        self,
        effect: str,
        status: Literal["ok", "failed", "interrupted"],
        detail: str,
        *,
        span: str,
        parent: str,
    ) -> None:
        """Journal how it ended; `detail` is the result, so that a resumed agent learns it."""
        body = EffectFinished(effect=effect, status=status, detail=detail)
        with self._lock:
            self.journal.append(body, span=span, parent=parent)
            self._finished[effect] = body

    def arguments_of(self, tool: str) -> list[dict[str, JsonValue]]:
        """Arguments of all uses of a tool, as the journal keeps them."""
        with self._lock:
            self._load()
            return [body.arguments for body in self._started.values() if body.tool == tool]


def journalable(arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Arguments as the journal can hold them, with long texts cut.

    The model's own message holds them whole. Half characters, which a model can write but files
    cannot hold, are replaced.
    """
    return {_valid(name): _held(value) for name, value in arguments.items()}


def _held(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return journalable(value)
    if isinstance(value, list):
        return [_held(each) for each in value]
    return _valid(value) if isinstance(value, str) else value


def _valid(text: str) -> str:
    valid = text.encode("utf-8", "replace").decode()
    if len(valid) <= _LONGEST_TEXT:
        return valid
    return f"{valid[:_LONGEST_TEXT]}… ({len(valid)} characters, SHA-256 {sha256_text(valid)})"

"""Which agents have read text from outside, and whether an argument repeats it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock

from pydantic import JsonValue

from sciagent.contracts.conversation import Message
from sciagent.tools.boundary import results_in

WINDOW = 40
"""Characters in a row that count as repeated; a shorter argument counts if it is there whole."""

SHORTEST = 12
"""Arguments shorter than this are words that anyone may use."""


@dataclass(slots=True)
class Taint:
    """What one agent has read from outside.

    Attributes
    ----------
    agents
        Names of all agents of the run that have read any: shared by all of them, since they
        write into one workspace.
    """

    agents: set[str] = field(default_factory=set)
    _texts: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def child(self) -> "Taint":
        """Taint of a subagent: it has read nothing yet, but shares the workspace."""
        return Taint(agents=self.agents)

    @property
    def read_any(self) -> bool:
        """Whether this agent has read text from outside."""
        return bool(self._texts)

    @property
    def in_workspace(self) -> bool:
        """Whether any agent has, so that files may hold some of it."""
        return bool(self.agents)

    def add(self, agent: str, text: str) -> None:
        """Note what an agent was shown."""
        with self._lock:
            self._texts.append(_folded(text))
            self.agents.add(agent)

    def learn(self, agent: str, messages: Iterable[Message]) -> None:
        """Note what stands in the messages of a resumed conversation."""
        for message in messages:
            for result in results_in(message.content) if message.role == "tool" else ():
                if result.label.fetched:
                    self.add(agent, result.text)

    def repeated_in(self, value: JsonValue) -> str:
        """Find a piece of text from outside in a value, at any depth; empty if there is none.

        A text counts as repeated if `WINDOW` characters in a row were read from outside (up to
        half a window at its ends may hide), or all of it if it is shorter.
        """
        for text in _strings(value):
            folded = _folded(text)
            for piece in _pieces(folded):
                if any(piece in read for read in self._texts):
                    return piece
        return ""


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= WINDOW:
        if len(text) >= SHORTEST:
            yield text
        return
    for start in range(0, len(text) - WINDOW // 2, WINDOW // 2):
        yield text[start : start + WINDOW]


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _strings(each)

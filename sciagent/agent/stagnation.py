"""Whether an agent still learns something: repeated calls and results that were seen before."""

from collections import Counter
from dataclasses import dataclass, field

from sciagent.contracts.conversation import Message
from sciagent.contracts.model import canonical_json

_REPEATS = 3


@dataclass(slots=True)
class Watch:
    """Follows a conversation message by message.

    Attributes
    ----------
    idle_turns
        Answers in a row whose calls brought nothing that had not been seen before.
    """

    idle_turns: int = 0
    _read: int = 0
    _results: set[int] = field(default_factory=set)
    _calls: Counter[str] = field(default_factory=Counter)
    _fresh: bool = True
    _repeated: str = ""

    def follow(self, messages: list[Message]) -> None:
        """Read the messages that are new since the last time."""
        for message in messages[self._read :]:
            if message.role == "assistant":
                self.idle_turns = 0 if self._fresh else self.idle_turns + 1
                self._fresh = not message.tool_calls
                for call in message.tool_calls:
                    self._count(f"{call.name} {canonical_json(call.arguments)}", call.name)
            elif message.role == "tool":
                known = hash(message.content)
                self._fresh = self._fresh or known not in self._results
                self._results.add(known)
        self._read = len(messages)

    def _count(self, key: str, name: str) -> None:
        self._calls[key] += 1
        if self._calls[key] >= _REPEATS and self._calls[key] % _REPEATS == 0:
            self._repeated = name

    def warning(self) -> str:
        """Say, once for each occasion, which call goes round in circles; empty if none."""
        name, self._repeated = self._repeated, ""
        if not name:
            return ""
        return (
            f"You have called {name} with the same arguments {_REPEATS} times or more. Say what "
            "is known and what is missing, then try something else or give your answer."
        )

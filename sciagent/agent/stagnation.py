"""Whether an agent still learns something: repeated calls and results that were seen before."""

from collections import Counter
from collections.abc import Sequence
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
    _asked: dict[str, tuple[str, str]] = field(default_factory=dict)
    _same: Counter[tuple[str, int]] = field(default_factory=Counter)
    _fresh: bool = True
    _repeated: str = ""

    def follow(self, messages: Sequence[Message]) -> None:
        """Read the messages that are new since the last time."""
        for message in messages[self._read :]:
            if message.role == "assistant":
                self.idle_turns = 0 if self._fresh else self.idle_turns + 1
                self._fresh = not message.tool_calls
                self._asked = {
                    call.id: (call.name, canonical_json(call.arguments))
                    for call in message.tool_calls
                }
            elif message.role == "tool":
                self._take(message)
        self._read = len(messages)

    def _take(self, message: Message) -> None:
        result = hash(message.content)
        self._fresh = self._fresh or result not in self._results
        self._results.add(result)
        name, arguments = self._asked.get(message.tool_call_id, ("", ""))
        self._same[f"{name} {arguments}", result] += 1
        if self._same[f"{name} {arguments}", result] % _REPEATS == 0:
            self._repeated = name

    def warning(self) -> str:
        """Say, once for each occasion, which call goes round in circles; empty if none."""
        name, self._repeated = self._repeated, ""
        if not name:
            return ""
        return (
            f"You have called {name} with the same arguments {_REPEATS} times or more, and got the "
            "same. Say what is known and what is missing, then try something else or answer."
        )

"""Stop and steer: what people tell a running agent through the inbox."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from sciagent.agent.conversation import SpanRecord, said_by_user
from sciagent.contracts.events import ChangeDecided, CommandTaken, EventBody
from sciagent.contracts.ports import Inbox
from sciagent.contracts.run import Command

_LOOK_S = 0.2
_DECISIONS = frozenset({"accept", "revert"})
_TAKEN = frozenset({"stop", "steer"}) | _DECISIONS


def _decided(command: Command) -> ChangeDecided:
    """What whoever sent a command has done with a change to a file of the user's."""
    return ChangeDecided(
        path=str(command.arguments.get("path", "")),
        decision="accepted" if command.command == "accept" else "reverted",
        sha256=str(command.arguments.get("sha256", "")),
        author=command.author,
    )


@dataclass(slots=True)
class Steering:
    """Looks into the inbox for commands to an agent; other commands are left there.

    Attributes
    ----------
    inbox
        Where people leave commands; none for agents that nobody can speak to.
    cancelled
        Whether someone else, such as the agent that delegated, asks to stop.
    """

    inbox: Inbox | None = None
    cancelled: Callable[[], bool] = lambda: False
    _stopped: bool = False
    _looked: float = field(default=-1.0)

    def stop_asked(self) -> bool:
        """Whether to stop; cheap enough to be asked between pieces of an answer."""
        self._stopped = self._stopped or self.cancelled()
        if self._stopped:
            return True
        if self.inbox is not None and time.monotonic() - self._looked >= _LOOK_S:
            self._looked = time.monotonic()
            self._stopped = any(each.command == "stop" for each in self.inbox.take())
        return self._stopped

    def obeyed(self, record: SpanRecord) -> bool:
        """Write the waiting commands into the conversation, and say whether it must end.

        A message of the user never stands between a call and its result: while calls are
        pending, only a stop is taken.
        """
        commands, pending = self.commands(), bool(record.conversation.pending)
        stopped = self.stop_asked() or any(each.command == "stop" for each in commands)
        if pending:
            commands = [each for each in commands if each.command == "stop"]
        bodies: list[EventBody] = []
        for command in commands:
            bodies.append(CommandTaken(command=command))
            if command.command == "steer":
                bodies.append(said_by_user(str(command.arguments.get("text", ""))))
            elif command.command in _DECISIONS:
                bodies.append(_decided(command))
        if bodies:
            record.write_all(bodies)
        for command in commands:
            self.done(command)
        return stopped

    def commands(self) -> list[Command]:
        """Return the waiting commands to an agent, oldest first."""
        if self.inbox is None:
            return []
        return [each for each in self.inbox.take() if each.command in _TAKEN]

    def forget(self, taken: Collection[str]) -> None:
        """Remove commands that an earlier owner took but had no time to remove."""
        for command in self.commands():
            if command.id in taken:
                self.done(command)

    def done(self, command: Command) -> None:
        """Remove a command that is in the journal."""
        if self.inbox is not None:
            self.inbox.done(command)

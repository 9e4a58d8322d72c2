"""Commands from the inbox: journaled first, then acted on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from sciagent.contracts.events import CommandTaken
from sciagent.contracts.ports import Inbox, Journal
from sciagent.contracts.run import Command


class StopDesk(Protocol):
    """Knows whether someone asks to stop."""

    def stop_asked(self) -> bool:
        """Say whether to stop; asked often."""
        ...


@dataclass(frozen=True, slots=True)
class StopFlag:
    """A stop that someone else watches for, such as the agent that drives the study."""

    cancelled: Callable[[], bool]

    def stop_asked(self) -> bool:
        """Say whether to stop."""
        return self.cancelled()


@dataclass(slots=True)
class CommandDesk:
    """Takes what others left in the inbox and keeps what has not been acted on."""

    inbox: Inbox
    journal: Journal
    waiting: list[Command] = field(default_factory=list)

    def stop_asked(self) -> bool:
        """Take new commands into the journal and say whether one of them asks to stop."""
        for command in self.inbox.take():
            self.journal.append(CommandTaken(command=command))
            self.inbox.done(command)
            self.waiting.append(command)
        stops = [command for command in self.waiting if command.command == "stop"]
        self.waiting = [command for command in self.waiting if command.command != "stop"]
        return bool(stops)

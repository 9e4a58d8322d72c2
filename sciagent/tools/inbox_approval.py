"""A person who answers through the workspace's inbox."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from sciagent.contracts.events import CommandTaken
from sciagent.contracts.ports import Inbox, Journal
from sciagent.contracts.run import Command
from sciagent.tools.approval import ApprovalAnswer, ApprovalQuestion
from sciagent.tools.context import never

_ANSWERS = frozenset({"approve", "deny"})


@dataclass(slots=True)
class InboxApproval:
    """Waits for a command `approve` or `deny` whose argument `effect` names the question.

    One object serves all agents of a run, from any thread. Other commands, and answers to other
    questions, are left in the inbox: an approval never counts for another question than its own.

    Attributes
    ----------
    inbox, journal
        Where people leave commands, and where they are recorded before they count.
    cancelled
        Whether to stop waiting; the question is then denied.
    wait_s
        Seconds to wait at most; none waits until there is an answer.
    look_s
        Seconds between looks into the inbox.
    """

    inbox: Inbox
    journal: Journal
    cancelled: Callable[[], bool] = never
    wait_s: float | None = None
    look_s: float = 0.2
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __call__(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """Wait for the answer to a question."""
        until = None if self.wait_s is None else time.monotonic() + self.wait_s
        while True:
            command = self._answer_to(question.effect)
            if command is not None:
                comment = str(command.arguments.get("comment", ""))
                return ApprovalAnswer(command.command == "approve", comment, command.author)
            if self.cancelled():
                return ApprovalAnswer(False, "the run is being stopped")
            if until is not None and time.monotonic() >= until:
                return ApprovalAnswer(False, f"nobody answered within {self.wait_s:g} s")
            time.sleep(self.look_s)

    def _answer_to(self, effect: str) -> Command | None:
        with self._lock:
            for command in self.inbox.take():
                if command.command in _ANSWERS and command.arguments.get("effect") == effect:
                    self.journal.append(CommandTaken(command=command))
                    self.inbox.done(command)
                    return command
        return None

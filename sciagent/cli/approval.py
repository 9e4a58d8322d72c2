"""Asks the person at a terminal whether a tool may act."""

import select
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from rich.console import Console
from rich.text import Text

from sciagent.tools.approval import ApprovalAnswer, ApprovalQuestion

_LOOK_S = 0.2
_YES = frozenset({"y", "yes"})
_NO = frozenset({"n", "no"})

ReadLine = Callable[[Callable[[], bool]], str | None]
"""Reads an answer; none at the end of the input, or when the function it is given turns true."""


def nobody_at_the_terminal(_question: ApprovalQuestion) -> ApprovalAnswer:
    """Deny: there is no terminal at which a person could be asked."""
    return ApprovalAnswer(
        False,
        "nobody could be asked, because the standard input is no terminal; with --approve "
        "auto-safe or auto fewer questions are asked",
    )


def line_of_terminal(cancelled: Callable[[], bool]) -> str | None:
    """Read a line of the standard input, and look whether it is still wanted meanwhile."""
    while not cancelled():
        ready, _, _ = select.select([sys.stdin], [], [], _LOOK_S)
        if ready:
            return sys.stdin.readline() or None
    return None


class TerminalApproval:
    """Asks ``y`` or ``n``; words behind either are told to the agent.

    Parameters
    ----------
    console
        Where questions are written.
    cancelled
        Whether the run is being stopped; the question is then denied.
    alone
        Keeps everything else from being written while a question stands.
    read_line
        Reads one answer.
    """

    def __init__(
        self,
        console: Console,
        cancelled: Callable[[], bool],
        alone: Callable[[], AbstractContextManager[None]],
        read_line: ReadLine = line_of_terminal,
    ) -> None:
        self._console = console
        self._cancelled = cancelled
        self._alone = alone
        self._read_line = read_line

    def __call__(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """Ask one question, and again until the answer can be read."""
        with self._alone():
            self._say(question.text, "bold yellow")
            while True:
                self._console.print(Text("y or n> ", style="cyan"), end="", soft_wrap=True)
                line = self._read_line(self._cancelled)
                if line is None:
                    return ApprovalAnswer(False, "there was no answer", "terminal")
                first, _, comment = line.strip().partition(" ")
                word = first.casefold().rstrip(",.:;!")
                if word in _YES | _NO:
                    return ApprovalAnswer(word in _YES, comment.strip(), "terminal")
                self._say("Answer y or n; what you write behind it is told to the agent.", "dim")

    def _say(self, text: str, style: str) -> None:
        self._console.print(Text(text, style=style), soft_wrap=True)

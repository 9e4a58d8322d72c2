"""Who decides whether a tool may act.

============= ==========================================================================
``ask``       a person is asked before every tool that wants approval
``auto-safe`` asked only if the action may depend on text from outside
``auto``      never asked
============= ==========================================================================

An action may depend on text from outside if its tool wants approval and the agent has read any,
or if its arguments repeat some of it (`sciagent.tools.taint`). Tools whose effects are the
agent's own words in the workspace, such as notes and the report, are free to quote.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from sciagent.contracts.tool import ToolSpec
from sciagent.tools.boundary import Origin
from sciagent.tools.markup import inline
from sciagent.tools.taint import Taint

ApprovalMode = Literal["ask", "auto-safe", "auto"]

_LONGEST_SHOWN = 4_000


@dataclass(frozen=True, slots=True)
class ApprovalQuestion:
    """What a person is asked.

    Attributes
    ----------
    effect
        Names the question; an answer through the inbox repeats it.
    tool, arguments
        What is to be done, without secrets.
    reason
        Why it is asked.
    agent
        Who wants to do it.
    """

    effect: str
    tool: str
    arguments: Mapping[str, JsonValue]
    reason: str
    agent: str = "main"

    @property
    def text(self) -> str:
        """The question in words, safe to print: the arguments may be a stranger's."""
        lines = [f"May {self.agent} use {self.tool}? {self.reason}"]
        lines += [
            f"  {name} = {inline(str(value), _LONGEST_SHOWN)}"
            for name, value in self.arguments.items()
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """What a person decided, and what they say about it."""

    approved: bool
    comment: str = ""
    author: str = ""


AskApproval = Callable[[ApprovalQuestion], ApprovalAnswer]
"""Asks a person and waits for the answer."""


def nobody_to_ask(question: ApprovalQuestion) -> ApprovalAnswer:
    """Deny: the answer where there is no person."""
    return ApprovalAnswer(False, f"there is nobody who could be asked about {question.tool}")


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """Says whether a person must be asked, and why.

    Attributes
    ----------
    mode
        See the table of this module.
    allowed
        Tools that the person has allowed for the whole run; they are asked about only if the
        action may depend on text from outside.
    """

    mode: ApprovalMode = "ask"
    allowed: frozenset[str] = field(default_factory=frozenset)

    def reason_to_ask(
        self, spec: ToolSpec, origin: Origin, arguments: Mapping[str, JsonValue], taint: Taint
    ) -> str:
        """Say why a person must be asked; empty if nobody needs to be."""
        if self.mode == "auto":
            return ""
        if dependence := _dependence(spec, origin, arguments, taint):
            return dependence
        if self.mode == "ask" and spec.approval == "ask" and spec.name not in self.allowed:
            return "Its effects need approval."
        return ""


def _dependence(
    spec: ToolSpec, origin: Origin, arguments: Mapping[str, JsonValue], taint: Taint
) -> str:
    if spec.approval == "ask" and taint.read_any:
        return "The agent has read text from outside, which may have led to this."
    if spec.read_only or origin == "own":
        return ""
    if piece := taint.repeated_in(dict(arguments)):
        return f"Its arguments repeat text from outside: “{inline(piece, 60)}”."
    return ""

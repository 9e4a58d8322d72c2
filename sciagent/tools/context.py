"""All that a tool may know of the run and of the agent that calls it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from sciagent.contracts.ports import CodeRunner, Journal, Literature
from sciagent.tools.approval import ApprovalRule, AskApproval, nobody_to_ask
from sciagent.tools.boundary import Boundary
from sciagent.tools.effects import EffectLedger
from sciagent.tools.ports import Studies
from sciagent.tools.secrets import Redactor
from sciagent.tools.spill import SpillLimits
from sciagent.tools.taint import Taint
from sciagent.workspace.layout import Layout


def never() -> bool:
    """Whether the work should end: never."""
    return False


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What tools act on and through. One for each agent; `child` makes that of a subagent.

    Attributes
    ----------
    root
        The workspace.
    journal
        The run's record; it must be safe to write from several threads if agents run so.
    span, parent
        Name of the agent in the journal, and of the agent that it works for.
    literature, code, studies
        Ports; none where the run does not have them.
    ask_approval, approval
        Who is asked, and when.
    cancelled
        Whether the work should end now.
    boundary
        The fences of the run.
    taint
        What the agent has read from outside.
    redactor
        Takes secrets out of outputs.
    takes_images
        Whether the model can be shown pictures.
    limits
        When outputs are spilled.
    effects
        Uses of tools with effects, by the journal.
    """

    root: Path
    journal: Journal
    span: str = "main"
    parent: str = ""
    literature: Literature | None = None
    code: CodeRunner | None = None
    studies: Studies | None = None
    ask_approval: AskApproval = nobody_to_ask
    approval: ApprovalRule = field(default_factory=ApprovalRule)
    cancelled: Callable[[], bool] = never
    boundary: Boundary = field(default_factory=Boundary)
    taint: Taint = field(default_factory=Taint)
    redactor: Redactor = field(default_factory=Redactor)
    takes_images: bool = False
    limits: SpillLimits = field(default_factory=SpillLimits)
    effects: EffectLedger = None  # type: ignore[assignment] # never none once it is made

    def __post_init__(self) -> None:
        if self.effects is None:
            object.__setattr__(self, "effects", EffectLedger(self.journal))

    @property
    def layout(self) -> Layout:
        """Paths of the workspace."""
        return Layout(self.root)

    def child(self, span: str) -> "ToolContext":
        """Context of a subagent: the same run, a kernel of its own, and nothing read yet."""
        code = None if self.code is None else self.code.for_agent(span)
        taint = self.taint.child()
        return replace(self, span=span, parent=self.span, taint=taint, code=code)

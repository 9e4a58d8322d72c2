"""The events of the journal: the only state of a run.

Every line of `events.jsonl` is one `Event`. Its `body` says by `kind` what happened. `hash` is
the SHA-256 of the previous line's hash followed by the canonical JSON of this line without
`hash`; the first line follows `GENESIS`.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sciagent.contracts.agent import (
    AgentBudget,
    AgentOutcome,
    Review,
    StageRecord,
    SubagentResult,
    SubagentTask,
)
from sciagent.contracts.artifact import Artifact
from sciagent.contracts.conversation import Message, Usage
from sciagent.contracts.model import SCHEMA_VERSION, Contract
from sciagent.contracts.run import Command, RunRequest
from sciagent.contracts.study import Budget, Conclusion, Decision, Objective, Outcome, Proposal

GENESIS = "0" * 64


class RunStarted(Contract):
    """A workspace was made for a request."""

    kind: Literal["run_started"] = "run_started"
    schema_version: int = SCHEMA_VERSION
    run: str
    request: RunRequest


class OwnerStarted(Contract):
    """A process took the workspace: the first time, or to resume."""

    kind: Literal["owner_started"] = "owner_started"
    owner: str = Field(description="Process and host.")
    recovered: str = Field(default="", description="What had to be mended in the journal.")


class OwnerStopped(Contract):
    """The process let go of the workspace before the run was finished."""

    kind: Literal["owner_stopped"] = "owner_stopped"
    reason: str
    wall_s: float = Field(default=0.0, json_schema_extra={"unit": "s"})


class StudyOpened(Contract):
    """A study of the run began."""

    kind: Literal["study_opened"] = "study_opened"
    question: str
    objective: Objective
    budget: Budget
    inputs: dict[str, tuple[Artifact, ...]] | None = Field(
        default=None, description="Its own files; none: those of the run's request."
    )
    settings: dict[str, JsonValue] | None = Field(
        default=None, description="Its own settings; none: those of the run's request."
    )


class TrialProposed(Contract):
    """A proposal was committed, before it runs."""

    kind: Literal["trial_proposed"] = "trial_proposed"
    trial: int
    proposal: Proposal
    batch: int = Field(description="First trial of its batch, whose trials may run side by side.")
    batch_size: int = Field(ge=1, description="Proposals of the batch.")
    rule: Literal["first", "best", "all"] = "first"


class TrialStarted(Contract):
    """A trial was handed to a worker."""

    kind: Literal["trial_started"] = "trial_started"
    trial: int


class TrialFinished(Contract):
    """A trial's outcome was read."""

    kind: Literal["trial_finished"] = "trial_finished"
    trial: int
    outcome: Outcome
    adopted: bool = Field(
        default=False, description="Found finished on resume, and not executed again."
    )


class TrialDecided(Contract):
    """A trial was accepted, rejected or superseded."""

    kind: Literal["trial_decided"] = "trial_decided"
    trial: int
    decision: Decision


class TrialInvalidated(Contract):
    """A trial no longer counts, and what descends from it neither."""

    kind: Literal["trial_invalidated"] = "trial_invalidated"
    trial: int
    reason: str


class SealedOpened(Contract):
    """The sealed evaluation was opened, once, after the last decision."""

    kind: Literal["sealed_opened"] = "sealed_opened"
    trial: int
    outcome: Outcome


class StudyConcluded(Contract):
    """A study ended."""

    kind: Literal["study_concluded"] = "study_concluded"
    conclusion: Conclusion


class CommandTaken(Contract):
    """A command from the inbox was read; acting on it follows."""

    kind: Literal["command_taken"] = "command_taken"
    command: Command


class EffectStarted(Contract):
    """A tool with effects outside the trials is about to act."""

    kind: Literal["effect_started"] = "effect_started"
    effect: str = Field(description="Identifier of this use.")
    tool: str
    read_only: bool
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class EffectFinished(Contract):
    """A tool's effect ended, or was found interrupted on resume."""

    kind: Literal["effect_finished"] = "effect_finished"
    effect: str
    status: Literal["ok", "failed", "interrupted"]
    detail: str = ""


class ApprovalAsked(Contract):
    """A person is asked whether a tool may act; a command `approve` or `deny` answers."""

    kind: Literal["approval_asked"] = "approval_asked"
    effect: str = Field(description="Names the question: the answer's argument `effect`.")
    tool: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    reason: str


class ApprovalAnswered(Contract):
    """The question was answered, or nobody could be asked."""

    kind: Literal["approval_answered"] = "approval_answered"
    effect: str
    approved: bool
    author: str = ""
    comment: str = ""


class AgentStarted(Contract):
    """An agent, or a subagent, began; its `span` names it in all its events."""

    kind: Literal["agent_started"] = "agent_started"
    task: str
    tools: tuple[str, ...]
    budget: AgentBudget
    verification: bool = False


class MessageAdded(Contract):
    """A message joined an agent's conversation: the conversation is these events."""

    kind: Literal["message_added"] = "message_added"
    message: Message


class ModelAnswered(Contract):
    """A call of the model ended; its message follows as `MessageAdded` in the same write."""

    kind: Literal["model_answered"] = "model_answered"
    usage: Usage
    finish: str
    repairs: tuple[str, ...] = ()
    wall_s: float = Field(default=0.0, json_schema_extra={"unit": "s"})


class ReviewRecorded(Contract):
    """A verification point."""

    kind: Literal["review_recorded"] = "review_recorded"
    review: Review


class StageCompacted(Contract):
    """A stretch of the conversation was replaced in the prompt by its record."""

    kind: Literal["stage_compacted"] = "stage_compacted"
    record: StageRecord


class Delegated(Contract):
    """A batch of subagents was sent out."""

    kind: Literal["delegated"] = "delegated"
    batch: str
    composition: Literal["exploratory", "constructive", "diagnosis"]
    tasks: tuple[SubagentTask, ...]


class DelegationReturned(Contract):
    """One subagent of a batch returned."""

    kind: Literal["delegation_returned"] = "delegation_returned"
    batch: str
    place: int = Field(description="Place in the batch, counted from 0.")
    result: SubagentResult
    usage: Usage = Usage()


class AgentEnded(Contract):
    """An agent ended."""

    kind: Literal["agent_ended"] = "agent_ended"
    outcome: AgentOutcome


class CellRan(Contract):
    """A cell of code ended; the event's `span` is the agent that ran it."""

    kind: Literal["cell_ran"] = "cell_ran"
    cell: str = Field(description="Its identifier in `record.ipynb`.")
    status: Literal["ok", "error", "timeout", "kernel_died", "interrupted"]
    detail: str = ""
    code_sha256: str
    files: tuple[str, ...] = Field(
        default=(), description="Made, changed or removed in the workspace while it ran."
    )
    connections: tuple[str, ...] = Field(
        default=(), description="Whom its Python code asked for; a sandbox refuses them all."
    )
    wall_s: float = Field(default=0.0, json_schema_extra={"unit": "s"})


class KernelChanged(Contract):
    """A kernel began or ended; the event's `span` is the agent that it belongs to."""

    kind: Literal["kernel_changed"] = "kernel_changed"
    change: Literal[
        "started", "died", "ended", "paused", "resumed", "recreated", "saved", "restored"
    ]
    sandbox: str = Field(default="", description="How it is confined.")
    detail: str = ""
    resident_before_mib: float | None = Field(default=None, json_schema_extra={"unit": "MiBy"})
    resident_after_mib: float | None = Field(default=None, json_schema_extra={"unit": "MiBy"})


class FolderCopied(Contract):
    """A folder of the user was copied into the workspace, where code may change the copy."""

    kind: Literal["folder_copied"] = "folder_copied"
    source: str = Field(description="The user's folder, an absolute path.")
    path: str = Field(description="Its copy, relative to the workspace.")
    files: dict[str, str] = Field(
        default_factory=dict, description="SHA-256 of each file when it was copied, by its path."
    )


class ChangeDecided(Contract):
    """A person accepted or reverted what the run did to a file."""

    kind: Literal["change_decided"] = "change_decided"
    path: str = Field(description="Relative to the workspace.")
    decision: Literal["accepted", "reverted"]
    sha256: str = Field(default="", description="Of the file since then; empty: it is removed.")
    author: str = ""


class Noted(Contract):
    """Something worth reading that changes no state."""

    kind: Literal["noted"] = "noted"
    text: str
    level: Literal["info", "warning"] = "info"


class SegmentOpened(Contract):
    """A sealed run is continued: this line follows the hash of its seal."""

    kind: Literal["segment_opened"] = "segment_opened"
    reason: str
    budget: Budget


class Sealed(Contract):
    """The run is finished; every file is listed."""

    kind: Literal["sealed"] = "sealed"
    status: str
    files: tuple[Artifact, ...]
    apart: tuple[str, ...] = Field(
        default=(), description="Folders that are not listed: they have seals of their own."
    )


EventBody = Annotated[
    RunStarted
    | OwnerStarted
    | OwnerStopped
    | StudyOpened
    | TrialProposed
    | TrialStarted
    | TrialFinished
    | TrialDecided
    | TrialInvalidated
    | SealedOpened
    | StudyConcluded
    | CommandTaken
    | EffectStarted
    | EffectFinished
    | ApprovalAsked
    | ApprovalAnswered
    | AgentStarted
    | MessageAdded
    | ModelAnswered
    | ReviewRecorded
    | StageCompacted
    | Delegated
    | DelegationReturned
    | AgentEnded
    | CellRan
    | KernelChanged
    | FolderCopied
    | ChangeDecided
    | Noted
    | SegmentOpened
    | Sealed,
    Field(discriminator="kind"),
]


class Event(Contract):
    """One line of the journal."""

    sequence: int = Field(ge=1)
    time: str = Field(description="UTC, ISO 8601 with milliseconds.")
    span: str = Field(default="", description="The activity it belongs to.")
    parent: str = Field(default="", description="The span that this span is part of.")
    study: str = Field(default="", description="Study of the run; empty for the run itself.")
    body: EventBody
    hash: str

    @property
    def kind(self) -> str:
        """What happened."""
        return self.body.kind

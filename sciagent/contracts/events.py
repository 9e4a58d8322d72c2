"""The events of the journal: the only state of a run.

Every line of `events.jsonl` is one `Event`. Its `body` says by `kind` what happened. `hash` is
the SHA-256 of the previous line's hash followed by the canonical JSON of this line without
`hash`; the first line follows `GENESIS`.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sciagent.contracts.artifact import Artifact
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

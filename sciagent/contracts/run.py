"""A run: what was asked, in what surroundings, and what came of it."""

from typing import Literal

from pydantic import Field, JsonValue

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.conversation import Usage
from sciagent.contracts.model import SCHEMA_VERSION, Contract
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import Budget, Objective

RunStatus = Literal["running", "stopped", "completed", "abstained", "failed", "limit"]


CAMPAIGN = "campaign"
"""First word of what stands for the question in the folder of a campaign."""
WORKFLOW = "workflow"
"""First word of what stands for the question in a run of a notebook."""


class RunRequest(Contract):
    """Everything that is needed to run again: it stands in the first event of the journal."""

    question: str = Field(description="`domain/question`.")
    dataset: str | None = None
    inputs: dict[str, tuple[Artifact, ...]] = Field(
        default_factory=dict, description="Copies under `data/`, by the name of the input."
    )
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    policy: Literal["builtin", "human", "model"] = "builtin"
    driven_by: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="For the policy `model`: the endpoint, and how the model is asked.",
    )
    budget: Budget = Budget()
    parallel: int = Field(default=1, ge=1)
    seed: int = Field(default=0, ge=0)
    threads: int = Field(default=1, ge=1, description="Threads of each trial's numerics.")
    readable: tuple[str, ...] = Field(
        default=(), description="Of a notebook: what it may read besides its inputs."
    )

    @property
    def is_campaign(self) -> bool:
        """Whether the folder is that of a campaign."""
        return self.question.startswith(f"{CAMPAIGN}/")

    @property
    def is_workflow(self) -> bool:
        """Whether a workflow notebook is run."""
        return self.question.startswith(f"{WORKFLOW}/")


class Environment(Contract):
    """The file `environment.json`: where the run was made."""

    schema_version: int = SCHEMA_VERSION
    sciagent: str
    python: str
    platform: str
    cpu_count: int
    packages: dict[str, str] = Field(description="Version of each package that computed.")
    code_sha256: str = Field(description="Hash of the sources of the domain that computed.")
    threads: int
    seed: int
    sandbox: str = Field(description="How code was confined; `unsandboxed` is said as such.")
    model: str | None = Field(default=None, description="Model; none where no model was used.")
    endpoint: str | None = None


class RunSummary(Contract):
    """A run in one row of a list."""

    run: str = Field(description="Name of the workspace's folder.")
    path: str
    question: str
    dataset: str | None
    status: RunStatus
    reason: str = ""
    objective: Objective | None
    best: Quantity | None = Field(default=None, description="Objective of the best trial.")
    trials: int = Field(description="Decided ones; superseded ones do not count.")
    accepted: int
    rejected: int
    sealed: bool
    started: str = Field(description="UTC, ISO 8601.")
    events: int


class Command(Contract):
    """What anyone may tell a running owner, through a file in `inbox/`."""

    schema_version: int = SCHEMA_VERSION
    id: str = Field(description="ULID.")
    command: Literal["stop", "approve", "deny", "steer", "result", "propose", "accept", "revert"]
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    author: str = ""
    time: str = Field(description="UTC, ISO 8601.")


class ObjectiveValue(Contract):
    """The objective's value in the best trial."""

    name: str
    value: float | None = Field(description="In `unit`; none where no trial was accepted.")
    unit: str


class RunResult(Contract):
    """What a run came to, as programs read it."""

    run: str = Field(description="Path of the workspace.")
    status: RunStatus
    reason: str
    objective: ObjectiveValue
    trials: int = Field(description="Decided ones; superseded ones do not count.")
    accepted: int
    rejected: int
    metrics: dict[str, Quantity] = Field(description="Metrics of the best trial.")


class AskResult(Contract):
    """What a question to an agent came to, as programs read it."""

    run: str = Field(description="Path of the workspace.")
    status: RunStatus
    answer: str = Field(description="In the agent's words; a partial one if it was ended.")
    claims: int = Field(description="Claims of the report.")
    usage: Usage = Field(description="Of all agents together.")
    turns: int = Field(description="Answers of the model to the main agent.")
    trials: int = Field(description="Decided ones of all studies; superseded ones do not count.")


class ComparedRow(Contract):
    """One thing that two runs both have, or that one lacks."""

    group: Literal["run", "setting", "objective", "metric", "claim"]
    name: str
    first: str
    second: str
    equal: bool


class Comparison(Contract):
    """Two runs side by side."""

    first: str
    second: str
    rows: tuple[ComparedRow, ...]


class DoctorItem(Contract):
    """One thing that `doctor` looked at."""

    name: str
    status: Literal["ok", "warning", "missing"]
    detail: str
    remedy: str = ""

"""Protocols by which packages meet without importing each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal, Protocol, runtime_checkable

from pydantic import Field

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.conversation import Answer, Message
from sciagent.contracts.events import Event, EventBody
from sciagent.contracts.literature import Document, Found
from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in
from sciagent.contracts.run import Command
from sciagent.contracts.study import (
    Abstain,
    ActionSpec,
    Batch,
    Check,
    Conclusion,
    Finish,
    Objective,
    Outcome,
    Proposal,
)
from sciagent.contracts.tool import ToolSpec
from sciagent.contracts.tree import StudyView, Trial


class ProcessLimits(Contract):
    """Bounds of a child process; none means no bound."""

    wall_s: float | None = measured_in("s", default=None, gt=0.0)
    memory_mib: float | None = measured_in("MiBy", default=None, gt=0.0)


class ProcessResult(Contract):
    """How a child process ended."""

    returncode: int
    timed_out: bool = False
    cancelled: bool = False
    output: str = Field(description="Last part of what it wrote; all of it is in the log file.")
    wall_s: float = measured_in("s", ge=0.0)
    cpu_s: float = measured_in("s", ge=0.0)


class ProcessRunner(Protocol):
    """Runs a program to its end, within limits."""

    def run(
        self,
        argv: Sequence[str],
        *,
        directory: Path,
        log: Path,
        limits: ProcessLimits,
        cancelled: Callable[[], bool],
    ) -> ProcessResult:
        """Run `argv` in `directory`, stream its output to `log`, end it when it must."""
        ...


class Context(Protocol):
    """All that a trial may know of its surroundings."""

    @property
    def directory(self) -> Path:
        """Folder of this trial, empty when the trial starts."""
        ...

    @property
    def parent_directory(self) -> Path | None:
        """Folder of the trial it starts from."""
        ...

    @property
    def seed(self) -> int:
        """Seed of this trial: depends on the run's seed and the actions that lead to it."""
        ...

    @property
    def threads(self) -> int:
        """Threads the trial's numerics may use."""
        ...

    @property
    def deadline(self) -> float | None:
        """Seconds since the epoch when the trial must have ended, or none."""
        ...

    def cancelled(self) -> bool:
        """Whether the trial should end now."""
        ...

    def cached(self, key: str) -> Path:
        """Folder shared by all runs that keeps what `key` names; it may be empty."""
        ...

    def run_process(self, argv: Sequence[str], limits: ProcessLimits) -> ProcessResult:
        """Run a program in this trial's folder; its output goes to `process.log` there."""
        ...


class Problem(Protocol):
    """A question about given inputs, as the loop sees it."""

    @property
    def objective(self) -> Objective:
        """The metric that decides."""
        ...

    @property
    def selection(self) -> Objective | None:
        """A value of `Outcome.selection` that must not get worse, or none."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether what was rejected may be proposed again after an acceptance."""
        ...

    def actions(self, trial: Trial | None) -> tuple[ActionSpec, ...]:
        """List the actions that may be proposed from a trial, or to begin with."""
        ...

    def run(self, proposal: Proposal, context: Context) -> Outcome:
        """Carry a proposal out; errors that it raises become a failed outcome."""
        ...

    def checks(self, outcome: Outcome) -> tuple[Check, ...]:
        """Judge an outcome by what the objective does not see. Cheap and pure."""
        ...

    def conclude(self, view: StudyView) -> Conclusion:
        """Say whether the result can be stood behind, whoever proposed."""
        ...


@runtime_checkable
class SealedProblem(Protocol):
    """A problem with an evaluation that is opened once, after the last decision."""

    def open_sealed(self, trial: Trial, context: Context) -> Outcome:
        """Evaluate the final trial on what nobody has seen."""
        ...


class Policy(Protocol):
    """Whoever proposes. A policy keeps no state: the same view gives the same answer."""

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        """Say what to try next."""
        ...


class Journal(Protocol):
    """The append-only record of a run."""

    def append(
        self, body: EventBody, *, study: str = "", span: str = "", parent: str = ""
    ) -> Event:
        """Write an event; when this returns, it survives a crash."""
        ...

    def append_unwaited(self, body: EventBody, *, study: str = "") -> Event:
        """Write an event that may be lost in a power cut because another file says it too."""
        ...

    def append_many(
        self, bodies: Sequence[EventBody], *, study: str = "", span: str = "", parent: str = ""
    ) -> list[Event]:
        """Write several events of one study or span with one wait for the disk."""
        ...

    def events(self) -> Iterator[Event]:
        """Read all events from the first."""
        ...


class Inbox(Protocol):
    """Commands that others left for the owner."""

    def take(self) -> list[Command]:
        """Read the waiting commands, oldest first; each is returned until it is `done`."""
        ...

    def done(self, command: Command) -> None:
        """Remove a command that is in the journal."""
        ...


class Store(Protocol):
    """Files known by the hash of their content."""

    def put(self, content: bytes | Path, media_type: str = ...) -> Artifact:
        """Keep content; equal content is kept once."""
        ...

    def open(self, sha256: str) -> IO[bytes]:
        """Read content back."""
        ...


class Model(Protocol):
    """A model behind an endpoint, or a double of one."""

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        verification: bool = False,
        heard: Callable[[str, str], None] | None = None,
        cancelled: Callable[[], bool] = ...,
    ) -> Answer:
        """Ask for the next message.

        `heard` is told each piece as it arrives: its channel (``content`` or ``reasoning``) and
        its text; the channel ``again`` says that the answer begins anew and what was heard of it
        is void. When `cancelled` turns true the answer ends with ``interrupted``.
        """
        ...


class Literature(Protocol):
    """Searches the web and the literature, and fetches pages."""

    def search(self, query: str) -> Found:
        """Search the web; each page holds a snippet."""
        ...

    def scholar(self, query: str) -> Found:
        """Search the scholarly literature; each work holds its abstract."""
        ...

    def visit(self, url: str) -> Document:
        """Fetch one page or paper as text."""
        ...


class CodeResult(Contract):
    """What running code came to."""

    status: Literal["ok", "error", "timeout", "kernel_died"]
    output: str
    images: tuple[str, ...] = Field(default=(), description="Paths relative to the workspace.")
    cell: str = ""


class CodeRunner(Protocol):
    """Runs code in a persistent kernel."""

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Run one cell."""
        ...

    def for_agent(self, agent: str) -> "CodeRunner":
        """Give another agent of the run a kernel of its own."""
        ...


class ProblemSource(Contract):
    """How a worker process makes the problem again: an importable function and its arguments."""

    factory: str = Field(description="`module:function`.")
    arguments: dict[str, Any] = Field(default_factory=dict)


Observer = Callable[[Event], None]
"""Is told each event after it was written."""

PackageVersions = Mapping[str, str]

"""What a worker of a campaign does: claim a row, run it, write what came of it."""

import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from pydantic import Field, JsonValue

from sciagent.contracts.errors import ErrorRecord, error_record
from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.run import RunStatus
from sciagent.execution.ledger import Attempt, AttemptResult, Ledger, TakenError
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.workspace.clock import utc_timestamp

SUCCESSES = frozenset({"completed", "abstained"})


class AttemptTask(Contract):
    """All that a worker needs to run a row, on this machine or on another."""

    campaign: str = Field(description="Folder of the campaign.")
    row: str = Field(description="Identifier of the row.")
    carrier: str = Field(description="`module:function` that runs it: a `Carrier`.")
    source: str = Field(description="Path of the notebook, or `domain/question`.")
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    paths: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Files by the parameter or input that they are for."
    )
    dataset: str | None = None
    seed: int = Field(default=0, ge=0)
    threads: int = Field(default=1, ge=1)
    limits: NotebookLimits = NotebookLimits()
    readable: tuple[str, ...] = Field(
        default=(), description="What a notebook may read besides the files of its parameters."
    )


class Made(Contract):
    """What came of running a row, whether it succeeded or not."""

    status: RunStatus
    error: ErrorRecord | None = None
    metrics: dict[str, Quantity] = Field(default_factory=dict)
    objective: str = Field(default="", description="The metric that decides, where one does.")
    workspace: str = Field(default="", description="Name of its folder in that of the attempt.")

    @property
    def succeeded(self) -> bool:
        """Whether there is a result; an abstention is one."""
        reached = self.status == "limit" and bool(self.metrics)
        return self.error is None and (self.status in SUCCESSES or reached)


Carrier = Callable[[AttemptTask, Attempt], Made]


def carry_out(task: AttemptTask) -> AttemptResult | None:
    """Run a row in this process.

    Parameters
    ----------
    task
        The row.

    Returns
    -------
    AttemptResult or None
        What stands in its `result.json`; None if another process has the row.
    """
    try:
        claimed = Ledger(Path(task.campaign)).claim(task.row)
    except TakenError:
        return None
    with claimed as attempt:
        begin, started = time.monotonic(), utc_timestamp()
        made = _made(task, attempt)
        result = AttemptResult(
            row=task.row, attempt=attempt.number, token=attempt.token, status=made.status,
            succeeded=made.succeeded, error=made.error, metrics=made.metrics,
            objective=made.objective, workspace=made.workspace, started=started,
            finished=utc_timestamp(), wall_s=time.monotonic() - begin,
        )  # fmt: skip
        return result if attempt.finish(result) else None


def _made(task: AttemptTask, attempt: Attempt) -> Made:
    module, _, function = task.carrier.partition(":")
    try:
        carrier: Carrier = getattr(import_module(module), function)
        return carrier(task, attempt)
    except Exception as error:  # noqa: BLE001 - process boundary: a row's end is its result
        return Made(status="failed", error=error_record(error))

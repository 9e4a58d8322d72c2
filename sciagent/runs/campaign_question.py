"""Studies a question for a row of a campaign: a `Carrier` of campaigns."""

import contextlib
import resource
from collections.abc import Iterator

from sciagent.contracts.errors import ErrorRecord, InputError, ResourceError
from sciagent.contracts.events import Event
from sciagent.contracts.study import Budget
from sciagent.execution.attempts import AttemptTask, Made
from sciagent.execution.ledger import Attempt, AttemptProgress
from sciagent.runs.opened import Run
from sciagent.runs.starting import resume, run

_MIB = 1024 * 1024


def run_question(task: AttemptTask, attempt: Attempt) -> Made:
    """Study the question of a row in a workspace of its own, or go on with an interrupted one.

    The time limit is the budget of the study; the memory limit holds for each process.
    """
    decided = 0

    def hear(event: Event) -> None:
        nonlocal decided
        if event.kind == "trial_decided":
            decided += 1
            attempt.tell(AttemptProgress(cell=decided))

    earlier = attempt.adopt()
    with _bounded(task.limits.memory_mib):
        made = (
            resume(earlier, observer=hear)
            if earlier is not None
            else run(
                task.source,
                dataset=task.dataset,
                inputs=task.paths,
                settings=task.parameters,
                budget=Budget(wall_s=task.limits.timeout_s),
                seed=task.seed,
                out=attempt.directory,
                observer=hear,
            )
        )
    result = made.result
    return Made(
        status=result.status,
        error=_error(made) if result.status not in {"completed", "abstained"} else None,
        metrics=result.metrics,
        objective=result.objective.name,
        workspace=made.name,
    )


def _error(made: Run) -> ErrorRecord | None:
    """Say why there is no result; None if the time was over but something was found."""
    status, reason = made.result.status, made.result.reason
    if status == "limit":
        if made.best is not None:
            return None
        return ErrorRecord(kind="limit", message=reason, remedy="Allow more time.")
    trials = [trial for study in made.studies for trial in study.trials]
    errors = [trial.outcome.error for trial in trials if trial.outcome and trial.outcome.error]
    if errors:
        return errors[-1]
    return ErrorRecord(
        kind=InputError.kind, message=reason or "No trial was accepted.",
        remedy="Read the report of the run.",
    )  # fmt: skip


@contextlib.contextmanager
def _bounded(memory_mib: float | None) -> Iterator[None]:
    """Bound the memory of this process and of those that it starts in the meantime."""
    if memory_mib is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (int(memory_mib * _MIB), before[1]))
    except ValueError as error:
        raise ResourceError(
            f"The memory limit of {memory_mib:g} MiB is above that of the system.", "Lower it."
        ) from error
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)

"""A worker process: makes the problem once, then runs the trials it is handed.

Tasks come as JSON lines on standard input, the first line naming the problem. For each task the
worker writes `outcome.json` as its last act and then answers with the trial's number on standard
output. Whatever the trial prints goes to `output.log` in its folder. The worker dies with its
owner, so that a resumed run never shares a folder with an orphan.
"""

import ctypes
import importlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.errors import ConvergenceError, error_record
from sciagent.contracts.model import canonical_model
from sciagent.contracts.ports import Problem, ProblemSource, SealedProblem
from sciagent.contracts.study import Outcome
from sciagent.contracts.tree import Trial
from sciagent.execution.network import follow_environment
from sciagent.execution.process_runner import LocalProcessRunner
from sciagent.study.context import TrialContext, TrialTask
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.content import artifact_of
from sciagent.workspace.layout import OUTCOME

LOG = "output.log"
REFUSED: list[str] = []
"""Whom the trial that runs tried to reach although the run is local only."""

_PR_SET_PDEATHSIG = 1


def load_problem(source: ProblemSource) -> Problem:
    """Make the problem by importing and calling its factory."""
    module, _, name = source.factory.partition(":")
    factory = getattr(importlib.import_module(module), name)
    return cast("Problem", factory(**source.arguments))


def execute_here(problem: Problem, task: TrialTask) -> Outcome:
    """Run one trial in the calling process, which nobody waits for from outside."""
    return execute(problem, task, os.getppid())


def execute(problem: Problem, task: TrialTask, owner: int) -> Outcome:
    """Run one trial in this process and write its outcome.

    This is the process boundary of a trial: any error becomes a failed outcome.
    """
    context = TrialContext(task, LocalProcessRunner(task.threads), lambda: os.getppid() != owner)
    cpu, wall = _cpu_s(), time.monotonic()
    try:
        outcome = _call(problem, task, context)
    except Exception as error:  # noqa: BLE001 - process boundary: a failure is an outcome
        outcome = Outcome(
            status="failed", error=error_record(error, details=traceback.format_exc()[-4000:])
        )
    sys.stdout.flush()
    notes = tuple(f"A connection to {each} was refused: the run is local only." for each in REFUSED)
    REFUSED.clear()
    outcome = outcome.model_copy(
        update={
            "notes": (*outcome.notes, *notes),
            "proposal_sha256": task.proposal.sha256,
            "cpu_s": round(_cpu_s() - cpu, 4),
            "wall_s": round(time.monotonic() - wall, 4),
            "files": _files(context.directory),
        }
    )
    write_atomic(context.directory / OUTCOME, canonical_model(outcome) + "\n")
    return outcome


def _call(problem: Problem, task: TrialTask, context: TrialContext) -> Outcome:
    if not task.sealed:
        return problem.run(task.proposal, context)
    if not isinstance(problem, SealedProblem):
        raise ConvergenceError("This problem has no sealed evaluation.")
    return problem.open_sealed(Trial(number=task.trial, proposal=task.proposal), context)


def _files(folder: Path) -> tuple[Artifact, ...]:
    log = folder / LOG
    if log.exists() and log.stat().st_size == 0:
        log.unlink()
    paths = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != OUTCOME)
    return tuple(artifact_of(path, folder) for path in paths)


def _cpu_s() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


@contextmanager
def _output_to(log: Path) -> Iterator[None]:
    """Send this process's output, also that of compiled code, to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _die_with_owner() -> int:
    owner = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != owner:
            raise SystemExit(1)
    return owner


def _serve(tasks: TextIO, answers: TextIO, owner: int) -> None:
    problem: Problem | None = None
    source = ProblemSource.model_validate_json(tasks.readline())
    for line in iter(tasks.readline, ""):
        task = TrialTask.model_validate_json(line)
        folder = Path(task.directory)
        folder.mkdir(parents=True, exist_ok=True)
        with _output_to(folder / LOG):
            problem = problem or load_problem(source)
            execute(problem, task, owner)
        answers.write(f"{task.trial}\n")
        answers.flush()


def main() -> None:
    """Serve tasks until standard input is closed."""
    owner = _die_with_owner()
    follow_environment(REFUSED.append)
    with os.fdopen(os.dup(1), "w") as answers, os.fdopen(os.dup(0), "r") as tasks:
        _serve(tasks, answers, owner)


if __name__ == "__main__":
    main()

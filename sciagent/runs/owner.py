"""The one process that owns a workspace: it runs the study and finishes the run."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from platformdirs import user_cache_dir

from sciagent.contracts.events import Event, OwnerStarted, OwnerStopped
from sciagent.contracts.ports import Observer, Policy, Problem
from sciagent.contracts.run import RunRequest
from sciagent.domains.registry import question
from sciagent.runs.finishing import finish
from sciagent.runs.problems import problem_source
from sciagent.study.commands import CommandDesk
from sciagent.study.execution import TrialRunner
from sciagent.study.loop import StudyLoop, StudyStopped
from sciagent.study.pool import WorkerPool
from sciagent.study.seeds import TrialSeeds
from sciagent.study.worker import load_problem
from sciagent.workspace.effects import settle_interrupted
from sciagent.workspace.inbox import InboxFolder
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import Layout
from sciagent.workspace.lock import OwnerLock
from sciagent.workspace.record import checkpoint_is_due, load_tree, write_study_file
from sciagent.workspace.tree import TreeBuilder

PolicyMaker = Callable[[Problem], Policy]


@dataclass(slots=True)
class _Record:
    """Keeps the tree and its checkpoint up to date with the journal."""

    layout: Layout
    builder: TreeBuilder
    observer: Observer | None
    checkpoint: int = 0

    def __call__(self, event: Event) -> None:
        self.builder.apply(event)
        if checkpoint_is_due(self.builder, self.checkpoint):
            write_study_file(self.layout.root, self.builder)
            self.checkpoint = self.builder.sequence
        if self.observer is not None:
            self.observer(event)


def own(
    layout: Layout,
    request: RunRequest,
    *,
    policy: PolicyMaker | None = None,
    observer: Observer | None = None,
) -> None:
    """Take a workspace, run its study to the end and seal it; goes on where it was left.

    Returns early, with the run resumable, when a stop command comes.

    Raises
    ------
    WorkspaceError
        If another process owns the workspace, or its journal is damaged.
    KeyboardInterrupt
        If interrupted; the journal says so and the run is resumable.
    """
    with OwnerLock(layout) as lock, JournalFile.open(layout.journal) as journal:
        used_s = wall_used_s(layout)
        record = _Record(layout, load_tree(layout.root), observer)
        journal.observer = record
        journal.append(OwnerStarted(owner=lock.owner, recovered=journal.recovered))
        settle_interrupted(journal)
        problem = load_problem(problem_source(layout, request))
        loop = _loop(layout, request, record.builder, journal, problem, policy)
        loop.wall_used_s = used_s
        try:
            loop.run()
            finish(layout, request, problem, record.builder, journal)
        except StudyStopped:
            journal.append(OwnerStopped(reason="A stop command came."))
        except KeyboardInterrupt:
            journal.append(OwnerStopped(reason="It was interrupted."))
            raise


def _loop(
    layout: Layout,
    request: RunRequest,
    builder: TreeBuilder,
    journal: JournalFile,
    problem: Problem,
    policy: PolicyMaker | None,
) -> StudyLoop:
    asked = question(request.question)
    study = asked.name
    pool = WorkerPool(problem_source(layout, request), request.parallel, request.threads)
    trials = TrialRunner(
        study=study,
        journal=journal,
        layout=Layout(layout.root.resolve()),
        pool=pool,
        seeds=TrialSeeds(request.seed, lambda n: builder.studies[study].trial(n).proposal),
        threads=request.threads,
        cache=str(Path(user_cache_dir("sciagent")) / "results"),
    )
    return StudyLoop(
        study=study,
        question=request.question,
        problem=problem,
        policy=(policy or asked.policy)(problem),
        journal=journal,
        builder=builder,
        desk=CommandDesk(InboxFolder(layout.inbox), journal),
        trials=trials,
        budget=request.budget,
        seed=request.seed,
        directory=str(layout.root),
    )


def wall_used_s(layout: Layout) -> float:
    """Add up the time that earlier owners spent, from the times of their events."""
    from sciagent.workspace.journal import read_events

    total = 0.0
    first: str | None = None
    last = ""
    for event in read_events(layout.journal):
        if event.kind == "owner_started":
            total += _seconds_between(first, last)
            first = event.time
        last = event.time
    return total + _seconds_between(first, last)


def _seconds_between(first: str | None, last: str) -> float:
    if first is None:
        return 0.0
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()

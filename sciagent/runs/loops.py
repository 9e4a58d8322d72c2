"""Makes the loop of a study of a run, with its worker processes."""

from pathlib import Path

from platformdirs import user_cache_dir

from sciagent.contracts.ports import Policy, Problem
from sciagent.domains.registry import question
from sciagent.runs.ownership import Owned
from sciagent.runs.problems import problem_source
from sciagent.study.commands import StopDesk
from sciagent.study.execution import TrialRunner
from sciagent.study.loop import StudyLoop
from sciagent.study.pool import WorkerPool
from sciagent.study.seeds import TrialSeeds
from sciagent.study.worker import load_problem
from sciagent.workspace.layout import Layout


def study_loop(
    mine: Owned,
    *,
    study: str,
    desk: StopDesk,
    problem: Problem | None = None,
    policy: Policy | None = None,
) -> StudyLoop:
    """Make the loop that drives a study.

    Parameters
    ----------
    mine
        The run, which this process owns.
    study
        Its name within the run. One that is in the journal already may have its own files.
    desk
        Says whether someone asks to stop.
    problem, policy
        Made already; the problem of the request and its built-in policy if none are given.
    """
    layout, request, builder = mine.layout, mine.request, mine.builder
    opened = builder.studies.get(study)
    source = problem_source(layout, request, opened)
    name = str(source.arguments["name"])
    problem = problem or load_problem(source)
    trials = TrialRunner(
        study=study,
        journal=mine.journal,
        layout=Layout(layout.root.resolve()),
        pool=WorkerPool(source, request.parallel, request.threads),
        seeds=TrialSeeds(request.seed, lambda n: builder.studies[study].trial(n).proposal),
        threads=request.threads,
        cache=str(Path(user_cache_dir("sciagent")) / "results"),
    )
    return StudyLoop(
        study=study,
        question=name,
        problem=problem,
        policy=policy or question(name).policy(problem),
        journal=mine.journal,
        builder=builder,
        desk=desk,
        trials=trials,
        budget=request.budget,
        seed=request.seed,
        directory=str(layout.root),
        wall_used_s=mine.wall_used_s,
    )

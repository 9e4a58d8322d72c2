"""The one process that owns a workspace: it runs the study and finishes the run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sciagent.contracts.domain import Question
from sciagent.contracts.ports import Policy, Problem
from sciagent.contracts.run import RunRequest
from sciagent.domains.registry import question
from sciagent.runs.driving import driven_by_model, endpoint_of
from sciagent.runs.finishing import finish
from sciagent.runs.loops import study_loop
from sciagent.runs.ownership import Owned, owned
from sciagent.runs.problems import problem_source
from sciagent.runs.surroundings import Surroundings
from sciagent.study.commands import CommandDesk, StopDesk
from sciagent.study.worker import load_problem
from sciagent.workspace.inbox import InboxFolder
from sciagent.workspace.layout import Layout

PolicyMaker = Callable[[Problem], Policy]


def own(
    layout: Layout,
    request: RunRequest,
    *,
    policy: PolicyMaker | None = None,
    surroundings: Surroundings = Surroundings(),  # noqa: B008 - frozen
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
    with owned(layout, request, surroundings.observer) as mine:
        asked = question(request.question)
        problem = load_problem(problem_source(layout, request))
        desk = CommandDesk(InboxFolder(layout.inbox), mine.journal)
        with _policy(mine, asked, problem, desk, policy, surroundings) as chosen:
            study_loop(mine, study=asked.name, desk=desk, problem=problem, policy=chosen).run()
        finish(layout, request, problem, mine.builder, mine.journal, endpoint_of(request))


@contextmanager
def _policy(
    mine: Owned,
    asked: Question,
    problem: Problem,
    desk: StopDesk,
    policy: PolicyMaker | None,
    surroundings: Surroundings,
) -> Iterator[Policy]:
    if policy is None and mine.request.driven_by:
        builtin = asked.policy(problem)
        with driven_by_model(mine, problem, builtin, desk, surroundings) as driven:
            yield driven
    else:
        yield (policy or asked.policy)(problem)

"""The one process that owns a workspace: it runs the study and finishes the run."""

from collections.abc import Callable

from sciagent.contracts.ports import Observer, Policy, Problem
from sciagent.contracts.run import RunRequest
from sciagent.domains.registry import question
from sciagent.runs.finishing import finish
from sciagent.runs.loops import study_loop
from sciagent.runs.ownership import owned
from sciagent.runs.problems import problem_source
from sciagent.study.commands import CommandDesk
from sciagent.study.worker import load_problem
from sciagent.workspace.inbox import InboxFolder
from sciagent.workspace.layout import Layout

PolicyMaker = Callable[[Problem], Policy]


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
    with owned(layout, request, observer) as mine:
        asked = question(request.question)
        problem = load_problem(problem_source(layout, request))
        loop = study_loop(
            mine,
            study=asked.name,
            desk=CommandDesk(InboxFolder(layout.inbox), mine.journal),
            problem=problem,
            policy=(policy or asked.policy)(problem),
        )
        loop.run()
        finish(layout, request, problem, mine.builder, mine.journal)

"""From the request in the journal to the problem, for owners, workers and replays alike."""

from sciagent.contracts.ports import ProblemSource
from sciagent.contracts.run import RunRequest
from sciagent.contracts.tree import StudyRecord
from sciagent.workspace.layout import Layout
from sciagent.workspace.tree import StudyTree

FACTORY = "sciagent.domains.registry:problem"


def problem_source(
    layout: Layout, request: RunRequest, study: StudyRecord | StudyTree | None = None
) -> ProblemSource:
    """Describe the problem of a run, or of one of its studies that has its own files.

    Parameters
    ----------
    layout, request
        Of the run; the inputs are those that the workspace keeps.
    study
        A study that an agent opened; none, or one without files of its own: that of the request.
    """
    question, inputs, settings = request.question, request.inputs, request.settings
    if study is not None and study.inputs is not None:
        question, inputs, settings = study.question, study.inputs, study.settings or {}
    root = layout.root.resolve()
    files = {
        name: [str(root / artifact.path) for artifact in artifacts]
        for name, artifacts in inputs.items()
    }
    return ProblemSource(
        factory=FACTORY, arguments={"name": question, "inputs": files, "settings": settings}
    )

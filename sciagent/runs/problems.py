"""From the request in the journal to the problem, for owners, workers and replays alike."""

from sciagent.contracts.ports import ProblemSource
from sciagent.contracts.run import RunRequest
from sciagent.workspace.layout import Layout
from sciagent.workspace.workspace import input_paths

FACTORY = "sciagent.domains.registry:problem"


def problem_source(layout: Layout, request: RunRequest) -> ProblemSource:
    """Describe the problem of a request, with its inputs as the workspace keeps them."""
    inputs = {
        name: [str(path.resolve()) for path in paths]
        for name, paths in input_paths(layout, request).items()
    }
    return ProblemSource(
        factory=FACTORY,
        arguments={"name": request.question, "inputs": inputs, "settings": request.settings},
    )

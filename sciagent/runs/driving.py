"""A model that drives the study of a run: the policy `model`."""

from collections.abc import Iterator
from contextlib import contextmanager

from sciagent.agent.model_policy import ModelPolicy
from sciagent.agent.team import Team
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.ports import Policy, Problem
from sciagent.contracts.run import RunRequest
from sciagent.runs.agents import AgentGround
from sciagent.runs.configuration import Configuration
from sciagent.runs.ownership import Owned
from sciagent.runs.surroundings import Surroundings
from sciagent.study.commands import StopDesk
from sciagent.tools.toolbox import Toolbox


@contextmanager
def driven_by_model(
    mine: Owned, problem: Problem, builtin: Policy, desk: StopDesk, surroundings: Surroundings
) -> Iterator[Policy]:
    """Make the policy that asks the model which the run's request names.

    Parameters
    ----------
    mine
        The run, which this process owns.
    problem, builtin
        What is studied, and the policy that proposes where the model cannot.
    desk
        Takes the commands of the study, also while the model is being asked.
    surroundings
        The model may be given there; who is told.
    """
    configuration = Configuration.model_validate(mine.request.driven_by)
    ground = AgentGround(mine, configuration, surroundings)
    context = ground.context(lambda: desk.stop_asked() or surroundings.cancelled())
    with ground.confined(), ground.model() as model:
        team = Team(model, Toolbox(()), context, ground.settings, heard=surroundings.heard)
        yield ModelPolicy(problem, builtin, team)


def endpoint_of(request: RunRequest) -> Endpoint | None:
    """Tell which endpoint drives a run, if one does."""
    return Configuration.model_validate(request.driven_by).endpoint if request.driven_by else None

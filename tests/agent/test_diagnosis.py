import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from sciagent.agent.diagnosis import built_in_diagnosis, diagnose
from sciagent.contracts.errors import ErrorRecord
from sciagent.contracts.events import Delegated, DelegationReturned
from sciagent.contracts.study import Action, ActionSpec, Objective, Outcome, Proposal
from sciagent.contracts.tree import StudyView, Trial
from sciagent.testing.agents import ScriptedRun
from sciagent.testing.model_server import ScriptedAnswer, ScriptedRequest, calling, saying
from tests.agent.conftest import MakeRun

OFFERED = (
    ActionSpec(
        name="solve", summary="Solve.",
        arguments_schema={
            "type": "object", "properties": {"damping": {"type": "number", "maximum": 1}},
        },
    ),
)  # fmt: skip


def failed(kind: str, correction: Action | None = None) -> Trial:
    error = ErrorRecord(kind=kind, message="It did not converge.", remedy="Damp it.")
    return Trial(
        number=4,
        proposal=Proposal(parent=3, action=Action(name="solve", arguments={"damping": 0.0})),
        outcome=Outcome(status="failed", error=error, correction=correction),
    )


def test_without_a_model_the_correction_of_the_field_is_proposed() -> None:
    correction = Action(name="solve", arguments={"damping": 0.5})
    found = built_in_diagnosis(failed("convergence", correction), OFFERED)
    assert found.cause == "It did not converge. Damp it."
    assert found.proposal is not None
    assert (found.proposal.parent, found.proposal.action) == (3, correction)


def test_a_random_failure_is_tried_again_as_it_was() -> None:
    trial = failed("random")
    found = built_in_diagnosis(trial, OFFERED)
    assert found.proposal is not None
    assert found.proposal.action == trial.proposal.action


@pytest.mark.parametrize("kind", ["input", "resource", "limit", "unexpected"])
def test_other_failures_have_no_proposal_by_rule(kind: str) -> None:
    assert built_in_diagnosis(failed(kind), OFFERED).proposal is None


def test_a_correction_that_is_not_offered_is_not_proposed() -> None:
    correction = Action(name="solve", arguments={"damping": 2.0})
    assert built_in_diagnosis(failed("convergence", correction), OFFERED).proposal is None


def test_a_subagent_sees_one_trial_and_its_finding_becomes_a_proposal(scripted: MakeRun) -> None:
    answers: Iterator[str] = iter(
        [
            json.dumps({"cause": "No damping.", "action": "solve", "arguments": {"damping": 9}}),
            json.dumps({"cause": "No damping.", "action": "solve", "arguments": {"damping": 0.3}}),
        ]
    )
    asked: list[ScriptedRequest] = []

    def policy(request: ScriptedRequest) -> object:
        asked.append(request)
        return saying(next(answers))

    run = scripted(policy)
    with run.team() as team:
        found = diagnose(failed("convergence"), OFFERED, team, code="x = solve()")
        again = diagnose(failed("convergence"), OFFERED, team, code="x = solve()")
    assert found.cause == "No damping."
    assert found.proposal is not None
    assert found.proposal.action.arguments == {"damping": 0.3}
    assert found.proposal.parent == 3
    assert again == found
    text = asked[0].texts("user")[0]
    assert "It did not converge." in text
    assert "x = solve()" in text
    assert "damping" in asked[1].last
    bodies = run.bodies("diagnosis")
    assert [body.composition for body in bodies if isinstance(body, Delegated)] == ["diagnosis"]
    assert sum(isinstance(body, DelegationReturned) for body in bodies) == 1


class OneFailure:
    """The studies of a run with one failed trial (of the port, what `diagnose` uses)."""

    def view(self, study: str) -> StudyView:
        objective = Objective(metric="energy", unit="eV", direction="minimise", noise=0.0)
        return StudyView(
            study=study, objective=objective, trials=(failed("convergence"),), head=None,
            best=None, trials_left=None, cpu_left_s=None, wall_left_s=None, seed=0,
        )  # fmt: skip

    def actions(self, _study: str, _parent: int | None) -> tuple[ActionSpec, ...]:
        return OFFERED


def test_an_agent_that_drives_studies_can_ask_for_a_diagnosis(scripted: MakeRun) -> None:
    cause = {"cause": "No damping.", "action": "solve", "arguments": {"damping": 0.3}}

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if request.system.startswith("You find out why"):
            assert "The user's question" not in json.dumps(request.messages)
            return saying(json.dumps(cause))
        results = request.results("diagnose")
        return saying(results[0]) if results else calling("diagnose", study="scf", trial=4)

    run = scripted(policy)
    answer = replace(run, ports={"studies": OneFailure()}).ask("The user's question").answer
    assert "No damping." in answer
    assert '"damping": 0.3' in answer
    assert "diagnose" not in run_without_studies(scripted, run)


def run_without_studies(scripted: MakeRun, run: ScriptedRun) -> str:
    other = scripted(lambda _: saying("done"), folder=run.folder.parent / "other")
    other.ask()
    return json.dumps(other.server.requests[0].body["tools"])


def test_a_model_without_a_finding_leaves_the_rules_to_propose(scripted: MakeRun) -> None:
    run = scripted(lambda _: saying("No idea."))
    correction = Action(name="solve", arguments={"damping": 0.5})
    with run.team() as team:
        found = diagnose(failed("convergence", correction), OFFERED, team)
    assert found.proposal is not None
    assert found.proposal.action == correction

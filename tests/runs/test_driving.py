"""Whole runs whose trials a model proposes."""

from pathlib import Path

import pytest

import sciagent
from sciagent.contracts.errors import InputError
from sciagent.contracts.study import Budget
from sciagent.runs import Configuration, Run, resume, stop
from sciagent.testing.model_server import ModelServer, Policy, ScriptedAnswer, ScriptedRequest
from tests.agent.test_model_policy import climbing, permuting
from tests.runs.asking import notes, workspace

TRIALS = 9


def driven(policy: Policy, out: Path, **given: object) -> Run:
    """Let a scripted model propose the trials of a toy study."""
    with ModelServer(policy) as server:
        configuration = Configuration(endpoint=server.endpoint, local_only=True)
        return sciagent.run(
            "toy/parabola", policy="model", configuration=configuration, out=out,
            budget=Budget(trials=TRIALS), **given,  # type: ignore[arg-type]
        )  # fmt: skip


def test_a_run_that_a_model_drives_is_verified_like_any(tmp_path: Path) -> None:
    run = driven(climbing, tmp_path)
    assert run.request.policy == "model"
    assert run.result.objective.value == pytest.approx(0.0)
    assert notes(run) == []
    assert '"model": "scripted"' in (run.path / "environment.json").read_text()
    verification = sciagent.verify(run.path, rerun=True)
    assert verification.ok
    assert verification.reproduced == verification.claims


def test_a_model_whose_feedback_is_permuted_does_worse(tmp_path: Path) -> None:
    honest = driven(climbing, tmp_path / "honest").result.objective.value
    misled = [
        driven(permuting(seed), tmp_path / f"misled-{seed}").result.objective.value
        for seed in range(3)
    ]
    assert honest == pytest.approx(0.0)
    assert sum(value or 0.0 for value in misled) / len(misled) > 1.0


def test_a_run_that_a_model_drives_is_stopped_and_resumed_with_another_endpoint(
    tmp_path: Path,
) -> None:
    def stopping(request: ScriptedRequest) -> ScriptedAnswer:
        if '"trial": 3' in request.texts("user")[0]:
            stop(workspace(tmp_path))
        return climbing(request)

    run = driven(stopping, tmp_path)
    assert (run.result.status, run.result.trials) == ("stopped", 3)
    with ModelServer(climbing) as other:
        again = resume(run.path, asked={"endpoint.base_url": other.base_url})
        assert 0 < len(other.requests) < TRIALS
    assert again.result.objective.value == pytest.approx(0.0)
    assert notes(again) == []


def test_where_the_endpoint_is_gone_the_built_in_policy_goes_on(tmp_path: Path) -> None:
    with ModelServer(climbing) as server:
        gone = server.endpoint.model_copy(update={"attempts": 1})
    run = sciagent.run(
        "toy/parabola", policy="model", configuration=Configuration(endpoint=gone), out=tmp_path,
        budget=Budget(trials=TRIALS),
    )  # fmt: skip
    assert run.result.trials == TRIALS
    assert "The built-in policy proposes." in notes(run)[0]


def test_an_endpoint_that_cannot_be_used_leaves_no_workspace(tmp_path: Path) -> None:
    bad = Configuration.model_validate({"endpoint": {"base_url": "localhost"}})
    with pytest.raises(InputError, match="no address of a server"):
        sciagent.run("toy/parabola", policy="model", configuration=bad, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_person_is_still_needed_for_the_policy_human(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs somebody to ask"):
        sciagent.run("toy/parabola", policy="human", out=tmp_path)

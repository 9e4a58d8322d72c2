"""The conformance suite: it finds the fields by itself and asks the same of each."""

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import sciagent
from sciagent.contracts.domain import Domain, Question
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import Abstain, Finish, Outcome
from sciagent.contracts.tree import StudyView
from sciagent.contracts.units import UNITS
from sciagent.datasets import list_datasets
from sciagent.domains.registry import checked_settings, domains
from sciagent.runs.opened import Run

FIELDS = [domain for domain in domains() if domain.name != "toy"]
QUESTIONS = [(domain, question) for domain in FIELDS for question in domain.questions]
SIMULATED = [domain for domain in FIELDS if domain.simulate is not None]
GUIDE_LINES = 150
UNCERTAINTIES = 4.0
SPOILED = -1e9

each_field = pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
each_question = pytest.mark.parametrize(
    ("field", "question"), QUESTIONS, ids=[f"{d.name}/{q.name}" for d, q in QUESTIONS]
)


def package_of(field: Domain) -> str:
    return field.questions[0].build.__module__.rpartition(".")[0]


@each_field
def test_a_field_is_imported_without_the_libraries_that_compute(field: Domain) -> None:
    heavy = {p.replace("-", "_") for q in field.questions for p in q.packages}
    program = f"import sys, {package_of(field)}.domain; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert heavy & set(loaded) == set()


def models_of(field: Domain) -> list[type[BaseModel]]:
    package = importlib.import_module(package_of(field))
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    ]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, BaseModel)
        and value.__module__ == module.__name__
    ]


@each_field
def test_every_model_of_a_field_that_has_defaults_reads_back_from_its_json(field: Domain) -> None:
    complete = [m for m in models_of(field) if not any(f.is_required() for f in fields_of(m))]
    assert {q.settings for q in field.questions} <= set(complete)
    for model in complete:
        value = model()
        assert model.model_validate_json(value.model_dump_json()) == value


def fields_of(model: type[BaseModel]) -> list[Any]:
    return list(model.model_fields.values())


@each_question
def test_settings_of_datasets_and_defaults_read_back_from_json(
    field: Domain, question: Question
) -> None:
    chosen: list[dict[str, Any]] = [{}]
    name = f"{field.name}/{question.name}"
    chosen += [dict(data.settings) for data in list_datasets() if data.question == name]
    for settings in chosen:
        model = checked_settings(question, settings)
        assert question.settings.model_validate_json(model.model_dump_json()) == model


@each_question
def test_every_number_among_the_settings_has_a_unit_and_a_description(
    field: Domain, question: Question
) -> None:
    properties = question.settings.model_json_schema()["properties"]
    for name, schema in properties.items():
        kinds = {schema.get("type"), *(each.get("type") for each in schema.get("anyOf", ()))}
        assert schema.get("description"), name
        if "number" in kinds:
            assert schema.get("unit") in UNITS, name


@each_field
def test_the_guide_is_there_and_short_enough_to_be_read(field: Domain) -> None:
    lines = field.guide.read_text(encoding="utf-8").splitlines()
    assert 10 < len(lines) < GUIDE_LINES


@pytest.fixture(scope="module", params=SIMULATED, ids=lambda field: field.name)
def simulated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run over a simulated measurement, and the folder with its truth."""
    field: Domain = request.param
    assert field.simulate is not None
    folder = tmp_path_factory.mktemp(field.name)
    inputs = field.simulate(folder, 1)
    name = f"{field.name}/{field.questions[0].name}"
    return field, folder, sciagent.run(name, inputs=inputs, out=folder / "runs")


def test_a_simulated_measurement_gives_its_truth_back(
    simulated: tuple[Domain, Path, Run],
) -> None:
    _, folder, run = simulated
    assert run.result.status == "completed", run.result.reason
    truth = json.loads((folder / "truth.json").read_text())
    assert truth
    for name, known in truth.items():
        true, found = Quantity.model_validate(known), run.result.metrics[name]
        assert found.unit == true.unit
        assert found.uncertainty is not None
        off = abs(found.value - true.value)
        assert off <= UNCERTAINTIES * found.uncertainty, f"{name}: {found} instead of {true.value}"


def test_the_report_of_a_simulated_measurement_verifies_and_carries_what_it_must(
    simulated: tuple[Domain, Path, Run],
) -> None:
    _, _, run = simulated
    assert run.claims is not None
    assert run.claims.required
    assert run.verification is not None
    assert run.verification.ok, run.verification.findings


def result_of(run: Run) -> Outcome:
    study = run.studies[0]
    (best,) = [trial for trial in study.trials if trial.number == study.best]
    assert best.outcome is not None
    return best.outcome


def problem_of(field: Domain, folder: Path) -> Any:
    question = field.questions[0]
    assert field.simulate is not None
    return question.build(field.simulate(folder, 1), checked_settings(question, {}))


def test_a_spoiled_result_fails_a_check(
    simulated: tuple[Domain, Path, Run], tmp_path: Path
) -> None:
    field, _, run = simulated
    problem, outcome = problem_of(field, tmp_path), result_of(run)
    assert all(check.passed for check in problem.checks(outcome) if check.hard)
    spoiled = outcome.model_copy(
        update={
            "metrics": {
                name: value.model_copy(update={"value": SPOILED})
                for name, value in outcome.metrics.items()
            }
        }
    )
    assert any(not check.passed and check.hard for check in problem.checks(spoiled))


def test_the_built_in_policy_of_a_field_keeps_no_state(
    simulated: tuple[Domain, Path, Run], tmp_path: Path
) -> None:
    field, _, run = simulated
    problem, study = problem_of(field, tmp_path), run.studies[0]
    policy = field.questions[0].policy(problem)
    heads: list[int | None] = [None]
    for trial in study.trials:
        heads.append(trial.number if trial.accepted else heads[-1])
    views = [
        StudyView(
            study=study.study, objective=study.objective, trials=study.trials[:count],
            head=None if head is None else study.trials[head - 1], best=None, trials_left=None,
            cpu_left_s=None, wall_left_s=None, seed=0,
        )
        for count, head in enumerate(heads)
    ]  # fmt: skip
    forwards = [policy.propose(view) for view in views]
    backwards = [field.questions[0].policy(problem).propose(view) for view in reversed(views)]
    assert forwards == backwards[::-1]
    assert isinstance(forwards[-1], Finish | Abstain)
    for trial, answer in zip(study.trials, forwards, strict=False):
        assert not isinstance(answer, Finish | Abstain)
        assert trial.proposal in answer.proposals


@each_question
def test_a_problem_offers_a_beginning_and_selects_by_another_metric_than_it_aims_at(
    field: Domain, question: Question, tmp_path: Path
) -> None:
    if field.simulate is None:
        pytest.skip("this field simulates nothing")
    problem = problem_of(field, tmp_path)
    assert problem.objective.unit in UNITS
    assert problem.actions(None)
    for spec in problem.actions(None):
        assert spec.summary
    if problem.selection is not None:
        assert problem.selection.metric != problem.objective.metric

"""The rows of a campaign: what each runs, under an identifier that depends on nothing else."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, JsonValue

from sciagent.contracts.errors import InputError
from sciagent.contracts.model import SCHEMA_VERSION, Contract, canonical_json, sha256_text
from sciagent.datasets import load_dataset
from sciagent.domains.registry import checked_settings, domain_of, question
from sciagent.execution.attempts import AttemptTask
from sciagent.runs.campaign_spec import CampaignSpec, parameter_sets
from sciagent.runs.environment import code_hash, package_versions
from sciagent.workspace.content import sha256_of_file

WORKFLOW_CARRIER = "sciagent.runs.workflow_run:run_workflow"
QUESTION_CARRIER = "sciagent.runs.campaign_question:run_question"
_ID_LENGTH = 16
_PACKAGES = ("ipykernel", "numpy", "sciagent", "scipy")


class Row(Contract):
    """A row of a campaign."""

    id: str = Field(description="Hash of what is run, its parameters, files and environment.")
    number: int = Field(ge=1)
    parameters: dict[str, JsonValue]
    paths: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    dataset: str | None = None
    seed: int = 0

    @property
    def shown(self) -> dict[str, JsonValue]:
        """All that was given for this row, as people read it."""
        files = {name: " ".join(Path(p).name for p in each) for name, each in self.paths.items()}
        dataset = {"dataset": self.dataset} if self.dataset else {}
        return {**dataset, **files, **self.parameters}


class CampaignFile(Contract):
    """The file `campaign.json`."""

    schema_version: int = SCHEMA_VERSION
    spec: CampaignSpec
    rows: tuple[Row, ...]


def rows_of(spec: CampaignSpec) -> tuple[Row, ...]:
    """Expand a campaign to its rows and check each.

    Raises
    ------
    InputError
        If a row cannot be run as it is given, or two rows are the same.
    """
    surroundings = _surroundings(spec)
    rows: dict[str, Row] = {}
    for number, parameters in enumerate(parameter_sets(spec), 1):
        row = _row(spec, number, parameters, surroundings)
        if row.id in rows:
            raise InputError(
                f"Row {number} is the same as row {rows[row.id].number}.", "Give each once."
            )
        rows[row.id] = row
    return tuple(rows.values())


def task_of(spec: CampaignSpec, row: Row, folder: Path) -> AttemptTask:
    """Make what a worker needs to run a row."""
    return AttemptTask(
        campaign=str(folder),
        row=row.id,
        carrier=WORKFLOW_CARRIER if spec.workflow else QUESTION_CARRIER,
        source=spec.subject,
        parameters=row.parameters,
        paths=row.paths,
        dataset=row.dataset,
        seed=row.seed,
        threads=spec.threads,
        limits=spec.limits,
        readable=tuple(str(spec.located(path)) for path in spec.readable),
    )


def _surroundings(spec: CampaignSpec) -> dict[str, JsonValue]:
    """What results depend on beside the parameters."""
    versions: dict[str, JsonValue] = dict(package_versions(_PACKAGES))
    if spec.workflow is None:
        asked = domain_of(str(spec.question))
        return {"question": spec.question, "code": code_hash(asked), "packages": versions}
    notebook = spec.located(spec.workflow)
    if not notebook.is_file():
        raise InputError(f"There is no notebook {notebook}.", "Check `workflow`.")
    return {"notebook": sha256_of_file(notebook), "packages": versions}


def _row(
    spec: CampaignSpec,
    number: int,
    parameters: dict[str, JsonValue],
    surroundings: Mapping[str, JsonValue],
) -> Row:
    left = dict(parameters)
    dataset, seed = spec.dataset, spec.seed
    names = {*spec.paths, *([spec.files.parameter] if spec.files else [])}
    if spec.question is not None:
        dataset, seed = _popped(left, "dataset", dataset, str), _popped(left, "seed", seed, int)
        names |= {each.name for each in question(spec.question).inputs}
    paths = {name: _existing(spec, number, left.pop(name)) for name in sorted(names & left.keys())}
    if spec.question is not None:
        brought = load_dataset(dataset).settings if dataset else {}
        checked_settings(question(spec.question), {**brought, **left})
    identity = {
        **surroundings,
        "parameters": left,
        "files": {name: [sha256_of_file(Path(p)) for p in each] for name, each in paths.items()},
        "dataset": dataset,
        "seed": seed,
    }
    identifier = sha256_text(canonical_json(identity))[:_ID_LENGTH]
    return Row(
        id=identifier, number=number, parameters=left, paths=paths, dataset=dataset, seed=seed
    )


def _popped(parameters: dict[str, JsonValue], name: str, default: Any, kind: type) -> Any:
    value = parameters.pop(name, default)
    if value is not None and not isinstance(value, kind):
        raise InputError(f"The {name} {value!r} cannot be used.", f"Give a {kind.__name__}.")
    return value


def _existing(spec: CampaignSpec, number: int, given: JsonValue) -> tuple[str, ...]:
    return tuple(_files(spec, number, given if isinstance(given, list) else [given]))


def _files(spec: CampaignSpec, number: int, given: list[JsonValue]) -> Iterator[str]:
    for each in given:
        path = spec.located(Path(str(each)))
        if not path.is_file():
            raise InputError(f"Row {number} names no file: {path}.", "Check its path.")
        yield str(path)

"""What a campaign is asked for, as it stands in a YAML file."""

import csv
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import Field, JsonValue, ValidationError, model_validator

from sciagent.contracts.errors import InputError
from sciagent.contracts.model import Contract
from sciagent.execution.notebook_limits import NotebookLimits

_SUFFIX = ".ipynb"


class Files(Contract):
    """A row for each file of a folder."""

    parameter: str = Field(description="Parameter or input that gets the file.")
    folder: Path
    match: str = "*"


class CampaignSpec(Contract):
    """A workflow notebook or a question, with the parameters of many runs."""

    campaign: str = Field(min_length=1, description="Name; its folder is called after it.")
    workflow: Path | None = Field(default=None, description="Notebook that each row runs.")
    question: str | None = Field(default=None, description="`domain/question` in its place.")
    dataset: str | None = Field(default=None, description="For a question.")
    parameters: dict[str, JsonValue] = Field(
        default_factory=dict, description="The same in all rows."
    )
    grid: dict[str, tuple[JsonValue, ...]] = Field(
        default_factory=dict, description="All combinations of these values."
    )
    csv: Path | None = Field(default=None, description="A row for each line; heads are names.")
    files: Files | None = None
    paths: tuple[str, ...] = Field(
        default=(), description="Parameters of a workflow that name files."
    )
    readable: tuple[Path, ...] = Field(
        default=(), description="What notebooks may read besides the files of their parameters."
    )
    seed: int = Field(default=0, ge=0)
    threads: int = Field(default=1, ge=1)
    limits: NotebookLimits = NotebookLimits()
    retries: int = Field(
        default=1, ge=0, description="Further attempts after an error that may not come again."
    )
    parallel: int = Field(default=2, ge=1, description="Rows that run side by side.")
    beside: Path = Field(default=Path(), description="Folder that relative paths start from.")

    @model_validator(mode="after")
    def _has_one_subject(self) -> Self:
        if (self.workflow is None) == (self.question is None):
            raise ValueError("give either `workflow` or `question`")
        return self

    @property
    def subject(self) -> str:
        """What is run: the path of the notebook, or the name of the question."""
        return str(self.located(self.workflow)) if self.workflow else str(self.question)

    def located(self, path: Path) -> Path:
        """Find a path that the file names."""
        return (self.beside / path.expanduser()).absolute()


def load_spec(source: Path | Mapping[str, Any] | CampaignSpec) -> CampaignSpec:
    """Read what a campaign is asked for.

    Parameters
    ----------
    source
        A YAML file, its content, or what was read before. Relative paths in a file start from
        the file's folder.

    Raises
    ------
    InputError
        If it cannot be read; the message names the first thing that is wrong.
    """
    if isinstance(source, CampaignSpec):
        return source
    content: Any = source
    where, beside = "The campaign", Path.cwd()
    if isinstance(source, Path):
        content, where, beside = _read(source), str(source), source.absolute().parent
    if not isinstance(content, Mapping):
        raise InputError(f"{where} is no list of names with values.", _EXAMPLE)
    try:
        return CampaignSpec.model_validate({"beside": beside, **content})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"])) or "campaign"
        reason = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{where}: {name}: {reason}.", _EXAMPLE) from error


_EXAMPLE = (
    "Write `campaign: NAME`, `question: DOMAIN/QUESTION` or `workflow: NOTEBOOK.ipynb`, and "
    "`grid:`, `csv:` or `files:`; see docs/how-to/run-a-campaign.md."
)


def _read(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.", "Check its path.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())
        raise InputError(f"The file {path} cannot be read: {said}.", "Mend it.") from error


def parameter_sets(spec: CampaignSpec) -> Iterator[dict[str, JsonValue]]:
    """Expand a campaign to the parameters of its rows, in order.

    Lines of the CSV file and files of the folder are combined with every point of the grid.

    Raises
    ------
    InputError
        If a file or folder cannot be read, or a name is given in two places.
    """
    sources: list[list[dict[str, JsonValue]]] = []
    if spec.csv is not None:
        sources.append(_lines(spec.located(spec.csv)))
    if spec.files is not None:
        sources.append(_files(spec, spec.files))
    for name, values in spec.grid.items():
        sources.append([{name: value} for value in values])
    for parts in itertools.product(*sources):
        row = dict(spec.parameters)
        for part in parts:
            _refuse_repeated(row.keys() & part.keys() - spec.parameters.keys())
            row.update(part)
        yield row


def _refuse_repeated(names: set[str]) -> None:
    if names:
        raise InputError(
            f"The parameter {min(names)!r} is given in two places.", "Give it in one of them."
        )


def _lines(path: Path) -> list[dict[str, JsonValue]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"The table {path} cannot be read: {error}.", "Mend it.") from error
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise InputError(
                f"Line {number} of {path} has not as many cells as the first.", "Mend it."
            )
    if not rows:
        raise InputError(f"The table {path} has no lines below its heads.", "Add some.")
    return [{name: _value(text) for name, text in row.items()} for row in rows]


def _value(text: str) -> JsonValue:
    """Read a cell as YAML reads a value: a number, true, false, nothing, or a text."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, bool | int | float | str | list) or value is None else text


def _files(spec: CampaignSpec, files: Files) -> list[dict[str, JsonValue]]:
    folder = spec.located(files.folder)
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.", "Check `files: folder`.")
    found = sorted(path for path in folder.glob(files.match) if path.is_file())
    if not found:
        raise InputError(f"No file in {folder} matches {files.match!r}.", "Check `files: match`.")
    return [{files.parameter: str(path)} for path in found]

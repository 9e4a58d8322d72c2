"""A dataset as its `dataset.toml` describes it."""

from typing import Literal

from pydantic import Field, JsonValue

from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import Quantity


class DatasetFile(Contract):
    """One file of a dataset and where it comes from.

    `bundled`: beside `dataset.toml`. `dependency`: inside an installed package. `download`: from
    `url`, kept in the cache.
    """

    input: str = Field(description="Input of the question that the file is given to.")
    origin: Literal["bundled", "dependency", "download"]
    path: str = Field(description="Relative to the dataset's folder, or to the package.")
    package: str = Field(default="", description="For `dependency`: the import name.")
    url: str = ""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=0, json_schema_extra={"unit": "B"})


class Dataset(Contract):
    """Files with their source and licence, the question they answer and known values."""

    schema_version: int
    name: str
    title: str
    question: str = Field(description="`domain/question` that it is made for.")
    kind: Literal["measured", "simulated"]
    source: str = Field(description="Where it was published, or how it was made.")
    licence: str
    files: tuple[DatasetFile, ...]
    settings: dict[str, JsonValue] = Field(
        default_factory=dict, description="Settings of the question that belong to the data."
    )
    known: dict[str, Quantity] = Field(
        default_factory=dict, description="Published or true values; never shown to a policy."
    )

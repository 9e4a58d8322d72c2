"""Reads `dataset.toml`."""

import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from sciagent.contracts.dataset import Dataset, DatasetFile
from sciagent.contracts.errors import InputError
from sciagent.contracts.model import SCHEMA_VERSION

DESCRIPTION = "dataset.toml"
_REMEDY = "Mend that file; docs/reference describes its fields."


def read_description(path: Path) -> Dataset:
    """Read and judge a `dataset.toml`.

    Raises
    ------
    InputError
        If it cannot be read, a newer version wrote it, a field is missing or wrong, or a file
        is given a place that cannot be looked up.
    """
    content = _content(path)
    version = content.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise InputError(
            f"{path} has the schema version {version}; this version of sciagent reads up to "
            f"{SCHEMA_VERSION}.",
            "Update sciagent to read it.",
        )
    try:
        dataset = Dataset.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}, field {place}: {first['msg']}.", _REMEDY) from error
    if dataset.name != path.parent.name:
        raise InputError(
            f"{path} describes {dataset.name!r}, but its folder is {path.parent.name!r}.",
            "Give both the same name.",
        )
    for file in dataset.files:
        _judge_place(path, file)
    return dataset


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", _REMEDY) from error


def _judge_place(path: Path, file: DatasetFile) -> None:
    parts = PurePosixPath(file.path)
    if parts.is_absolute() or ".." in parts.parts or not parts.name:
        raise InputError(f"{path}: the path {file.path!r} leads out of its folder.", _REMEDY)
    if file.origin == "dependency" and not file.package:
        raise InputError(f"{path}: no package is named for {file.path!r}.", _REMEDY)
    if file.origin == "download" and not file.url:
        raise InputError(f"{path}: no address is given for {file.path!r}.", _REMEDY)
    if file.url and not file.url.startswith(("https://", "http://")):
        raise InputError(f"{path}: the address {file.url!r} is not a web address.", _REMEDY)

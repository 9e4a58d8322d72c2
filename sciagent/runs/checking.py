"""What is asked of a study, checked before anything is written: for runs and for agents alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciagent.contracts.dataset import Dataset
from sciagent.contracts.domain import Inputs
from sciagent.contracts.errors import InputError
from sciagent.contracts.ports import Problem
from sciagent.datasets import load_dataset, resolve
from sciagent.domains.registry import checked_inputs, checked_settings, question


@dataclass(frozen=True, slots=True)
class Checked:
    """Files and settings that a question accepts, and the problem they make."""

    files: dict[str, tuple[Path, ...]]
    settings: dict[str, Any]
    problem: Problem


def checked(name: str, dataset: str | None, inputs: Inputs, settings: Mapping[str, Any]) -> Checked:
    """Put what was given over what the dataset brings, and let the domain read it all once.

    Raises
    ------
    InputError
        If a file or setting cannot be used, or the dataset is made for another question.
    """
    asked = question(name)
    data = None if dataset is None else _dataset_for(name, dataset)
    files = checked_inputs(asked, {**(resolve(data) if data else {}), **inputs})
    model = checked_settings(asked, {**(data.settings if data else {}), **settings})
    return Checked(files, model.model_dump(mode="json"), asked.build(files, model))


def _dataset_for(name: str, dataset: str) -> Dataset:
    data = load_dataset(dataset)
    if data.question != name:
        raise InputError(
            f"The dataset {dataset!r} is made for {data.question}, not for {name}.",
            "`sciagent data list` shows which dataset is made for which question.",
        )
    return data

"""Finds the fields of science: those in this folder, and those other distributions bring.

Another distribution adds a field through the entry-point group ``sciagent.domains``, whose
value names its `Domain`, such as ``their_package.domain:DOMAIN``.
"""

import importlib
import logging
import pkgutil
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sciagent.contracts.domain import Domain, Inputs, Question
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.ports import Problem

GROUP = "sciagent.domains"

_log = logging.getLogger(__name__)


@cache
def domains() -> tuple[Domain, ...]:
    """List all fields, by name."""
    here = Path(__file__).parent
    names = [module.name for module in pkgutil.iter_modules([str(here)]) if module.ispkg]
    own = [importlib.import_module(f"sciagent.domains.{name}.domain").DOMAIN for name in names]
    others = filter(None, map(_loaded, entry_points(group=GROUP)))
    return tuple(sorted([*own, *others], key=lambda domain: str(domain.name)))


def _loaded(entry: EntryPoint) -> Domain | None:
    """Load another distribution's field; a broken one must not take the others with it."""
    try:
        field: Domain = entry.load()
    except (ImportError, AttributeError) as error:
        _log.warning("The field %r of %r cannot be loaded: %s", entry.name, entry.value, error)
        return None
    return field


def questions() -> dict[str, Question]:
    """Map ``domain/question`` to every question that can be studied."""
    return {f"{d.name}/{q.name}": q for d in domains() for q in d.questions}


def question(name: str) -> Question:
    """Look a question up by ``domain/question``.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    known = questions()
    if name not in known:
        raise UnknownNameError.among("question", name, known)
    return known[name]


def domain_of(question_name: str) -> Domain:
    """Look up the field that a question belongs to."""
    question(question_name)
    field = question_name.partition("/")[0]
    return next(domain for domain in domains() if domain.name == field)


def checked_settings(asked: Question, settings: dict[str, Any]) -> Any:
    """Turn settings as typed by a person into the question's model.

    Raises
    ------
    UnknownNameError
        If the question has no such setting.
    InputError
        If a value is out of its bounds or of the wrong type.
    """
    known = asked.settings.model_fields
    for name in settings:
        if name not in known:
            raise UnknownNameError.among("setting", name, known)
    try:
        return asked.settings.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "settings"
        raise InputError(
            f"The setting {name!r} cannot be {first['input']!r}: {first['msg']}.",
            f"Description: {_description(asked, name)}",
        ) from error


def checked_inputs(asked: Question, inputs: Inputs) -> dict[str, tuple[Path, ...]]:
    """Check that the files given are those the question takes, and that they are there.

    Raises
    ------
    UnknownNameError
        If the question has no such input.
    InputError
        If one is missing, is no file, is empty, or is given too often.
    """
    specs = {spec.name: spec for spec in asked.inputs}
    for name, paths in inputs.items():
        if name not in specs:
            raise UnknownNameError.among("input", name, specs)
        if len(paths) > 1 and not specs[name].many:
            raise InputError(f"The input {name!r} takes one file, not {len(paths)}.")
        for path in paths:
            _check_file(name, Path(path))
    for spec in asked.inputs:
        if spec.required and not inputs.get(spec.name):
            raise InputError(
                f"The input {spec.name!r} is missing ({spec.summary}).",
                f"Give it with --input {spec.name}=PATH, or choose a dataset.",
            )
    return {name: tuple(Path(path) for path in paths) for name, paths in inputs.items()}


def problem(name: str, inputs: dict[str, list[str]], settings: dict[str, Any]) -> Problem:
    """Make the problem of a question: what worker processes call by name."""
    asked = question(name)
    files = {key: tuple(Path(path) for path in paths) for key, paths in inputs.items()}
    built: Problem = asked.build(files, checked_settings(asked, settings))
    return built


def _check_file(name: str, path: Path) -> None:
    if not path.exists():
        raise InputError(f"The file {str(path)!r} for input {name!r} does not exist.")
    if not path.is_file():
        raise InputError(f"{str(path)!r} for input {name!r} is not a file.")
    if path.stat().st_size == 0:
        raise InputError(f"The file {str(path)!r} for input {name!r} is empty.")


def _description(asked: Question, setting: str) -> str:
    field = asked.settings.model_fields.get(setting.partition(".")[0])
    return (field.description if field is not None else None) or "see `sciagent run --help`."

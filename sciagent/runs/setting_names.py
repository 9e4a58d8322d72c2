"""Names of settings, and what must not stand where settings are written down."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.tools.secrets import Redactor

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY_NAME = re.compile(
    r"(?:^|[._-])(?:(?:api|secret|access)[_-]?key|key|token|secret|password|passwd|authorization"
    r"|bearer|credentials?)$",
    re.IGNORECASE,
)
_REMEDY = (
    "Take it out, and put it into the environment variable that `endpoint.api_key_variable` names "
    "(SCIAGENT_API_KEY unless it is set)."
)


def setting_names(model: type[BaseModel], place: str = "") -> Iterator[str]:
    """Dotted names of all settings of a model, those of its parts included."""
    for key, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from setting_names(inner, f"{place}{key}.")
        else:
            yield f"{place}{key}"


def refuse_unknown(model: type[BaseModel], content: Mapping[str, Any], where: str) -> None:
    """Refuse settings that a model does not have.

    Raises
    ------
    UnknownNameError
        Naming the nearest one that it has, at any depth.
    InputError
        If what is unknown looks like a key, or a value stands where a table belongs.
    """
    for name in _unknown(model, content, "", where):
        if _KEY_NAME.search(name):
            raise InputError(f"{where} holds a key, as {name!r}.", _REMEDY)
        known = list(setting_names(model))
        near = _nearest(name, known)
        hint = f"Did you mean {near!r}?" if near else f"Known: {', '.join(known)}."
        raise UnknownNameError(f"{where}: there is no setting {name!r}.", hint)


def _nearest(name: str, known: list[str]) -> str:
    """Find the setting meant; one of the same last word in another table counts too."""
    last = name.rpartition(".")[2]
    lasts = [each.rpartition(".")[2] for each in known]
    same = difflib.get_close_matches(last, lasts, n=1, cutoff=0.75)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    if near:
        return near[0]
    return known[lasts.index(same[0])] if same else ""


def _unknown(
    model: type[BaseModel], content: Mapping[str, Any], place: str, where: str
) -> Iterator[str]:
    for key, value in content.items():
        name = f"{place}{key}"
        if key not in model.model_fields:
            yield name
            continue
        inner = model.model_fields[key].annotation
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            continue
        if not isinstance(value, dict):
            raise InputError(
                f"{where}: {name!r} is a table, not {value!r}.", f"Write its settings in [{name}]."
            )
        yield from _unknown(inner, value, f"{name}.", where)


def refuse_keys(content: Mapping[str, Any], where: str) -> None:
    """Refuse a key, or a password, that was written where a workspace would keep it.

    Raises
    ------
    InputError
        Naming the setting, never the value.
    """
    for name, value in _leaves(content, ""):
        last = name.rpartition(".")[2]
        if last == "api_key_variable":
            held = _VARIABLE.fullmatch(str(value)) is None or _has_shape(value)
        else:
            held = (_KEY_NAME.search(last) is not None and bool(value)) or _has_shape(value)
        if held:
            raise InputError(f"{where} holds a key, as {name!r}.", _REMEDY)


def _has_shape(value: Any) -> bool:
    return isinstance(value, str) and Redactor().text(value) != value


def _leaves(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _leaves(each, f"{place}.{number}")
    else:
        yield place, value

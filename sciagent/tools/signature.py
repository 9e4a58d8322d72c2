"""The JSON schema of a function's arguments, and arguments checked against it."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, create_model

from sciagent.contracts.errors import InputError, UnknownNameError

_SECTION = re.compile(r"\n(?P<title>[A-Z][A-Za-z ]+)\n-{3,}\n")
_ANYTHING = {"$ref": "#/$defs/JsonValue"}
_SHOWN_CHARACTERS = 80
_SHOWN_FAULTS = 3


@dataclass(frozen=True, slots=True)
class Signature:
    """Name, words and arguments of a function that a model may call.

    Attributes
    ----------
    name, description
        As a model reads them.
    model
        Model of the arguments, the context left out.
    whole
        Parameter that takes all arguments as one model; empty if each has its own.
    """

    name: str
    description: str
    model: type[BaseModel]
    whole: str = ""

    @classmethod
    def of(cls, function: Callable[..., Any], name: str = "") -> "Signature":
        """Read a function's signature and its numpydoc docstring.

        A function with many arguments takes, besides the context, one model of them.
        """
        name = name or function.__name__
        summary, described = parsed_docstring(inspect.getdoc(function) or "")
        hints = get_type_hints(function, include_extras=True)
        parameters = list(inspect.signature(function).parameters.values())[1:]
        if len(parameters) == 1:
            only = hints[parameters[0].name]
            if isinstance(only, type) and issubclass(only, BaseModel):
                return cls(name, summary, only, parameters[0].name)
        fields: dict[str, Any] = {}
        for parameter in parameters:
            required = parameter.default is inspect.Parameter.empty
            default = ... if required else parameter.default
            fields[parameter.name] = (hints[parameter.name], default)
        model = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        for field, words in described.items():
            if field in model.model_fields and model.model_fields[field].description is None:
                model.model_fields[field].description = words
        model.model_rebuild(force=True)
        return cls(name=name, description=summary, model=model)

    def schema(self) -> dict[str, JsonValue]:
        """JSON schema of the arguments, without the titles that only repeat the names."""
        schema: dict[str, JsonValue] = _tidied(self.model.model_json_schema())
        schema.pop("description", None)
        if not schema.get("$defs", True):
            del schema["$defs"]
        return schema

    def check(self, arguments: Mapping[str, JsonValue]) -> None:
        """Refuse arguments that the function cannot take."""
        self.checked(arguments)

    def checked(self, arguments: Mapping[str, JsonValue]) -> dict[str, Any]:
        """Turn arguments into the types of the signature.

        Raises
        ------
        UnknownNameError
            If there is no argument of that name.
        InputError
            If one is missing or cannot be used; all of them are named.
        """
        for given in arguments:
            if given not in self.model.model_fields:
                raise UnknownNameError.among(
                    f"argument of {self.name}", given, self.model.model_fields
                )
        try:
            parsed = self.model.model_validate(dict(arguments))
        except ValidationError as error:
            raise InputError(_faults(self.name, error), self._reminder()) from error
        if self.whole:
            return {self.whole: parsed}
        return {field: getattr(parsed, field) for field in self.model.model_fields}

    def _reminder(self) -> str:
        fields = self.model.model_fields.items()
        listed = [name if field.is_required() else f"[{name}]" for name, field in fields]
        return f"It takes {', '.join(listed)}." if listed else "It takes no arguments."


def _faults(name: str, error: ValidationError) -> str:
    faults = []
    for each in error.errors(include_url=False)[:_SHOWN_FAULTS]:
        place = ".".join(str(part) for part in each["loc"]) or "arguments"
        if each["type"] == "missing":
            faults.append(f"{name} needs {place!r}.")
        else:
            given = repr(each["input"])[:_SHOWN_CHARACTERS]
            faults.append(f"{place!r} of {name} cannot be {given}: {each['msg']}.")
    return " ".join(faults)


def parsed_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Split a numpydoc docstring into what stands before its sections and its parameters."""
    parts = _SECTION.split(f"\n{text}\n")
    words = " ".join(parts[0].split())
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    described: dict[str, list[str]] = {}
    names: list[str] = []
    for line in sections.get("Parameters", "").splitlines():
        if line and not line[0].isspace():
            names = [name.strip() for name in line.partition(":")[0].split(",")]
        elif line.strip():
            for name in names:
                described.setdefault(name, []).append(line.strip())
    return words, {name: " ".join(lines) for name, lines in described.items()}


def _tidied(node: Any) -> Any:
    """A schema without titles and without references to what may be anything."""
    if isinstance(node, list):
        return [_tidied(each) for each in node]
    if not isinstance(node, dict):
        return node
    if node == _ANYTHING:
        return {}
    kept = {}
    for key, value in node.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in {"properties", "$defs"}:
            kept[key] = {name: _tidied(each) for name, each in value.items() if name != "JsonValue"}
        else:
            kept[key] = value if key in {"default", "enum", "const"} else _tidied(value)
    return kept

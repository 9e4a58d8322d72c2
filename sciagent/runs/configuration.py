"""How agents are run: from a file, then the environment, then what is asked for at the moment.

The file is TOML. It holds no key: only the name of the environment variable that does::

    approval = "auto-safe"
    local_only = true

    [endpoint]
    base_url = "http://localhost:8000/v1"
    model = "Sage-A1.5"

    [endpoint.sampling]
    temperature = 0.6

    [agent]
    verification = true

    [agent.budget]
    tokens = 200000

    [literature]
    contact = "you@example.org"
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_config_path
from pydantic import BaseModel, Field, JsonValue, ValidationError

from sciagent.agent.settings import AgentSettings
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.errors import InputError
from sciagent.contracts.model import Contract
from sciagent.runs.retrieval import LiteratureSettings
from sciagent.runs.setting_names import refuse_keys, refuse_unknown
from sciagent.tools.approval import ApprovalMode

FILE_VARIABLE = "SCIAGENT_CONFIG"
"""Environment variable that names another configuration file."""

VARIABLES = {
    "SCIAGENT_BASE_URL": "endpoint.base_url",
    "SCIAGENT_MODEL": "endpoint.model",
    "SCIAGENT_API_KEY_VARIABLE": "endpoint.api_key_variable",
    "SCIAGENT_CONTEXT_TOKENS": "endpoint.context_tokens",
    "SCIAGENT_STREAM": "endpoint.stream",
    "SCIAGENT_IMAGES": "endpoint.images",
    "SCIAGENT_TIMEOUT_S": "endpoint.timeout_s",
    "SCIAGENT_TEMPERATURE": "endpoint.sampling.temperature",
    "SCIAGENT_VERIFICATION": "agent.verification",
    "SCIAGENT_SUBAGENTS": "agent.subagents",
    "SCIAGENT_BUDGET_TOKENS": "agent.budget.tokens",
    "SCIAGENT_BUDGET_TURNS": "agent.budget.turns",
    "SCIAGENT_BUDGET_WALL_S": "agent.budget.wall_s",
    "SCIAGENT_APPROVAL": "approval",
    "SCIAGENT_LOCAL_ONLY": "local_only",
    "SCIAGENT_LITERATURE_MODE": "literature.mode",
    "SCIAGENT_CONTACT": "literature.contact",
    "SCIAGENT_SEARXNG_URL": "literature.addresses.searxng",
}
"""Settings by the environment variables that give them."""

Asked = Mapping[str, JsonValue]
"""Settings by their dotted names, such as ``endpoint.base_url``; none leaves one as it is."""


class Configuration(Contract):
    """Which model is asked, and how agents work with it. Holds no secret."""

    endpoint: Endpoint = Endpoint()
    agent: AgentSettings = AgentSettings()
    approval: ApprovalMode = Field(
        default="ask", description="Before which tools a person is asked."
    )
    local_only: bool = Field(
        default=False, description="Refuse every connection but the one to the endpoint."
    )
    literature: LiteratureSettings = LiteratureSettings()


class _Layered(NamedTuple):
    """Settings of all layers, and where each was given."""

    content: dict[str, Any]
    origins: dict[str, str]


def configuration_file() -> Path:
    """Where the configuration file lies, whether there is one or not."""
    named = os.environ.get(FILE_VARIABLE)
    return Path(named).expanduser() if named else user_config_path("sciagent") / "config.toml"


def load_configuration(asked: Asked | None = None) -> Configuration:
    """Read the configuration: the file, over it the environment, over it what is asked for.

    Parameters
    ----------
    asked
        What holds whatever file and environment say.

    Raises
    ------
    InputError
        If a setting is unknown or cannot be used, or the file holds a key; where it was given
        is named.
    """
    return _checked(_layered(asked or {}))


def configured_endpoint(asked: Asked | None = None) -> Endpoint | None:
    """Read which endpoint someone chose; none if all would be defaults."""
    layered = _layered(asked or {})
    chosen = any(name.startswith("endpoint.") for name in layered.origins)
    return _checked(layered).endpoint if chosen else None


def with_asked(configuration: Configuration, asked: Asked) -> Configuration:
    """Put what is asked for over a configuration that was read before."""
    layered = _Layered(configuration.model_dump(mode="json"), {})
    _put_asked(layered, asked)
    return _checked(layered)


def _layered(asked: Asked) -> _Layered:
    layered = _Layered({}, {})
    for name, value in _of_file(configuration_file()):
        _put(layered, name, value, f"the file {configuration_file()}")
    for variable, name in VARIABLES.items():
        if value := os.environ.get(variable, "").strip():
            _put(layered, name, value, f"the variable {variable}")
    _put_asked(layered, asked)
    return layered


def _put_asked(layered: _Layered, asked: Asked) -> None:
    for name, value in asked.items():
        if value is not None:
            _put(layered, name, value, "what is asked for")


def _put(layered: _Layered, name: str, value: Any, origin: str) -> None:
    *tables, last = name.split(".")
    table = layered.content
    for each in tables:
        table = table.setdefault(each, {})
    table[last] = value
    layered.origins[name] = origin


def _of_file(path: Path) -> Iterator[tuple[str, Any]]:
    """Settings of the file by their dotted names; tables of free fields stay whole."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if os.environ.get(FILE_VARIABLE):
            raise InputError(
                f"There is no file {path}, which {FILE_VARIABLE} names.",
                "Make it, or take the variable away.",
            ) from None
        return
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"The file {path} cannot be read: {error}.", "Mend it.") from error
    refuse_unknown(Configuration, content, str(path))
    refuse_keys(content, str(path))
    yield from _flat(Configuration, content, "")


def _flat(model: type[BaseModel], table: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        inner = model.model_fields[key].annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _flat(inner, value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value


def _checked(layered: _Layered) -> Configuration:
    try:
        configuration = Configuration.model_validate(layered.content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        origin = next((said for key, said in layered.origins.items() if name.startswith(key)), "")
        where = f" in {origin}" if origin else ""
        raise InputError(
            f"The setting {name!r}{where} cannot be {first['input']!r}: {first['msg']}.",
            "Correct it; `docs/how-to/configure-an-endpoint.md` lists all settings.",
        ) from error
    refuse_keys(configuration.endpoint.model_dump(mode="json"), "The endpoint")
    return configuration

"""The parent of every model that packages exchange, and the canonical form they are hashed in."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1
"""Version of every file of a workspace; a reader refuses a file of a newer version."""


class Contract(BaseModel):
    """A frozen model that refuses unknown fields and non-finite numbers.

    Numbers that are not finite cannot be written as JSON, so they are refused where they
    enter and not where they are saved.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="constants"
    )


def canonical_json(value: Any) -> str:
    """Write a JSON value in the one form that hashes are computed over.

    Parameters
    ----------
    value
        Anything that `json.dumps` takes; models must be dumped in JSON mode first.

    Returns
    -------
    str
        Keys sorted, no white space, text not escaped to ASCII.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def canonical_model(model: BaseModel) -> str:
    """Write a model in canonical JSON."""
    return canonical_json(model.model_dump(mode="json"))


def sha256_text(text: str) -> str:
    """Hash a text (UTF-8) with SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()

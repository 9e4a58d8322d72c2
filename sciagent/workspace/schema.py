"""Schema versions: a file that a newer version wrote is refused, not misread."""

import json
import re
from pathlib import Path

from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.model import SCHEMA_VERSION

_DECLARATION = re.compile(rb'"schema_version"\s*:\s*([0-9]+)')


def declared_version(content: bytes) -> int | None:
    """Read the schema version of a JSON object, or of the body of a journal line.

    Texts without a version above ours are not parsed, as only a newer one matters.

    Returns
    -------
    int or None
        None if the text declares none or is no JSON object.
    """
    versions = [int(digits) for digits in _DECLARATION.findall(content)]
    if not versions or max(versions) <= SCHEMA_VERSION:
        return max(versions, default=None)
    try:
        value = json.loads(content)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    body = value.get("body")
    holder = body if isinstance(body, dict) and "schema_version" in body else value
    version = holder.get("schema_version")
    return version if isinstance(version, int) else None


def refuse_newer(path: Path, content: bytes) -> None:
    """Raise `WorkspaceError` if a JSON text declares a newer schema version than ours."""
    version = declared_version(content)
    if version is not None and version > SCHEMA_VERSION:
        raise WorkspaceError(
            f"{path} was written by a newer version of sciagent (schema {version}; this one "
            f"reads up to {SCHEMA_VERSION}).",
            "Update sciagent to read it.",
        )

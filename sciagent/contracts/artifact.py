"""A file of a workspace, known by its content."""

from pydantic import Field

from sciagent.contracts.model import Contract

Sha256 = str
"""SHA-256 in hexadecimal, 64 characters."""


class Artifact(Contract):
    """A file: where it lies and the hash of what it holds."""

    path: str = Field(description="Relative to the folder it belongs to, with forward slashes.")
    sha256: Sha256 = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=0, json_schema_extra={"unit": "B"})
    media_type: str = Field(default="application/octet-stream")

"""What people say of a claim after they have read the report."""

from typing import Literal

from pydantic import Field

from sciagent.contracts.model import SCHEMA_VERSION, Contract


class Review(Contract):
    """One line of `reviews.jsonl`: a comment, a sign-off or an objection, by name."""

    schema_version: int = SCHEMA_VERSION
    id: str = Field(description="ULID.")
    time: str = Field(description="UTC, ISO 8601.")
    reviewer: str = Field(min_length=1, description="Name of the person.")
    claim: str = Field(description="Claim it is about; empty for the report as a whole.")
    verdict: Literal["comment", "signed_off", "objection"] = "comment"
    text: str = ""
    claims_sha256: str = Field(
        pattern=r"^[0-9a-f]{64}$", description="Hash of the `claims.json` that was read."
    )

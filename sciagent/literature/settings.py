"""How the literature is retrieved."""

import os

from pydantic import Field

from sciagent.contracts.literature import RetrievalMode
from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in


class RetrievalSettings(Contract):
    """Whom to ask, for how long, and whether at all."""

    mode: RetrievalMode = "live"
    contact: str = Field(
        default="", description="Address of a person, told to the servers that are asked."
    )
    timeout_s: float = measured_in("s", default=20.0, gt=0.0, description="Of one answer's part.")
    deadline_s: float = measured_in("s", default=60.0, gt=0.0, description="Of one answer.")
    most_mib: float = measured_in("MiBy", default=50.0, gt=0.0, description="Of one answer.")
    trusted_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts that may have private addresses, such as a SearXNG of yours; with a "
        "port, or for all ports.",
    )
    addresses: dict[str, str] = Field(
        default_factory=dict,
        description="By the name of an index, where it is asked instead of its own address; "
        "`searxng` has none of its own.",
    )
    api_key_variables: dict[str, str] = Field(
        default_factory=dict,
        description="By the name of an index, the environment variable that holds its key, such "
        "as OPENALEX_API_KEY, which need not be named.",
    )
    without: tuple[str, ...] = Field(default=(), description="Indexes that are not asked.")
    most_works: int = Field(default=10, ge=1, le=50, description="Asked for of each index.")
    search_s: float = measured_in(
        "s", default=45.0, gt=0.0, description="Of one search in all indexes; who is late is left."
    )
    spacing_factor: float = measured_in(
        "1", default=1.0, ge=0.0,
        description="Of the waits between requests to one server; 0 only for servers of yours.",
    )  # fmt: skip
    most_failures: int = Field(
        default=3, ge=1, description="After so many in a row an index is left alone for a time."
    )
    pause_s: float = measured_in(
        "s", default=120.0, gt=0.0, description="How long an index is left alone."
    )

    def api_key_variable(self, index: str) -> str:
        """Name the environment variable that may hold the key of an index."""
        return self.api_key_variables.get(index, f"{index.upper()}_API_KEY")

    def api_key(self, index: str) -> str:
        """Read the key of an index from the environment; empty if there is none.

        A key that no header can hold counts as none.
        """
        key = os.environ.get(self.api_key_variable(index), "").strip()
        return key if key.isascii() and key.isprintable() else ""

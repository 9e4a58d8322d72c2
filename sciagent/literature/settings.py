"""How the literature is retrieved."""

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
        default=(), description="Hosts that may have private addresses, such as a SearXNG of yours."
    )

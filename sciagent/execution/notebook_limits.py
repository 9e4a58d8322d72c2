"""Bounds of a notebook or a row of a campaign."""

from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in


class NotebookLimits(Contract):
    """Bounds of a notebook; none means no bound."""

    timeout_s: float | None = measured_in("s", default=None, gt=0.0)
    cell_timeout_s: float | None = measured_in("s", default=None, gt=0.0)
    memory_mib: float | None = measured_in("MiBy", default=None, gt=0.0)

    def over(self, other: "NotebookLimits") -> "NotebookLimits":
        """Put what is given here over `other`."""
        return other.model_copy(update=self.model_dump(exclude_none=True))

"""When and why a notebook must end."""

import time
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sciagent.contracts.errors import InputError, LimitError
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.execution.truthful_execution import TruthfulExecution

_LEAST_TIME_S = 0.05


class NotebookEnd:
    """When and why a notebook must end.

    Parameters
    ----------
    execution
        The notebook.
    limits
        Its bounds.
    begin
        When it began, by the monotonic clock.
    """

    def __init__(self, execution: TruthfulExecution, limits: NotebookLimits, begin: float) -> None:
        self.limits = limits
        self.execution = execution
        self._deadline = None if limits.timeout_s is None else begin + limits.timeout_s

    def left_s(self, _cell: Any = None) -> float | None:
        """Time that a cell which begins now may take."""
        whole = None if self._deadline is None else self._deadline - time.monotonic()
        times = [each for each in (whole, self.limits.cell_timeout_s) if each is not None]
        return max(_LEAST_TIME_S, min(times)) if times else None

    def over(self) -> LimitError:
        """Say whose time was over."""
        late = self._deadline is not None and time.monotonic() >= self._deadline
        given_s = self.limits.timeout_s if late else self.limits.cell_timeout_s
        what = "the notebook" if late else "a cell"
        return LimitError(
            f"The {given_s:g} s of {what} were over in {self.place()}.", "Allow more time."
        )

    def place(self) -> str:
        """Name the cell that was cut off."""
        for number, cell in enumerate(self.execution.nb.cells, 1):
            if cell.metadata["sciagent"]["status"] in {"running", "interrupted"}:
                return f"cell {number} ({cell.get('id', 'without an id')})"
        return "no cell"


def limits_of(notebook: Any, options: Mapping[str, Any]) -> NotebookLimits:
    """Put the limits of the options over those of the notebook's metadata.

    Raises
    ------
    InputError
        If those of the metadata cannot be used.
    """
    asked: NotebookLimits = options.get("limits") or NotebookLimits()
    if asked.cell_timeout_s is None and options.get("execution_timeout"):
        asked = asked.model_copy(update={"cell_timeout_s": float(options["execution_timeout"])})
    told = notebook.metadata.get("sciagent", {})
    names = NotebookLimits.model_fields
    try:
        own = NotebookLimits(**{name: told[name] for name in names if name in told})
    except ValidationError as error:
        raise InputError(
            f"The notebook's limits cannot be used: {error.errors()[0]['msg']}.",
            "Correct `sciagent` in its metadata.",
        ) from error
    return asked.over(own)

"""How a campaign stands, read from its files alone: whoever drives it need not live."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from pydantic import ValidationError

from sciagent.contracts.errors import WorkspaceError
from sciagent.execution.ledger import Ledger, RowState
from sciagent.runs.campaign_rows import CampaignFile, Row
from sciagent.workspace.schema import refuse_newer

CAMPAIGN = "campaign.json"


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """How a campaign stands.

    Attributes
    ----------
    rows
        Each row with its state, in order.
    left_s
        Estimated time to the end in seconds; None before the first row has ended.
    """

    rows: tuple[tuple[Row, RowState], ...]
    left_s: float | None

    def count(self, *statuses: str) -> int:
        """How many rows are in one of these states."""
        return sum(state.status in statuses for _, state in self.rows)

    @property
    def failed(self) -> tuple[tuple[Row, RowState], ...]:
        """The rows that failed."""
        return tuple((row, state) for row, state in self.rows if state.status == "failed")


def read_campaign(folder: Path) -> CampaignFile:
    """Read what a campaign was asked for.

    Raises
    ------
    WorkspaceError
        If the folder is none of a campaign, or a newer version wrote it.
    """
    try:
        content = (folder / CAMPAIGN).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise WorkspaceError(
            f"{folder} is not the folder of a campaign.", "Give one that `sciagent batch` made."
        ) from None
    refuse_newer(folder / CAMPAIGN, content)
    try:
        return CampaignFile.model_validate_json(content)
    except ValidationError as error:
        raise WorkspaceError(
            f"{folder / CAMPAIGN} is damaged.", "Run `sciagent batch` with its file again."
        ) from error


def campaign_progress(folder: Path) -> CampaignProgress:
    """Read how a campaign stands, and estimate the time that is left."""
    campaign = read_campaign(folder)
    return progress_of(Ledger(folder), campaign.rows, campaign.spec.parallel)


def progress_of(ledger: Ledger, rows: Sequence[Row], parallel: int) -> CampaignProgress:
    """Read how rows stand; `parallel` of them run side by side."""
    states = tuple((row, ledger.state(row.id)) for row in rows)
    return CampaignProgress(states, _left_s([state for _, state in states], parallel))


def _left_s(states: Sequence[RowState], parallel: int) -> float | None:
    ended = [s.result.wall_s for s in states if s.result and s.status in {"finished", "failed"}]
    if not ended:
        return None
    usual_s = fmean(ended)
    to_do = [state for state in states if state.status not in {"finished", "failed"}]
    each = [max(usual_s - state.running_s, 0.0) for state in to_do]
    return max(sum(each) / parallel, max(each, default=0.0))

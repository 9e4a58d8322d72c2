"""Verifies a run and keeps the verdicts beside it."""

from pathlib import Path

from sciagent.contracts.claim import Verification
from sciagent.reports.verify import save_verification
from sciagent.reports.verify import verify as verify_workspace
from sciagent.runs.campaign_check import verified_campaign
from sciagent.workspace.workspace import open_workspace, read_request


def verify(path: str | Path, *, rerun: bool = False, claim: str | None = None) -> Verification:
    """Check every claim of a run's report, and every file against the seal.

    Parameters
    ----------
    path
        Folder of the run.
    rerun
        Also run the trials that the claims rest on again, in a clean kernel.
    claim
        Check this claim only; the verdicts kept beside the run are then left as they are.

    Returns
    -------
    Verification
        Verdicts, findings and whether the run can be relied on.
    """
    layout = open_workspace(Path(path))
    root = layout.root
    if read_request(layout).is_campaign:
        verification = verified_campaign(
            root, lambda row: verify(row, rerun=True), rerun=rerun, claim=claim
        )
    else:
        verification = verify_workspace(root, rerun=rerun, claim=claim)
    if claim is None:
        save_verification(root, verification)
    return verification

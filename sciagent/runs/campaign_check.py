"""The check of a campaign: its own claims, and each row behind them."""

from collections.abc import Callable
from pathlib import Path

from sciagent.contracts.claim import FigureClaim, Finding, NumberClaim, Verdict, Verification
from sciagent.execution.ledger import Ledger
from sciagent.reports.assemble import read_claims
from sciagent.reports.rerun import redrawn
from sciagent.reports.verify import verify as verify_workspace
from sciagent.runs.campaign_progress import read_campaign
from sciagent.runs.campaign_table import place_of
from sciagent.runs.campaign_workspace import campaign_drawings, with_rows


def verified_campaign(
    root: Path, verify_row: Callable[[Path], Verification], *, rerun: bool, claim: str | None
) -> Verification:
    """Check a campaign; with `rerun`, compute each row again and redraw its figure.

    Parameters
    ----------
    root
        Folder of the campaign.
    verify_row
        Checks the workspace of a row, and computes it again.
    rerun
        Also run each finished row again, as ``sciagent verify --rerun`` does for one run.
    claim
        Check this claim only.
    """
    checked = with_rows(root, verify_workspace(root, claim=claim))
    if not rerun or not checked.ok:
        return checked.model_copy(update={"rerun": rerun, "ok": checked.ok and not rerun})
    findings = _rows_again(root, verify_row)
    verdicts = tuple(_again(root, each, reproduced=not findings) for each in checked.verdicts)
    count = sum(each.verdict == "reproduced" for each in verdicts)
    return checked.model_copy(
        update={
            "rerun": True, "verdicts": verdicts, "findings": findings, "reproduced": count,
            "matched": checked.matched - count, "ok": not findings,
        }
    )  # fmt: skip


def _rows_again(root: Path, verify_row: Callable[[Path], Verification]) -> tuple[Finding, ...]:
    found = []
    for row in read_campaign(root).rows:
        result = Ledger(root).state(row.id).result
        if result is None or not result.succeeded:
            continue
        place = place_of(result)
        if not verify_row(root / place).ok:
            detail = f"Row {row.number} was not reproduced: see `sciagent verify {place} --rerun`."
            found.append(Finding(path=place, problem="rerun", detail=detail))
    return tuple(found)


def _again(root: Path, verdict: Verdict, *, reproduced: bool) -> Verdict:
    claim = next((each for each in read_claims(root).claims if each.id == verdict.claim), None)
    if isinstance(claim, FigureClaim):
        return redrawn(claim, root, campaign_drawings())
    if reproduced and isinstance(claim, NumberClaim) and claim.kind == "number":
        detail = "Its row was run again and reproduced."
        return verdict.model_copy(update={"verdict": "reproduced", "detail": detail})
    return verdict

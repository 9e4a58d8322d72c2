"""The folder of a campaign as a workspace: journal, claims, report, seal, and its check."""

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sciagent.contracts.claim import Finding, Verification
from sciagent.contracts.events import (
    Noted,
    OwnerStarted,
    OwnerStopped,
    RunStarted,
    SegmentOpened,
)
from sciagent.contracts.run import CAMPAIGN as CAMPAIGN_WORD
from sciagent.contracts.run import Environment, RunRequest
from sciagent.contracts.study import Budget
from sciagent.execution.ledger import RESULT, RUNS
from sciagent.runs.campaign_progress import CampaignProgress
from sciagent.runs.campaign_spec import CampaignSpec
from sciagent.runs.campaign_table import AXES, COMPARISON, TABLE, axes_of, campaign_table, place_of
from sciagent.runs.environment import package_versions
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.content import sha256_of_file
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import ENVIRONMENT, JOURNAL, Layout
from sciagent.workspace.lock import LockedError, OwnerLock
from sciagent.workspace.seal import is_sealed, seal

if TYPE_CHECKING:
    from sciagent.reports.drawing import Drawings

ROWS = "data/rows.json"
"""The result and the journal of each row that has ended, by their hashes."""
APART = (RUNS, "parsl")
_PACKAGES = ("ipykernel", "numpy", "papermill", "scipy")
_ENDED = frozenset({"finished", "failed"})


def publish_campaign(folder: Path, spec: CampaignSpec, progress: CampaignProgress) -> None:
    """Write table, claims and report of a campaign, and seal it if all its rows have ended.

    Nothing is written if nothing has changed since the seal, or while another process publishes.

    Parameters
    ----------
    folder
        Of the campaign.
    spec
        What was asked for.
    progress
        How its rows stand.
    """
    layout = Layout(folder)
    _begin(layout, spec)
    rows = _rows(folder, progress)
    if is_sealed(folder) and _read_rows(folder) == rows:
        return
    try:
        with OwnerLock(layout) as lock, JournalFile.open(layout.journal) as journal:
            if is_sealed(folder):
                reason = "Rows were run since it was sealed."
                journal.append(SegmentOpened(reason=reason, budget=Budget()))
            journal.append(OwnerStarted(owner=lock.owner, recovered=journal.recovered))
            for text in _news(_read_rows(folder), rows, progress):
                journal.append(Noted(text=text))
            write_atomic(folder / ROWS, json.dumps(rows, indent=1) + "\n")
            _publish(layout, spec, progress, journal)
    except LockedError:
        return


def _begin(layout: Layout, spec: CampaignSpec) -> None:
    if layout.journal.exists():
        return
    layout.inbox.mkdir(parents=True, exist_ok=True)
    layout.data.mkdir(exist_ok=True)
    layout.figures.mkdir(exist_ok=True)
    request = RunRequest(
        question=f"{CAMPAIGN_WORD}/{layout.root.name}", dataset=spec.dataset, seed=spec.seed,
        parallel=spec.parallel, threads=spec.threads,
    )  # fmt: skip
    with JournalFile.create(layout.journal) as journal:
        journal.append(RunStarted(run=layout.root.name, request=request))


def _publish(
    layout: Layout, spec: CampaignSpec, progress: CampaignProgress, journal: JournalFile
) -> None:
    from sciagent.reports.assemble import assemble
    from sciagent.reports.render import write_reports
    from sciagent.reports.verify import save_verification, verify
    from sciagent.runs.answering import asked_question
    from sciagent.runs.campaign_report import SUMMARY, campaign_request, counted
    from sciagent.workspace.crate import write_crate

    root = layout.root
    table = campaign_table(progress)
    axes = axes_of(spec, progress, table)
    write_atomic(root / TABLE, table.text)
    write_atomic(root / SUMMARY, json.dumps(counted(progress), indent=1) + "\n")
    if axes is not None:
        write_atomic(root / AXES, json.dumps({"x": axes[0], "y": axes[1]}) + "\n")
    write_atomic(root / ENVIRONMENT, _environment(spec).model_dump_json(indent=1) + "\n")
    question = replace(
        asked_question(root.name, spec.campaign, "Many rows, each a run of its own."),
        drawings=campaign_drawings(),
    )
    request = campaign_request(spec, progress, table, has_figure=axes is not None)
    assemble(root, question, request, code_sha256="")
    write_reports(root, verify(root, before_seal=True))
    if any(state.status not in _ENDED for _, state in progress.rows):
        journal.append(OwnerStopped(reason="Not all rows have ended."))
        return
    write_crate(root, APART)
    seal(journal, root, "completed", APART)
    save_verification(root, with_rows(root, verify(root)))


def campaign_drawings() -> "Drawings":
    """Drawing functions of campaigns."""
    from sciagent.runs.campaign_table import draw_comparison

    return {COMPARISON: draw_comparison}


def _environment(spec: CampaignSpec) -> Environment:
    return Environment(
        sciagent=version("sciagent"), python=platform.python_version(),
        platform=platform.platform(), cpu_count=os.cpu_count() or 1,
        packages=package_versions(_PACKAGES), code_sha256="", threads=spec.threads, seed=spec.seed,
        sandbox="the report of each row says how its code was confined",
    )  # fmt: skip


def _rows(folder: Path, progress: CampaignProgress) -> dict[str, dict[str, str]]:
    """Describe each row that has ended, by its identifier."""
    found = {}
    for row, state in progress.rows:
        if state.status in _ENDED and state.result is not None:
            place = f"{RUNS}/{row.id}/attempt-{state.result.attempt}"
            journal = f"{place_of(state.result)}/{JOURNAL}"
            found[row.id] = {
                "row": str(row.number), "status": state.status,
                **{path: sha256_of_file(folder / path) for path in (f"{place}/{RESULT}", journal)
                   if (folder / path).is_file()},
            }  # fmt: skip
    return found


def _read_rows(folder: Path) -> dict[str, dict[str, str]]:
    try:
        found: dict[str, dict[str, str]] = json.loads((folder / ROWS).read_bytes())
    except (OSError, ValueError):
        return {}
    return found


def _news(
    before: dict[str, dict[str, str]],
    after: dict[str, dict[str, str]],
    progress: CampaignProgress,
) -> Iterator[str]:
    for row, state in progress.rows:
        if row.id in after and before.get(row.id) != after[row.id]:
            yield f"Row {row.number} {state.status} after {state.attempts} attempts."


def with_rows(root: Path, verification: Verification) -> Verification:
    """Add what is wrong with the rows: a result or a journal that is not as it was sealed."""
    findings = tuple(
        Finding(path=path, problem=problem, detail=f"It belongs to row {about['row']}.")
        for about in _read_rows(root).values()
        for path, sha256 in about.items()
        if path.startswith(f"{RUNS}/") and (problem := _problem(root / path, sha256))
    )
    if not findings:
        return verification
    return verification.model_copy(
        update={"findings": (*verification.findings, *findings), "ok": False}
    )


def _problem(path: Path, sha256: str) -> Literal["", "missing", "changed"]:
    if not path.is_file():
        return "missing"
    return "" if sha256_of_file(path) == sha256 else "changed"

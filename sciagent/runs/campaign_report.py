"""The report of a campaign: its counts, failed rows and results, with a claim for each number."""

from collections.abc import Iterator

from sciagent.contracts.claim import ClaimRequest, FigureRequest, ReportRequest
from sciagent.reports.escaping import escaped
from sciagent.runs.answering import literal
from sciagent.runs.campaign_progress import CampaignProgress
from sciagent.runs.campaign_spec import CampaignSpec
from sciagent.runs.campaign_table import (
    AXES,
    COMPARISON,
    TABLE,
    CampaignTable,
    cell_text,
    deciding,
    place_of,
)
from sciagent.runs.given import decimals_of, tolerance_of

SUMMARY = "data/summary.json"
"""How many rows there are of each kind."""
STATUSES = ("finished", "failed", "interrupted", "running", "waiting")


def campaign_request(
    spec: CampaignSpec, progress: CampaignProgress, table: CampaignTable, *, has_figure: bool
) -> ReportRequest:
    """Ask for the report of a campaign as it stands."""
    subject = spec.question or (spec.workflow.name if spec.workflow else "")
    parts = [
        f"Rows of {escaped(subject)}: {', '.join(_counts(progress))}.",
        *(["{{figure:comparison}}"] if has_figure else []),
        *_failures(progress),
        *(["## Results\n\n{{claims:row.}}"] if any(_results(progress, table)) else []),
        f"## Rows\n\nAll values stand in [{TABLE}]({TABLE}).\n\n{_rows(progress)}",
    ]
    figure = FigureRequest(
        id=COMPARISON, subject=spec.campaign, quantity="comparison of the rows",
        drawing=COMPARISON, data=(TABLE, AXES), caption="Each point is a row.",
    )  # fmt: skip
    return ReportRequest(
        title=spec.campaign, source="\n\n".join(parts) + "\n",
        numbers=(*_count_claims(spec, progress), *_results(progress, table)),
        figures=(figure,) if has_figure else (),
    )  # fmt: skip


def counted(progress: CampaignProgress) -> dict[str, int]:
    """How many rows there are of each kind, without those that there are none of."""
    counts = {status: progress.count(status) for status in STATUSES}
    return {"all": len(progress.rows)} | {name: n for name, n in counts.items() if n}


def _counts(progress: CampaignProgress) -> Iterator[str]:
    return (f"{{{{claim:count.{name}}}}} {name}" for name in counted(progress) if name != "all")


def _count_claims(spec: CampaignSpec, progress: CampaignProgress) -> Iterator[ClaimRequest]:
    for name in counted(progress):
        yield ClaimRequest(
            id=f"count.{name}", subject=spec.campaign, quantity=f"rows, {name}", path=SUMMARY,
            pointer=f"/{name}", unit="{count}", decimals=0, tolerance=0.0, kind="record",
        )  # fmt: skip


def _results(progress: CampaignProgress, table: CampaignTable) -> Iterator[ClaimRequest]:
    """A claim for the result of each row, read from the table."""
    for place, (row, state) in enumerate(progress.rows):
        found = deciding(state.result) if state.result else None
        if found is None:
            continue
        name, quantity = found
        yield ClaimRequest(
            id=f"row.{row.number:04d}", subject=f"row {row.number}",
            quantity=name.replace("_", " "), path=TABLE,
            pointer=f"{place},{table.metrics[name, quantity.unit]}", unit=quantity.unit,
            decimals=decimals_of(quantity.value),
            tolerance=tolerance_of(quantity.value),
        )  # fmt: skip


def _failures(progress: CampaignProgress) -> Iterator[str]:
    if not progress.failed:
        return
    yield "## Failed rows"
    for row, state in progress.failed:
        error = state.result.error if state.result else None
        said = f"{error.kind}: {error.message} {error.remedy}" if error else "No reason is known."
        yield literal(f"row {row.number} ({row.id}): {said.strip()}")
    yield "Run them again alone with `sciagent batch SPEC --failed`."


def _rows(progress: CampaignProgress) -> str:
    lines = ["| row | given | status | workspace |", "| ---: | --- | --- | --- |"]
    for row, state in progress.rows:
        given = ", ".join(f"{name} = {cell_text(value)}" for name, value in row.shown.items())
        cells = [_code(str(row.number)), _code(given), state.status, ""]
        if state.result is not None:
            place = place_of(state.result)
            cells[-1] = f"[{_code(f'attempt-{state.result.attempt}')}](<{place}>)"
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _code(text: str) -> str:
    """A cell of a table as code: what stands in it was given, or counts the rows."""
    cleaned = " ".join(text.split()).replace("|", "¦").replace("`", "'").replace("{{", "{ {")
    return f"`{cleaned}`" if cleaned else ""

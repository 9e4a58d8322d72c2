"""Table, comparison figure and report of a campaign, made from its ledger."""

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from sciagent.contracts.units import symbol
from sciagent.execution.ledger import RUNS, AttemptResult, RowState
from sciagent.reports.drawing import draw
from sciagent.reports.escaping import escaped
from sciagent.runs.campaign_progress import CampaignProgress
from sciagent.runs.campaign_rows import Row
from sciagent.runs.campaign_spec import CampaignSpec
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.layout import FIGURES, REPORT_HTML, REPORT_MARKDOWN

TABLE = "table.csv"
COMPARISON = f"{FIGURES}/comparison.png"
_FIXED = ("row", "id", "status", "attempts", "wall (s)", "error", "remedy", "workspace")
_MOST_NAMED = 30
"""Texts that fit under an axis."""


def write_campaign_report(folder: Path, spec: CampaignSpec, progress: CampaignProgress) -> None:
    """Write `table.csv`, `figures/comparison.png`, `report.md` and `report.html`.

    Parameters
    ----------
    folder
        Of the campaign.
    spec
        What was asked for.
    progress
        How its rows stand; rows without a result have empty cells.
    """
    table = _table(progress)
    write_atomic(folder / TABLE, table)
    x, y = _axes(spec, progress)
    if y:
        drawings = {"comparison": lambda paths: _draw_comparison(paths[0], x, y)}
        write_atomic(folder / COMPARISON, draw(drawings, "comparison", [folder / TABLE]))
    text = _report(spec, progress, has_figure=bool(y))
    write_atomic(folder / REPORT_MARKDOWN, text)
    write_atomic(folder / REPORT_HTML, _html(spec.campaign, text))


def _table(progress: CampaignProgress) -> str:
    parameters = _names([row.shown for row, _ in progress.rows])
    metrics = _names([_metrics(state) for _, state in progress.rows])
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_FIXED[:3], *parameters, *metrics, *_FIXED[3:]])
    for row, state in progress.rows:
        result, found, given = state.result, _metrics(state), row.shown
        error = result.error if result and not result.succeeded else None
        place = _place(result) if result else ""
        writer.writerow([
            row.number, row.id, state.status,
            *(_cell(given.get(name)) for name in parameters),
            *(found.get(name, "") for name in metrics),
            state.attempts, f"{result.wall_s:.3f}" if result else "",
            f"{error.kind}: {error.message}" if error else "", error.remedy if error else "",
            place,
        ])  # fmt: skip
    return stream.getvalue()


def _place(result: AttemptResult) -> str:
    return f"{RUNS}/{result.row}/attempt-{result.attempt}/{result.workspace}".rstrip("/")


def _names(rows: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _cell(value: JsonValue) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _metrics(state: RowState) -> dict[str, str]:
    found = state.result.metrics if state.result else {}
    return {_head(name, each.unit): repr(each.value) for name, each in found.items()}


def _head(name: str, unit: Any) -> str:
    sign = symbol(unit)
    return f"{name} ({sign})" if sign and sign != "1" else name


def _axes(spec: CampaignSpec, progress: CampaignProgress) -> tuple[str, str]:
    """Name the columns that are drawn against each other; no second one if nothing was found."""
    shown = [row.shown for row, _ in progress.rows]
    varied = [n for n in _names(shown) if len({_cell(row.get(n)) for row in shown}) > 1]
    first = [name for name in spec.grid if name in varied]
    results = [state.result for _, state in progress.rows if state.result and state.result.metrics]
    if not results:
        return "", ""
    name = results[0].objective or next(iter(results[0].metrics))
    x = (first or varied or ["row"])[0]
    return x, _head(name, results[0].metrics[name].unit) if name in results[0].metrics else ""


def _draw_comparison(path: Path, x: str, y: str) -> Any:
    from matplotlib.figure import Figure

    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row[y]]
    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    places = [_number(row[x]) for row in rows]
    heights = [float(row[y]) for row in rows]
    if any(math.isnan(place) for place in places):
        names = list(dict.fromkeys(row[x] for row in rows))
        places = [float(names.index(row[x])) for row in rows]
        if len(names) <= _MOST_NAMED:
            axes.set_xticks(range(len(names)), names, rotation=90)
    axes.plot(places, heights, "o", markersize=4)
    axes.set(xlabel=x, ylabel=y)
    return figure


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _report(spec: CampaignSpec, progress: CampaignProgress, *, has_figure: bool) -> str:
    counts = [
        f"{progress.count(status)} {status}"
        for status in ("finished", "failed", "interrupted", "running", "waiting")
        if progress.count(status)
    ]
    subject = spec.question or (spec.workflow.name if spec.workflow else "")
    lines = [f"# {escaped(spec.campaign)}", ""]
    lines += [f"{len(progress.rows)} rows of {escaped(subject)}: {', '.join(counts)}.", ""]
    if has_figure:
        lines += [f"![Comparison of the rows]({COMPARISON})", ""]
    lines += _failures(progress)
    lines += ["## Rows", "", f"All values stand in [{TABLE}]({TABLE}).", ""]
    lines += ["| row | given | status | found | workspace |", "| ---: | --- | --- | --- | --- |"]
    lines += [_line(row, state) for row, state in progress.rows]
    return "\n".join([*lines, ""])


def _failures(progress: CampaignProgress) -> list[str]:
    if not progress.failed:
        return []
    lines = ["## Failed rows", ""]
    for row, state in progress.failed:
        error = state.result.error if state.result else None
        said = f"{error.kind}: {error.message} {error.remedy}" if error else "No reason is known."
        lines.append(f"- Row {row.number} (`{row.id}`): {escaped(said.strip())}")
    return [*lines, "", "Run them again alone with `sciagent batch SPEC --failed`.", ""]


def _line(row: Row, state: RowState) -> str:
    given = ", ".join(f"{name} = {_cell(value)}" for name, value in row.shown.items())
    found, link, result = "", "", state.result
    if result is not None:
        name = result.objective or next(iter(result.metrics), "")
        if name in result.metrics:
            quantity = result.metrics[name]
            found = f"{name} {quantity.value:.5g} {symbol(quantity.unit)}".strip()
        link = f"[attempt {result.attempt}]({_place(result)})"
    cells = [str(row.number), escaped(given), state.status, escaped(found), link]
    return f"| {' | '.join(cells)} |"


def _html(title: str, text: str) -> str:
    from html import escape

    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "table{border-collapse:collapse}td,th{padding:.2rem .6rem;border-bottom:1px solid #ccc}"
        "img{max-width:100%}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{style}</style></head><body>\n{body}</body></html>\n"
    )

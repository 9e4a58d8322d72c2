"""The table of a campaign, and the figure that compares its rows."""

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from sciagent.contracts.quantity import Quantity
from sciagent.contracts.units import symbol
from sciagent.execution.ledger import RUNS, AttemptResult, RowState
from sciagent.runs.campaign_progress import CampaignProgress
from sciagent.runs.campaign_spec import CampaignSpec

TABLE = "table.csv"
AXES = "data/axes.json"
"""Which columns of the table the figure draws against each other."""
COMPARISON = "comparison"
"""Name of the figure, and of what draws it."""
_FIRST = ("row", "id", "status")
_LAST = ("attempts", "wall (s)", "error", "remedy", "workspace")
_MOST_NAMED = 30
"""Texts that fit under an axis."""


@dataclass(frozen=True, slots=True)
class CampaignTable:
    """A table of all rows.

    Attributes
    ----------
    parameters, metrics
        Headings of the columns, by the names of what stands in them.
    text
        As CSV.
    """

    parameters: dict[str, str]
    metrics: dict[tuple[str, str], str]
    text: str


def campaign_table(progress: CampaignProgress) -> CampaignTable:
    """Write the table; rows without a result have empty cells, and no heading stands twice."""
    taken = {*_FIRST, *_LAST}
    parameters = _headings({name: name for row, _ in progress.rows for name in row.shown}, taken)
    found = {
        (name, each.unit): _head(name, each.unit)
        for _, state in progress.rows
        for name, each in _metrics(state).items()
    }
    metrics = _headings(found, taken)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_FIRST, *parameters.values(), *metrics.values(), *_LAST])
    for row, state in progress.rows:
        values = {(n, q.unit): repr(q.value) for n, q in _metrics(state).items()}
        shown = [cell_text(row.shown.get(name)) for name in parameters]
        writer.writerow([
            row.number, row.id, state.status, *shown,
            *(values.get(key, "") for key in metrics), *_ending(state),
        ])  # fmt: skip
    return CampaignTable(parameters, metrics, stream.getvalue())


def _headings(wanted: dict[Any, str], taken: set[str]) -> dict[Any, str]:
    """Give each column a heading of its own."""
    headings = {}
    for key, text in wanted.items():
        heading, number = text, 1
        while heading in taken:
            number += 1
            heading = f"{text} {number}"
        taken.add(heading)
        headings[key] = heading
    return headings


def _ending(state: RowState) -> Iterable[object]:
    result = state.result
    error = result.error if result and not result.succeeded else None
    return (
        state.attempts, f"{result.wall_s:.3f}" if result else "",
        f"{error.kind}: {error.message}" if error else "", error.remedy if error else "",
        place_of(result) if result else "",
    )  # fmt: skip


def place_of(result: AttemptResult) -> str:
    """Path of the workspace of an attempt, in the folder of the campaign."""
    return f"{RUNS}/{result.row}/attempt-{result.attempt}/{result.workspace}".rstrip("/")


def cell_text(value: JsonValue) -> str:
    """A value as it stands in a cell."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _metrics(state: RowState) -> dict[str, Quantity]:
    return state.result.metrics if state.result else {}


def _head(name: str, unit: Any) -> str:
    sign = symbol(unit)
    return f"{name} ({sign})" if sign and sign != "1" else name


def deciding(result: AttemptResult) -> tuple[str, Quantity] | None:
    """The metric of a row that is compared: the one that decides, else the first."""
    name = result.objective or next(iter(result.metrics), "")
    return (name, result.metrics[name]) if name in result.metrics else None


def axes_of(
    spec: CampaignSpec, progress: CampaignProgress, table: CampaignTable
) -> tuple[str, str] | None:
    """Headings of the columns that are drawn against each other; none if nothing was found."""
    shown = [row.shown for row, _ in progress.rows]
    varied = [n for n in table.parameters if len({cell_text(row.get(n)) for row in shown}) > 1]
    first = [name for name in spec.grid if name in varied]
    results = [state.result for _, state in progress.rows if state.result]
    compared = next((each for each in map(deciding, results) if each), None)
    if compared is None:
        return None
    x = next(iter([*first, *varied]), None)
    return table.parameters[x] if x else "row", table.metrics[compared[0], compared[1].unit]


def draw_comparison(paths: Sequence[Path]) -> Any:
    """Draw the columns of a table that the second file names, one against the other.

    Parameters
    ----------
    paths
        The table, and the JSON file with the headings ``x`` and ``y``.
    """
    axes = json.loads(paths[1].read_text(encoding="utf-8"))
    return _draw_comparison(paths[0], axes["x"], axes["y"])


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

"""Figures of a refinement, drawn from the files of its trials and from the study's tree."""

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciagent.contracts.tree import StudyFile, StudyRecord, Trial
from sciagent.domains.powder_diffraction.actions import in_words
from sciagent.domains.powder_diffraction.tables import read_table
from sciagent.domains.powder_diffraction.types import FloatArray

# Okabe and Ito's palette, which people of all kinds of colour vision tell apart.
OBSERVED, CALCULATED, BACKGROUND, DIFFERENCE = "#333333", "#D55E00", "#009E73", "#0072B2"
PHASES = ("#0072B2", "#CC79A7", "#009E73", "#E69F00", "#56B4E9", "#D55E00")
REJECTED = "#8C8C8C"
ZOOM_WIDTH_DEG = 8.0
ANGLE = "2θ (°)"
_LABEL_CHARACTERS = 38

Table = dict[str, FloatArray]
Scaling = Callable[[FloatArray], FloatArray]


def draw_pattern(paths: Sequence[Path]) -> Any:
    """Observed, calculated and difference pattern with reflection ticks.

    Parameters
    ----------
    paths
        `fit.csv` and `reflections.csv` of a trial.
    """
    return _pattern(*paths, scaled=lambda counts: counts, label="counts")


def draw_pattern_sqrt(paths: Sequence[Path]) -> Any:
    """The same on a square-root scale, on which counting noise is equally high everywhere."""
    return _pattern(*paths, scaled=lambda counts: np.sqrt(np.maximum(counts, 0.0)), label="√counts")


def draw_zoom(paths: Sequence[Path]) -> Any:
    """The part of the pattern with the strongest lines, large."""
    table = _columns(paths[0])
    return _pattern(
        *paths, scaled=lambda counts: counts, label="counts", window=strongest_window(table)
    )


def draw_path(paths: Sequence[Path]) -> Any:
    """R_wp after each accepted step, with what was tried from there and rejected.

    Parameters
    ----------
    paths
        `study.json`.
    """
    from matplotlib.figure import Figure

    study = StudyFile.model_validate_json(paths[0].read_bytes()).studies[0]
    steps = _accepted_path(study)
    figure = Figure(figsize=(7.0, 1.3 + 0.36 * len(steps)), layout="constrained")
    axes = figure.add_subplot()
    rows = np.arange(len(steps))
    values = [trial.metric("r_wp") for trial in steps]
    for row, trial in enumerate(steps):
        tried = [each.metric("r_wp") for each in _rejected_from(study, trial)]
        label = "rejected from there" if row == 0 else None
        axes.plot(tried, [row] * len(tried), "|", color=REJECTED, markersize=9, label=label)
    axes.plot(values, rows, "o-", color=DIFFERENCE, markersize=5, label="accepted")
    for row, value in enumerate(values):
        axes.annotate(
            f"{value:.2f}", (value, row), xytext=(7, -9), textcoords="offset points", fontsize=8
        )
    axes.set_yticks(rows, [_step_label(trial) for trial in steps])
    axes.set_ylim(len(steps) - 0.4, -0.6)
    axes.set_xscale("log")
    _plain_log_ticks(axes, min(values), max(values))
    axes.set_xlabel("R$_\\mathrm{wp}$ (%)")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.02))
    return figure


def _plain_log_ticks(axes: Any, low: float, high: float) -> None:
    ticks = [tick for tick in (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100) if tick < high * 1.3]
    axes.set_xlim(low * 0.88, high * 1.35)
    axes.set_xticks([tick for tick in ticks if tick > low * 0.88])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.minorticks_off()


def _step_label(trial: Trial) -> str:
    text = in_words(trial.proposal.action).removeprefix("release ").replace("_", " ")
    return f"{textwrap.shorten(text, _LABEL_CHARACTERS, placeholder=' …')}  {trial.number}"


def _accepted_path(study: StudyRecord) -> list[Trial]:
    by_number = {trial.number: trial for trial in study.trials}
    number = study.best if study.best is not None else study.head
    path: list[Trial] = []
    while number is not None:
        path.append(by_number[number])
        number = path[-1].proposal.parent
    return path[::-1]


def _rejected_from(study: StudyRecord, start: Trial) -> list[Trial]:
    return [
        trial
        for trial in study.trials
        if trial.proposal.parent == start.number
        and not trial.accepted
        and trial.outcome is not None
        and "r_wp" in trial.outcome.metrics
    ]


def strongest_window(table: Table, width_deg: float = ZOOM_WIDTH_DEG) -> tuple[float, float]:
    """Window of two-theta (degrees) that holds the most counts above the background."""
    angle = table["two_theta_deg"]
    signal = np.maximum(table["observed"] - table["background"], 0.0)
    total = np.concatenate([[0.0], np.cumsum(signal)])
    ends = np.searchsorted(angle, angle + width_deg)
    first = int(np.argmax(total[ends] - total[: angle.size]))
    return float(angle[first]), float(min(angle[first] + width_deg, angle[-1]))


def _pattern(
    fit: Path,
    reflections: Path,
    *,
    scaled: Scaling,
    label: str,
    window: tuple[float, float] | None = None,
) -> Any:
    from matplotlib.figure import Figure

    table, ticks = _columns(fit), _ticks(reflections)
    angle = table["two_theta_deg"]
    limits = window or (float(angle[0]), float(angle[-1]))
    inside = (angle >= limits[0]) & (angle <= limits[1])
    shown = {name: values[inside] for name, values in table.items()}
    figure = Figure(figsize=(7.0, 4.4 + 0.12 * len(ticks)), layout="constrained")
    heights = [4.0, 0.24 * len(ticks) + 0.1, 1.3]
    main, marks, rest = figure.subplots(
        3, 1, sharex=True, gridspec_kw={"height_ratios": heights, "hspace": 0.02}
    )
    _draw_curves(main, shown, scaled, close=window is not None)
    main.set_ylabel(f"intensity ({label})")
    _draw_ticks(marks, ticks, limits)
    difference = scaled(shown["observed"]) - scaled(shown["calculated"])
    rest.axhline(0.0, color=REJECTED, linewidth=0.6)
    rest.plot(shown["two_theta_deg"], difference, color=DIFFERENCE, linewidth=0.7)
    rest.set_ylabel("difference")
    rest.set_xlabel(ANGLE)
    rest.set_xlim(*limits)
    figure.align_ylabels([main, rest])
    return figure


def _draw_curves(axes: Any, table: Table, scaled: Scaling, *, close: bool) -> None:
    angle = table["two_theta_deg"]
    axes.plot(
        angle, scaled(table["observed"]), ".", color=OBSERVED, label="observed",
        markersize=4.0 if close else 2.0, markeredgewidth=0.0,
    )  # fmt: skip
    axes.plot(
        angle, scaled(table["calculated"]), color=CALCULATED, label="calculated",
        linewidth=1.1 if close else 0.7,
    )  # fmt: skip
    axes.plot(
        angle, scaled(table["background"]), color=BACKGROUND, label="background",
        linewidth=0.9, linestyle="--",
    )  # fmt: skip
    axes.tick_params(bottom=False, labelbottom=False)
    axes.spines["bottom"].set_visible(False)
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, markerscale=1.5 if close else 3.0
    )


def _draw_ticks(axes: Any, ticks: dict[str, FloatArray], limits: tuple[float, float]) -> None:
    """One row of reflection ticks per phase, each named at its right end."""
    for row, (phase, positions) in enumerate(ticks.items()):
        inside = positions[(positions >= limits[0]) & (positions <= limits[1])]
        axes.vlines(inside, row - 0.36, row + 0.36, colors=PHASES[row % len(PHASES)], linewidth=0.7)
        axes.text(
            1.006, row, phase, color=PHASES[row % len(PHASES)], fontsize=7.5, va="center",
            transform=axes.get_yaxis_transform(), clip_on=False,
        )  # fmt: skip
    axes.set_ylim(max(len(ticks), 1) - 0.5, -0.5)
    axes.set_yticks([])
    axes.tick_params(bottom=False, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _columns(path: Path) -> Table:
    """Columns of a table of numbers by name, each of shape ``(rows,)``."""
    header = path.read_text(encoding="utf-8").partition("\n")[0].split(",")
    values: NDArray[np.float64] = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return {name: values[:, column] for column, name in enumerate(header)}


def _ticks(path: Path) -> dict[str, FloatArray]:
    """Positions of the first emission line's reflections (degrees) by phase."""
    found: dict[str, list[float]] = {}
    for row in read_table(path):
        if row["emission_line"] == "0":
            found.setdefault(row["phase"], []).append(float(row["two_theta_deg"]))
    return {phase: np.array(positions) for phase, positions in found.items()}


DRAWINGS = {
    "path": draw_path,
    "pattern": draw_pattern,
    "pattern_sqrt": draw_pattern_sqrt,
    "zoom": draw_zoom,
}

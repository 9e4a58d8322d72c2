"""What an outcome must pass besides a better R_wp; see `limits.py` for why each limit is as it is.

A check applies when the outcome has its metric, so that each is judged by what it did: a release
by the information it buys, an exchange of rivals by how much better the new one is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import Check, Outcome
from sciagent.contracts.units import symbol
from sciagent.domains.powder_diffraction import limits

UNLIMITED = float("inf")


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a metric; `name` and `metric` take the phase's key behind them where it has one."""

    name: str
    metric: str
    low: float
    high: float
    hard: bool = True
    low_excluded: bool = False

    def holds(self, value: float) -> bool:
        """Whether a value lies within the bounds."""
        above = value > self.low if self.low_excluded else value >= self.low
        return above and value <= self.high

    def text(self, value: Quantity) -> str:
        """The comparison in words."""
        unit = symbol(value.unit)
        if self.low == -UNLIMITED:
            bounds = f"at most {self.high:g}"
        elif self.high == UNLIMITED:
            bounds = f"{'above' if self.low_excluded else 'at least'} {self.low:g}"
        else:
            bounds = f"{self.low:g} to {self.high:g}"
        return f"{_words(self.metric)} {value.value:.6g} {unit}".rstrip() + f" ({bounds})"


RANGES = (
    Range("converged", "converged", 1.0, UNLIMITED),
    Range("cell", "cell_change", -UNLIMITED, limits.MAX_CELL_CHANGE_PERCENT),
    Range("coordinates", "atom_shift", -UNLIMITED, limits.MAX_ATOM_SHIFT_ANGSTROM),
    Range("biso", "biso_min", limits.BISO_MIN_ANGSTROM2, UNLIMITED, low_excluded=True),
    Range("biso", "biso_max", -UNLIMITED, limits.BISO_MAX_ANGSTROM2),
    Range("occupancies", "occupancy_min", -limits.OCCUPANCY_SLACK, UNLIMITED),
    Range("occupancies", "occupancy_max", -UNLIMITED, 1.0 + limits.OCCUPANCY_SLACK),
    Range("doublet_ratio", "doublet_ratio", limits.DOUBLET_RATIO_MIN, limits.DOUBLET_RATIO_MAX),
    Range("polarization", "polarization", limits.POLARIZATION_MIN, limits.POLARIZATION_MAX),
    Range("transparency", "transparency", limits.TRANSPARENCY_MIN, UNLIMITED),
    Range("correlation", "correlation_of_new", -UNLIMITED, limits.MAX_CORRELATION),
    Range("notable_correlation", "max_correlation", -UNLIMITED, limits.NOTABLE_CORRELATION, False),
    Range("last_shift", "shift_over_esd", -UNLIMITED, limits.SHIFT_OVER_ESD_MAX, False),
    Range("presence", "scale_over_esd", limits.SCALE_OVER_ESD_MIN, UNLIMITED),
    Range("explanation", "lines_newly_explained", 1.0, UNLIMITED),
)


def checks_of(outcome: Outcome) -> tuple[Check, ...]:
    """Judge an outcome."""
    metrics = outcome.metrics
    found = list(_evidence(metrics))
    for each in RANGES:
        for suffix in _suffixes(metrics, each.metric):
            value = metrics[each.metric + suffix]
            found.append(
                Check(
                    name=each.name + suffix,
                    passed=each.holds(value.value),
                    hard=each.hard,
                    detail=each.text(value) + (f" in {suffix[1:]}" if suffix else ""),
                )
            )
    return (*found, *_width(metrics), *_worth(metrics))


def _suffixes(metrics: Mapping[str, Quantity], metric: str) -> list[str]:
    """What stands behind the metric's name where it is there: nothing, or ``.phase``."""
    return [
        name.removeprefix(metric)
        for name in metrics
        if name == metric or name.startswith(f"{metric}.")
    ]


def _evidence(metrics: Mapping[str, Quantity]) -> Iterator[Check]:
    if "free_intensities" in metrics:
        yield Check(
            name="structure",
            passed=False,
            detail="a Le Bail fit has no structure: it is evidence on the lines, never a result",
        )


def _width(metrics: Mapping[str, Quantity]) -> Iterator[Check]:
    if "width_released" in metrics:
        within = Range("width", "width_ratio", limits.WIDTH_RATIO_MIN, limits.WIDTH_RATIO_MAX)
        value = metrics[within.metric]
        yield Check(name="width", passed=within.holds(value.value), detail=within.text(value))


def _worth(metrics: Mapping[str, Quantity]) -> Iterator[Check]:
    """Rivals must differ clearly; anything else must buy more information than it costs."""
    if "rival_chi2_ratio" in metrics:
        ratio = metrics["rival_chi2_ratio"].value
        least = limits.RIVAL_CHI2_RATIO_MIN
        yield Check(
            name="rivals",
            passed=ratio >= least,
            detail=f"χ² falls by the factor {ratio:.3f}; below {least:g} rivals are undecided",
        )
    elif "delta_bic" in metrics:
        gain = metrics["delta_bic"].value
        yield Check(
            name="information",
            passed=gain > 0.0,
            detail=f"ΔBIC {gain:.1f} for the new parameters (above 0)",
        )


def _words(metric: str) -> str:
    return metric.replace("_", " ").replace("biso", "Biso")

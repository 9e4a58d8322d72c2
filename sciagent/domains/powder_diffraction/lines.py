"""Observed lines against calculated reflections: where the lines are, before how strong."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciagent.domains.powder_diffraction.limits import (
    AXIAL_START,
    LINE_SHARE_MIN,
    MATCH_WIDTHS,
)
from sciagent.domains.powder_diffraction.types import FloatArray, Line

STRONGEST = 12
"""Lines that stand for the pattern's width."""
_GRID_DEG = 0.01
_TOO_DENSE_FRACTION = 0.9


@dataclass(frozen=True, slots=True)
class LineMatch:
    """How the observed lines lie to the calculated reflections.

    Attributes
    ----------
    explained
        Part of the area of all observed lines that lies at a reflection.
    beyond_chance
        The same, less what reflections strewn at random would hit: ``(e - c) / (1 - c)``.
    unexplained
        Lines that are not negligible and lie at none, strongest first.
    """

    explained: float
    beyond_chance: float
    unexplained: tuple[Line, ...]


def typical_width(lines: Sequence[Line]) -> float:
    """Median width of the strongest lines, in degrees; 0.1 where no line was seen."""
    strong = sorted(lines, key=lambda line: -line.share_fraction)[:STRONGEST]
    return float(np.median([line.fwhm_deg for line in strong])) if strong else 0.1


def axial_start(lines: Sequence[Line]) -> float:
    """First value of the axial divergence S/L: one that smears the first line by its own width.

    A line at 2θ is smeared by about ``(S/L)² cot 2θ / 2`` (radians); sharp lines of a synchrotron
    would be buried by what suits a laboratory instrument, which is the most that is returned.
    """
    if not lines:
        return AXIAL_START
    first = min(lines, key=lambda line: line.two_theta_deg)
    smear = 2.0 * math.radians(first.fwhm_deg) * math.tan(math.radians(first.two_theta_deg))
    return min(AXIAL_START, math.sqrt(smear)) if smear > 0 else AXIAL_START


def match_lines(
    lines: Sequence[Line], reflections_deg: FloatArray, limits: tuple[float, float]
) -> LineMatch:
    """Match observed lines with reflections.

    Parameters
    ----------
    lines
        Observed lines.
    reflections_deg
        Two-theta of all reflections, in degrees, in any order.
    limits
        Range of the pattern, in degrees.
    """
    if not lines:
        return LineMatch(0.0, 0.0, ())
    ticks = np.sort(reflections_deg)
    strongest = max(line.share_fraction for line in lines)
    missed = [line for line in lines if _distance(ticks, line) >= MATCH_WIDTHS * line.fwhm_deg]
    explained = 1.0 - sum(line.share_fraction for line in missed)
    chance = _chance(ticks, typical_width(lines), limits)
    beyond = (explained - chance) / (1.0 - chance) if chance < _TOO_DENSE_FRACTION else 0.0
    strong = [line for line in missed if line.share_fraction > LINE_SHARE_MIN * strongest]
    strong.sort(key=lambda line: -line.share_fraction)
    return LineMatch(explained, beyond, tuple(_distinct(strong)))


def _distinct(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines that do not lie within half a width of one before them: a line may be found twice."""
    kept: list[Line] = []
    for line in lines:
        if all(abs(line.two_theta_deg - k.two_theta_deg) > k.fwhm_deg / 2 for k in kept):
            kept.append(line)
            yield line


def _distance(ticks: FloatArray, line: Line) -> float:
    return float(np.min(np.abs(ticks - line.two_theta_deg))) if ticks.size else math.inf


def _chance(ticks: FloatArray, fwhm_deg: float, limits: tuple[float, float]) -> float:
    """Part of the range that lies so near to some reflection that any line would match."""
    if not ticks.size:
        return 0.0
    grid = np.arange(limits[0], limits[1], _GRID_DEG)
    right = np.clip(np.searchsorted(ticks, grid), 0, ticks.size - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.minimum(np.abs(grid - ticks[left]), np.abs(grid - ticks[right]))
    return float(np.mean(nearest < MATCH_WIDTHS * fwhm_deg))


def width_from_profile(profile: dict[str, float], two_theta_deg: float) -> float:
    """Full width at half maximum of a Thompson-Cox-Hastings line, in degrees.

    The Gaussian part is ``U tan²θ + V tan θ + W`` and the Lorentzian ``X / cos θ + Y tan θ``;
    they combine by the fifth-power rule of Thompson, Cox and Hastings, J. Appl. Cryst. 20
    (1987) 79, doi:10.1107/S0021889887087090.
    """
    theta = math.radians(two_theta_deg / 2)
    tan = math.tan(theta)
    gauss = math.sqrt(max(profile["u"] * tan**2 + profile["v"] * tan + profile["w"], 0.0))
    lorentz = max(profile["x"] / math.cos(theta) + profile["y"] * tan, 0.0)
    weights = (1.0, 2.69269, 2.42843, 4.47163, 0.07842, 1.0)
    powers = (w * gauss ** (5 - k) * lorentz**k for k, w in enumerate(weights))
    return float(sum(powers) ** 0.2)


def width_ratio(instrument: dict[str, Any], lines: Sequence[Line]) -> float:
    """Median of calculated over observed width on the strongest lines; 1 where there is none."""
    profile = {name: float(instrument["profile"][name]["value"]) for name in "uvwxy"}
    strong = sorted(lines, key=lambda line: -line.share_fraction)[:STRONGEST]
    ratios = [width_from_profile(profile, x.two_theta_deg) / x.fwhm_deg for x in strong]
    return float(np.median(ratios)) if ratios else 1.0

"""From a fit to metrics with units: what a policy sees, and what the checks judge."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sciagent.contracts.quantity import Quantity
from sciagent.contracts.units import Unit
from sciagent.domains.powder_diffraction.actions import (
    ADD_PHASE,
    EXCHANGE,
    LE_BAIL,
    RELEASE,
    candidate_of,
    groups_in,
    instead_of,
)
from sciagent.domains.powder_diffraction.groups import are_rivals, group_of
from sciagent.domains.powder_diffraction.least_squares import calculated_positions
from sciagent.domains.powder_diffraction.limits import NOTABLE_CORRELATION
from sciagent.domains.powder_diffraction.lines import LineMatch, match_lines, width_ratio
from sciagent.domains.powder_diffraction.pattern import Pattern
from sciagent.domains.powder_diffraction.refinement import Step
from sciagent.domains.powder_diffraction.statistics import (
    chi2_from_residuals,
    delta_bic_from_chi2,
    r_exp_from_pattern,
    r_wp_from_pattern,
)
from sciagent.domains.powder_diffraction.types import FitSummary, ModelState

Metrics = dict[str, Quantity]
MICROMETRES_PER_MILLIMETRE = 1000.0
_AXES = ("a", "b", "c", "alpha", "beta", "gamma")


@dataclass(frozen=True, slots=True)
class Measures:
    """What a step amounts to.

    Attributes
    ----------
    metrics
        Shown to whoever proposes; R factors are over all channels of the range.
    held_out_r_wp_percent
        R_wp over channels the trial was not fitted to; none if it was fitted to all.
    match
        Observed lines against the reflections.
    summary
        For the children to be compared with.
    """

    metrics: Metrics
    held_out_r_wp_percent: float | None
    match: LineMatch
    summary: FitSummary


def measure(step: Step, pattern: Pattern, parent: ModelState | None) -> Measures:
    """Measure a step against the pattern and against its parent."""
    positions = calculated_positions(step.fit.reflections)
    match = match_lines(step.begin.lines, positions, pattern.limits)
    summary = _summary(step, pattern, match)
    metrics = {
        **_agreement(step, pattern),
        **_lines(step, match),
        **_correlations(step),
        **_instrument(step),
        **_phases(step),
        **_changes(step, summary, parent),
    }
    trained = step.action.name not in {LE_BAIL, "final_refit"}
    held_out = _r_wp(step, pattern, pattern.held_out) if trained else None
    return Measures(metrics, held_out, match, summary)


def _r_wp(step: Step, pattern: Pattern, mask: Any) -> float:
    return r_wp_from_pattern(
        pattern.intensity[mask], step.fit.calculated[mask], pattern.sigma[mask]
    )


def _summary(step: Step, pattern: Pattern, match: LineMatch) -> FitSummary:
    mask = ~pattern.held_out
    return FitSummary(
        training_chi2=chi2_from_residuals(
            pattern.intensity[mask], step.fit.calculated[mask], pattern.sigma[mask]
        ),
        training_channels=int(mask.sum()),
        parameters=len(step.fit.parameters),
        line_share_beyond_chance_fraction=match.beyond_chance,
        unexplained_lines=len(match.unexplained),
    )


def _agreement(step: Step, pattern: Pattern) -> Metrics:
    observed, sigma, fit = pattern.intensity, pattern.sigma, step.fit
    parameters = len(fit.parameters)
    r_wp = r_wp_from_pattern(observed, fit.calculated, sigma)
    r_exp = r_exp_from_pattern(observed, sigma, parameters)
    subtracted = r_wp_from_pattern(observed, fit.calculated, sigma, fit.background)
    found = {
        "r_wp": Quantity(value=r_wp, unit="%"),
        "r_wp_background_subtracted": Quantity(value=subtracted, unit="%"),
        "r_exp": Quantity(value=r_exp, unit="%"),
        "gof": Quantity(value=r_wp / r_exp, unit="1"),
        "chi2": Quantity(value=chi2_from_residuals(observed, fit.calculated, sigma), unit="1"),
        "channels": Quantity(value=observed.size, unit="{channel}"),
        "parameters": Quantity(value=parameters, unit="{count}"),
        "converged": Quantity(value=float(fit.converged), unit="1"),
        "durbin_watson": Quantity(value=fit.durbin_watson, unit="1"),
        "esd_inflation": Quantity(value=fit.esd_inflation, unit="1"),
    }
    if fit.shift_over_esd is not None:
        found["shift_over_esd"] = Quantity(value=fit.shift_over_esd, unit="1")
    if step.action.name == LE_BAIL:
        found["free_intensities"] = Quantity(value=len(fit.reflections), unit="{count}")
    return found


def _lines(step: Step, match: LineMatch) -> Metrics:
    return {
        "lines_explained": Quantity(value=100.0 * match.explained, unit="%"),
        "lines_beyond_chance": Quantity(value=100.0 * match.beyond_chance, unit="%"),
        "unexplained_lines": Quantity(value=len(match.unexplained), unit="{count}"),
        "width_ratio": Quantity(value=width_ratio(step.fit.instrument, step.begin.lines), unit="1"),
    }


def _correlations(step: Step) -> Metrics:
    """Strongest correlation at all, of what is new, and of what is new with each older group."""
    strongest = max((abs(pair.rho) for pair in step.fit.correlations), default=0.0)
    found = {"max_correlation": Quantity(value=strongest, unit="1")}
    if step.action.name not in {RELEASE, EXCHANGE, ADD_PHASE}:
        return found
    of_new = 0.0
    with_old: dict[str, float] = {}
    for pair in step.fit.correlations:
        owners = (step.owner(pair.first), step.owner(pair.second))
        if not set(owners) & set(step.new):
            continue
        of_new = max(of_new, abs(pair.rho))
        for old in set(owners) - set(step.new):
            with_old[old] = max(with_old.get(old, 0.0), abs(pair.rho))
    found["correlation_of_new"] = Quantity(value=of_new, unit="1")
    for name, rho in sorted(with_old.items()):
        if rho > NOTABLE_CORRELATION:
            found[f"correlation_with.{name}"] = Quantity(value=rho, unit="1")
    return found


def _value(parameter: Any, unit: Unit, factor: float = 1.0) -> Quantity:
    """A parameter of the engine's JSON as a quantity; those not refined have no uncertainty."""
    esd = parameter.get("stderr")
    known = isinstance(esd, int | float) and math.isfinite(esd) and esd > 0
    return Quantity(
        value=float(parameter["value"]) * factor,
        unit=unit,
        uncertainty=abs(float(esd) * factor) if known else None,
    )


def _instrument(step: Step) -> Metrics:
    instrument = cast("dict[str, Any]", step.fit.instrument)
    geometry, source = instrument["geometry"], instrument["source"]
    available = {
        "displacement": _value(geometry["sample_displacement"], "um", MICROMETRES_PER_MILLIMETRE),
        "zero_shift": _value(instrument["zero_shift"], "deg"),
        "transparency": _value(geometry["sample_transparency"], "1"),
        "axial_divergence": _value(geometry["axial_sl"], "1"),
        "polarization": _value(source["polarization"], "1"),
    }
    if len(source["lines"]) > 1:
        available["doublet_ratio"] = _value(source["lines"][1]["weight"], "1")
    refined = {name: value for name, value in available.items() if name in step.begin.groups}
    return {"wavelength": _value(source["lines"][0]["wavelength"], "Ao"), **refined}


def _phases(step: Step) -> Metrics:
    found: Metrics = {}
    structure = cast("dict[str, Any]", step.fit.structure)
    origin = cast("dict[str, Any]", step.origin.structure)
    for place, key in enumerate(step.begin.phases):
        phase, first = structure["phases"][place], origin["phases"][place]
        found |= {f"{name}.{key}": value for name, value in _phase(phase, first)}
        weight = step.fit.weight_percent[place]
        if weight is not None and len(step.begin.phases) > 1:
            found[f"weight.{key}"] = Quantity(value=weight[0], unit="%", uncertainty=weight[1])
    return found


def _phase(phase: Mapping[str, Any], first: Mapping[str, Any]) -> Iterator[tuple[str, Quantity]]:
    for axis in _AXES:
        yield f"cell_{axis}", _value(phase["cell"][axis], "Ao" if len(axis) == 1 else "deg")
    yield "cell_change", Quantity(value=_cell_change(phase["cell"], first["cell"]), unit="%")
    biso = [atom["biso"] for atom in phase["atoms"]]
    occupancies = [atom["occ"] for atom in phase["atoms"]]
    for name, values, unit in (("biso", biso, "Ao2"), ("occupancy", occupancies, "1")):
        least = min(values, key=lambda each: float(each["value"]))
        most = max(values, key=lambda each: float(each["value"]))
        yield f"{name}_min", _value(least, cast("Unit", unit))
        yield f"{name}_max", _value(most, cast("Unit", unit))
    moved = [
        shift_from_positions(phase["cell"], before, after)
        for before, after in zip(first["atoms"], phase["atoms"], strict=True)
    ]
    yield "atom_shift", Quantity(value=max(moved), unit="Ao")


def _cell_change(cell: Mapping[str, Any], first: Mapping[str, Any]) -> float:
    """Largest relative change of a cell length, in per cent."""
    return max(
        100.0 * abs(float(cell[axis]["value"]) / float(first[axis]["value"]) - 1.0)
        for axis in "abc"
    )


def shift_from_positions(
    cell: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> float:
    """Distance between two fractional positions in a cell, in ångström, the shortest by lattice."""
    a, b, c = (float(cell[axis]["value"]) for axis in "abc")
    cosines = [math.cos(math.radians(float(cell[angle]["value"]))) for angle in _AXES[3:]]
    metric = np.array(
        [
            [a * a, a * b * cosines[2], a * c * cosines[1]],
            [a * b * cosines[2], b * b, b * c * cosines[0]],
            [a * c * cosines[1], b * c * cosines[0], c * c],
        ]
    )
    step = np.array([float(after[x]["value"]) - float(before[x]["value"]) for x in "xyz"])
    step -= np.round(step)
    return math.sqrt(max(float(step @ metric @ step), 0.0))


def _changes(step: Step, summary: FitSummary, parent: ModelState | None) -> Metrics:
    """What the action bought, compared with its parent on the same channels."""
    if parent is None or parent.fit is None:
        return {}
    if step.action.name not in {RELEASE, EXCHANGE, ADD_PHASE}:
        return {}
    before, after = parent.fit, summary
    bic = delta_bic_from_chi2(
        (before.training_chi2, before.parameters),
        (after.training_chi2, after.parameters),
        after.training_channels,
        step.fit.esd_inflation,
    )
    found = {"delta_bic": Quantity(value=bic, unit="1")}
    dropped = instead_of(step.action)
    if dropped and all(are_rivals(dropped, name) for name in groups_in(step.action)):
        ratio = before.training_chi2 / after.training_chi2
        found["rival_chi2_ratio"] = Quantity(value=ratio, unit="1")
    if any(group_of(name).changes_widths for name in step.new):
        found["width_released"] = Quantity(value=1.0, unit="1")
    if step.action.name == ADD_PHASE:
        found["scale_over_esd"] = Quantity(value=_significance(step), unit="1")
        gained = before.unexplained_lines - after.unexplained_lines
        found["lines_newly_explained"] = Quantity(value=gained, unit="{count}")
    return found


def _significance(step: Step) -> float:
    """Scale of the added phase in units of its uncertainty; 0 where that is not known."""
    place = step.begin.phases.index(candidate_of(step.action))
    for parameter in step.fit.parameters:
        if parameter.path == f"phases.{place}.scale" and parameter.uncertainty:
            return parameter.value / parameter.uncertainty
    return 0.0

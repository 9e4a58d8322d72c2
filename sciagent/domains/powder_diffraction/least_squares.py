"""One least-squares stage of rietx: from a state to a fit, and nothing is kept in between."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from sciagent.contracts.errors import ConvergenceError
from sciagent.domains.powder_diffraction.engine import (
    as_json,
    background_of,
    loaded_instrument,
    loaded_structure,
    pattern_data,
    predicted,
    quiet,
    rietx,
)
from sciagent.domains.powder_diffraction.groups import free_paths, ties_of
from sciagent.domains.powder_diffraction.limits import LE_BAIL_CYCLES, TRIAL_TOLERANCE
from sciagent.domains.powder_diffraction.pattern import Pattern
from sciagent.domains.powder_diffraction.types import (
    Correlation,
    Fit,
    FloatArray,
    GroupName,
    ModelState,
    Refined,
    Reflection,
)

Mode = Literal["training", "final", "le_bail"]
"""`training`: quick, without the held-out windows. `final`: exact, on all channels. `le_bail`:
intensities of the lines are free and only the background is refined, on all channels."""

NOTABLE_RHO = 0.5
_UNITS = {"A": "Ao", "A^2": "Ao2", "deg": "deg", "deg^2": "deg2", "mm": "mm"}


def least_squares(state: ModelState, pattern: Pattern, mode: Mode) -> Fit:
    """Refine the free groups of a state.

    Raises
    ------
    ConvergenceError
        If the least squares break down.
    """
    rx = rietx()
    refinement = rx.Refinement(
        loaded_structure(state.structure), loaded_instrument(state.instrument), history=False
    )
    try:
        with quiet():
            for follower, source in ties_of(state.groups):
                refinement.tie(follower, source)
            refinement.set_vary("*", False)
            result = refinement.run_stage(
                pattern_data(pattern, training=mode == "training"),
                rx.Stage(
                    mode, _paths(state, mode), ftol=_tolerance(mode), lebail_cycles=LE_BAIL_CYCLES
                ),
                mode="lebail" if mode == "le_bail" else "rietveld",
                two_theta_limits=pattern.limits,
                window_area_tol=_window(mode),
            )
    except (ValueError, RuntimeError, ArithmeticError, np.linalg.LinAlgError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise ConvergenceError(
            f"The least squares broke down: {reason}", "Release other parameters first."
        ) from error
    return _fit(refinement, result, state, pattern, mode)


def holds_parameters(state: ModelState, groups: Sequence[GroupName]) -> bool:
    """Whether groups hold a parameter that symmetry leaves free in the model of a state."""
    refinement = rietx().Refinement(
        loaded_structure(state.structure), loaded_instrument(state.instrument), history=False
    )
    with quiet():
        refinement.set_vary("*", False)
        return bool(refinement.set_vary(free_paths(groups, state.phases), True))


def _paths(state: ModelState, mode: Mode) -> list[str]:
    groups = ("background",) if mode == "le_bail" else state.groups
    return free_paths(groups, state.phases)


def _tolerance(mode: Mode) -> float | None:
    return TRIAL_TOLERANCE if mode == "training" else None


def _window(mode: Mode) -> float | None:
    """Part of a line's area that may be cut off; the final refit uses the engine's own."""
    if mode == "final":
        return None
    from rietx.model.forward import WINDOW_AREA_TOL

    return float(WINDOW_AREA_TOL)


def _fit(refinement: Any, result: Any, state: ModelState, pattern: Pattern, mode: Mode) -> Fit:
    structure, instrument = as_json(refinement.structure), as_json(refinement.instrument)
    fitted_all = len(result.two_theta) == pattern.two_theta.size
    if fitted_all:
        calculated = np.asarray(result.y_calc, float)
    else:
        calculated = predicted(structure, instrument, pattern.two_theta)
    if not np.all(np.isfinite(calculated)):
        raise ConvergenceError("The calculated pattern is not finite.", "Release fewer parameters.")
    statistics = result.statistics
    return Fit(
        converged=result.status == "converged",
        structure=structure,
        instrument=instrument,
        calculated=calculated,
        background=background_of(instrument, pattern.two_theta),
        parameters=_refined(result),
        correlations=() if mode == "le_bail" else _correlations(refinement, result),
        reflections=_reflections(refinement, state),
        shift_over_esd=_float(statistics.max_shift_over_esd),
        durbin_watson=_float(statistics.durbin_watson) or 0.0,
        esd_inflation=_float(statistics.esd_inflation) or 1.0,
        weight_percent=_weights(result, len(state.phases)),
    )


def _refined(result: Any) -> tuple[Refined, ...]:
    return tuple(
        Refined(
            path=parameter.path,
            value=float(parameter.value),
            uncertainty=_float(parameter.stderr),
            unit=_unit(parameter),
        )
        for parameter in result.parameters
        if parameter.vary
    )


def _unit(parameter: Any) -> str:
    if ".cell." in parameter.path:
        return "Ao" if parameter.path[-1] in "abc" else "deg"
    return _UNITS.get(str(getattr(parameter, "unit", None)), "1")


def _correlations(refinement: Any, result: Any) -> tuple[Correlation, ...]:
    """Correlated pairs from the whole matrix, which the engine keeps beside its answer.

    The public list holds the five strongest pairs only, and a new parameter may be sixth. The
    attribute is private, which the exact pin of the engine's version makes bearable.
    """
    answer = refinement._answer_covariance
    if answer is None or answer[4] is None:
        found = result.identifiability.top_correlations if result.identifiability else []
        return tuple(Correlation(c.path_a, c.path_b, float(c.rho)) for c in found)
    names, matrix = list(answer[1].free_paths), np.asarray(answer[4], float)
    rows, columns = np.triu_indices(len(names), k=1)
    strong = np.flatnonzero(np.abs(matrix[rows, columns]) > NOTABLE_RHO)
    pairs = [
        Correlation(names[i], names[j], float(matrix[i, j]))
        for i, j in zip(rows[strong], columns[strong], strict=True)
    ]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair.rho)))


def _reflections(refinement: Any, state: ModelState) -> tuple[Reflection, ...]:
    with quiet():
        rows = refinement.reflection_table()
    return tuple(
        Reflection(
            phase=state.phases[row.phase_index],
            emission_line=int(row.line),
            hkl=(int(row.h), int(row.k), int(row.l)),
            two_theta_deg=float(row.two_theta),
            d_angstrom=float(row.d),
            multiplicity=int(row.multiplicity),
            intensity=float(row.intensity),
        )
        for row in rows
    )


def _weights(result: Any, phases: int) -> tuple[tuple[float, float | None] | None, ...]:
    found: list[tuple[float, float | None] | None] = [None] * phases
    quantified = result.qpa.phases if result.qpa else []
    if len(quantified) != phases:
        return tuple(found)
    for place, phase in enumerate(quantified):
        if phase.weight_fraction is not None:
            esd = _float(phase.weight_fraction_stderr)
            found[place] = (100.0 * float(phase.weight_fraction), esd and 100.0 * esd)
    return tuple(found)


def _float(value: Any) -> float | None:
    """A finite number, or none."""
    return float(value) if value is not None and np.isfinite(value) else None


def calculated_positions(reflections: Sequence[Reflection]) -> FloatArray:
    """Two-theta of all reflections, in degrees, shape ``(reflections,)``."""
    return np.array([each.two_theta_deg for each in reflections], dtype=np.float64)

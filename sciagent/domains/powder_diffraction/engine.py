"""The one home of rietx: the models it refines, and what it can compute without fitting.

Everything that leaves this file and `least_squares.py` is a plain value or a model as JSON, so
that another engine could take rietx's place. It is loaded on first use, as that takes a second.
"""

import importlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
from pydantic import JsonValue

from sciagent.contracts.errors import InputError, ResourceError
from sciagent.domains.powder_diffraction.limits import BISO_MIN_ANGSTROM2, BISO_START_ANGSTROM2
from sciagent.domains.powder_diffraction.pattern import Columns, Pattern
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.types import (
    FloatArray,
    Line,
    ModelState,
    ParameterPath,
    PhaseSource,
)

ModelJson = dict[str, JsonValue]
_SIGNIFICANT = 3.0
_SMALLEST_SCALE = 1e-9


def rietx() -> Any:
    """Load the engine.

    Raises
    ------
    ResourceError
        If it is not installed.
    """
    # Its kernels would start a thread per core, against what the run was told to use.
    os.environ.setdefault("RIETX_COMPILED_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    try:
        with quiet():
            return importlib.import_module("rietx")
    except ModuleNotFoundError as error:
        raise ResourceError(
            "Powder refinement needs the package rietx, which is not installed.",
            "Install it with `pip install 'sciagent[diffraction]'`.",
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the engine's warnings to itself: what they say is judged by the checks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def read_instrument_file(path: Path) -> Columns:
    """Read a pattern in any format the engine knows (GSAS, Bruker, Rigaku, Philips, ...).

    Raises
    ------
    InputError
        If it is none of them, or holds no angles.
    """
    rx = rietx()
    try:
        with quiet():
            data = rx.read_pattern(str(path))
            return Columns(
                np.asarray(data.tt(), float), np.asarray(data.y(), float),
                np.asarray(data.sig(), float),
            )  # fmt: skip
    except (ValueError, IndexError, KeyError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160].rstrip(".")
        raise InputError(
            f"The pattern {path.name} cannot be read: {reason}.",
            "Give two or three columns of text (two-theta in degrees, counts, sigma), or GSAS, "
            "xrdml, Bruker or Rigaku files.",
        ) from error


def pattern_data(pattern: Pattern, *, training: bool) -> Any:
    """The pattern as the engine takes it, with the held-out windows excluded for training."""
    return rietx().PatternData(
        two_theta=pattern.two_theta.tolist(),
        intensity=pattern.intensity.tolist(),
        sigma=pattern.sigma.tolist(),
        excluded_regions=list(pattern.held_out_windows) if training else [],
    )


def instrument_model(settings: RefinementSettings, pattern: Pattern) -> ModelJson:
    """The instrument before anything is refined, with an empty background of suitable order."""
    rx = rietx()
    if settings.geometry == "debye_scherrer":
        if settings.wavelength_angstrom is None:
            raise InputError(
                "The Debye-Scherrer geometry needs a wavelength.", "Set wavelength_angstrom."
            )
        instrument = rx.Instrument.debye_scherrer(settings.wavelength_angstrom)
    else:
        instrument = rx.Instrument.bragg_brentano(
            radiation=settings.radiation,
            goniometer_radius_mm=settings.goniometer_radius_mm,
            monochromator_two_theta=settings.monochromator_two_theta_deg,
        )
        if settings.wavelength_angstrom is not None:
            first = instrument.source.lines[0]
            first.wavelength.value = settings.wavelength_angstrom
            instrument.source.lines = [first]
    with quiet():
        found = rx.auto_background(
            pattern_data(pattern, training=False), kind="chebyshev",
            two_theta_limits=pattern.limits,
        )  # fmt: skip
    instrument.background = found.background
    return as_json(instrument)


def observed_lines(pattern: Pattern, instrument: ModelJson) -> tuple[Line, ...]:
    """Find the lines of a pattern, whatever phases it may hold."""
    rx = rietx()
    with quiet():
        peaks = rx.pick_peaks(
            pattern_data(pattern, training=False), loaded_instrument(instrument),
            two_theta_range=pattern.limits,
        ).peaks  # fmt: skip
    sure = [p for p in peaks if p.intensity > _SIGNIFICANT * (p.intensity_esd or 0.0)]
    total = sum(peak.intensity for peak in sure)
    return tuple(
        Line(
            two_theta_deg=float(peak.two_theta),
            fwhm_deg=float(peak.fwhm),
            share_fraction=float(peak.intensity / total),
        )
        for peak in sure
    )


def structure_model(phases: Sequence[PhaseSource]) -> ModelJson:
    """Structures as their CIFs have them; Biso starts at 0.5 Å² where a CIF gives none."""
    rx = rietx()
    read = []
    for source in phases:
        try:
            with quiet():
                phase = rx.Structure.from_cif(source.path).phases[0]
        except (ValueError, IndexError, KeyError) as error:
            reason = str(error).splitlines()[0][:160].rstrip(".")
            raise InputError(
                f"The structure {Path(source.path).name} cannot be used: {reason}.",
                "Give an ordinary crystal structure as a CIF.",
            ) from error
        for atom in phase.atoms:
            if atom.biso.value <= BISO_MIN_ANGSTROM2:
                atom.biso.value = BISO_START_ANGSTROM2
        read.append(phase)
    return as_json(rx.Structure(phases=read))


def as_json(model: Any) -> ModelJson:
    """A model of the engine as JSON that reads back to the same numbers."""
    return cast("ModelJson", json.loads(model.model_dump_json()))


def loaded_structure(model: ModelJson) -> Any:
    """A structure of the engine from JSON."""
    return rietx().Structure.model_validate_json(json.dumps(model))


def loaded_instrument(model: ModelJson) -> Any:
    """An instrument of the engine from JSON."""
    return rietx().Instrument.model_validate_json(json.dumps(model))


def predicted(structure: ModelJson, instrument: ModelJson, two_theta: FloatArray) -> FloatArray:
    """Calculated counts of a model.

    Parameters
    ----------
    structure, instrument
        The model.
    two_theta
        Degrees, shape ``(channels,)``. The background polynomial spans the grid it is given, so
        this must be the range of the fit and not a part of it.
    """
    rx = rietx()
    with quiet():
        refinement = rx.Refinement(
            loaded_structure(structure), loaded_instrument(instrument), history=False
        )
        return np.asarray(refinement.predict(two_theta), dtype=np.float64)


def without_background(instrument: ModelJson) -> ModelJson:
    """The instrument with a background of zero."""
    model = loaded_instrument(instrument)
    for coefficient in model.background.coefficients:
        coefficient.value = 0.0
    return as_json(model)


def with_scales(structure: ModelJson, scales: Sequence[float]) -> ModelJson:
    """The structure with these scales of its phases."""
    model = loaded_structure(structure)
    for phase, scale in zip(model.phases, scales, strict=True):
        phase.scale.value = scale
    return as_json(model)


def only_phase(structure: ModelJson, place: int) -> ModelJson:
    """A structure of one of the phases, with scale 1."""
    model = loaded_structure(structure)
    phase = model.phases[place]
    phase.scale.value = 1.0
    return as_json(rietx().Structure(phases=[phase]))


def joined(structure: ModelJson, added: ModelJson) -> ModelJson:
    """All phases of both structures in one."""
    first, second = loaded_structure(structure), loaded_structure(added)
    return as_json(rietx().Structure(phases=[*first.phases, *second.phases]))


def linear_scale(
    structure: ModelJson, instrument: ModelJson, pattern: Pattern, target: FloatArray
) -> float:
    """Scale by which a single phase best meets `target` (counts), by linear least squares."""
    unit = predicted(only_phase(structure, 0), without_background(instrument), pattern.two_theta)
    weight = 1.0 / pattern.sigma**2
    norm = float(np.sum(weight * unit**2))
    best = float(np.sum(weight * unit * target)) / norm if norm > 0 else 0.0
    return max(best, _SMALLEST_SCALE)


def with_values(state: ModelState, values: Mapping[ParameterPath, float]) -> ModelState:
    """The state with new values of some parameters."""
    if not values:
        return state
    refinement = rietx().Refinement(
        loaded_structure(state.structure), loaded_instrument(state.instrument), history=False
    )
    refinement.set_values(dict(values))
    return state.model_copy(
        update={
            "structure": as_json(refinement.structure),
            "instrument": as_json(refinement.instrument),
        }
    )


def parameter_values(structure: ModelJson, instrument: ModelJson) -> dict[ParameterPath, float]:
    """Values of all parameters of a model by path."""
    refinement = rietx().Refinement(
        loaded_structure(structure), loaded_instrument(instrument), history=False
    )
    return {row.path: float(row.value) for row in refinement.parameters()}


def background_of(instrument: ModelJson, two_theta: FloatArray) -> FloatArray:
    """Background of an instrument in counts, shape ``(channels,)``.

    A Chebyshev series in two-theta, scaled so that the range reaches from -1 to 1.
    """
    background = cast("dict[str, Any]", instrument["background"])
    coefficients = [float(each["value"]) for each in background["coefficients"]]
    first, last = two_theta[0], two_theta[-1]
    scaled = (2.0 * two_theta - first - last) / (last - first)
    return np.asarray(np.polynomial.chebyshev.chebval(scaled, coefficients), dtype=np.float64)


def write_cif(structure: ModelJson, path: Path) -> None:
    """Write the phases of a structure as a CIF."""
    with quiet():
        loaded_structure(structure).to_cif(str(path))

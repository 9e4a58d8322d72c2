"""A measurement with a known answer: a pattern computed from a model, with counting noise.

It is made by the forward model of the engine that refines, so it tests the study and not the
physics; the dataset `sc2au6` was simulated by another engine.
"""

import json
from pathlib import Path

import numpy as np

from sciagent.contracts.domain import Inputs
from sciagent.contracts.quantity import Quantity
from sciagent.domains.powder_diffraction import engine
from sciagent.domains.powder_diffraction.measures import MICROMETRES_PER_MILLIMETRE
from sciagent.domains.powder_diffraction.pattern import Pattern
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.structures import phase_sources
from sciagent.domains.powder_diffraction.types import FloatArray, ModelState

CELL_ANGSTROM = 4.1568
"""Cell length of the simulated crystal, with the structure of lanthanum hexaboride."""
START_CELL_ANGSTROM = 4.1690
DISPLACEMENT_MM = 0.05
BISO_ANGSTROM2 = 0.40
BORON_X = 0.1993
START_BORON_X = 0.2050
COUNTS_OF_STRONGEST = 20000.0
TRUTH = {
    "cell_a.lab6": Quantity(value=CELL_ANGSTROM, unit="Ao"),
    "displacement": Quantity(value=DISPLACEMENT_MM * MICROMETRES_PER_MILLIMETRE, unit="um"),
    "biso_max.lab6": Quantity(value=BISO_ANGSTROM2, unit="Ao2"),
}
"""True values, by the metric that a refinement finds them as."""
_BACKGROUND_COUNTS = (180.0, -60.0, 20.0)
_STEP_DEG = 0.02
_RANGE_DEG = (18.0, 100.0)
_CIF = """\
data_lab6
_symmetry_space_group_name_H-M 'P m -3 m'
_cell_length_a {cell}
_cell_length_b {cell}
_cell_length_c {cell}
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
loop_
_atom_site_label
_atom_site_type_symbol
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
_atom_site_occupancy
_atom_site_B_iso_or_equiv
La1 La 0 0 0 1 {biso}
B1 B {boron} 0.5 0.5 1 {biso}
"""


def simulate(folder: Path, seed: int) -> Inputs:
    """Write a simulated pattern and a start structure that is wrong in cell and atoms.

    Parameters
    ----------
    folder
        Where the files go.
    seed
        Of the counting noise.

    Returns
    -------
    Inputs
        The pattern and the structure, as the question takes them. Beside them `truth.json` holds
        true values of metrics of the outcome.
    """
    truth, start = folder / "truth.cif", folder / "start.cif"
    truth.write_text(_CIF.format(cell=CELL_ANGSTROM, boron=BORON_X, biso=BISO_ANGSTROM2))
    start.write_text(_CIF.format(cell=START_CELL_ANGSTROM, boron=START_BORON_X, biso=0.5))
    two_theta = np.arange(_RANGE_DEG[0], _RANGE_DEG[1] + _STEP_DEG / 2, _STEP_DEG).round(4)
    expected = expected_counts(truth, two_theta)
    counts = np.random.default_rng(seed).poisson(expected)
    rows = [f"{x:.3f} {y:d}" for x, y in zip(two_theta, counts, strict=True)]
    pattern = folder / "simulated.xy"
    pattern.write_text("\n".join(["# simulated: two-theta (degrees), counts", *rows]) + "\n")
    known = {name: value.model_dump(mode="json") for name, value in TRUTH.items()}
    (folder / "truth.json").write_text(json.dumps(known))
    return {"pattern": (pattern,), "structure": (start,)}


def expected_counts(truth: Path, two_theta: FloatArray) -> FloatArray:
    """Counts that a Bragg-Brentano diffractometer expects on average, shape ``(channels,)``."""
    flat = np.ones_like(two_theta)
    pattern = Pattern(two_theta, flat, flat, (float(two_theta[0]), float(two_theta[-1])))
    state = ModelState(
        structure=engine.structure_model(phase_sources([truth])),
        instrument=engine.instrument_model(RefinementSettings(), pattern),
        phases=("lab6",),
        groups=(),
    )
    state = engine.with_values(
        state,
        {
            "instrument.profile.w": 0.0035,
            "instrument.profile.x": 0.030,
            "instrument.geometry.sample_displacement": DISPLACEMENT_MM,
        },
    )
    bare = engine.without_background(state.instrument)
    lines = engine.predicted(state.structure, bare, two_theta)
    scaled = np.linspace(-1.0, 1.0, two_theta.size)
    background = np.polynomial.chebyshev.chebval(scaled, _BACKGROUND_COUNTS)
    return np.asarray(lines * (COUNTS_OF_STRONGEST / float(lines.max())) + background)

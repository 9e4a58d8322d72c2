"""Words of powder refinement that the files of this field share.

Angles are 2θ in degrees, lengths in ångström, intensities in counts. A *phase* is known by its
key, a short name made from its CIF, and a *group* is a set of parameters that are released
together, such as ``background`` or ``biso.fluorapatite``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, JsonValue

from sciagent.contracts.model import Contract

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
PhaseKey = str
GroupName = str
"""``kind`` for a property of the instrument, ``kind.phase`` for one of a phase."""
ParameterPath = str
"""Dotted path of one parameter, such as ``phases.0.cell.a``; ``*`` stands for any part."""


class Line(Contract):
    """A line that was seen in the pattern, whatever the model says."""

    two_theta_deg: float = Field(description="Position of the Kα1 component.")
    fwhm_deg: float = Field(description="Full width at half maximum.")
    share_fraction: float = Field(description="Part of the area of all lines.")


class FitSummary(Contract):
    """What a trial leaves for its children to be compared with."""

    training_chi2: float = Field(
        json_schema_extra={"unit": "1"},
        description="Weighted sum of squares over the training channels.",
    )
    training_channels: int
    parameters: int = Field(description="Free parameters.")
    line_share_beyond_chance_fraction: float
    unexplained_lines: int


class ModelState(Contract):
    """All that the next trial starts from: the model, and which groups of it are free.

    `structure` and `instrument` are the engine's own models as JSON, kept as they are so that a
    trial in a new process starts from the same numbers to the last bit.
    """

    structure: dict[str, JsonValue]
    instrument: dict[str, JsonValue]
    phases: tuple[PhaseKey, ...] = Field(description="In the order of the structure.")
    groups: tuple[GroupName, ...] = Field(description="Free groups, in order of release.")
    lines: tuple[Line, ...] = ()
    fit: FitSummary | None = None


@dataclass(frozen=True, slots=True)
class PhaseSource:
    """A crystal structure as it was given.

    Attributes
    ----------
    key
        Short name that metrics, groups and claims use.
    name
        Name as people write it.
    path
        Its CIF, absolute.
    """

    key: PhaseKey
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Reflection:
    """A calculated reflection of one phase and one emission line."""

    phase: PhaseKey
    emission_line: int
    hkl: tuple[int, int, int]
    two_theta_deg: float
    d_angstrom: float
    multiplicity: int
    intensity: float


@dataclass(frozen=True, slots=True)
class Refined:
    """A parameter that the last fit moved; the uncertainty is inflated for serial correlation."""

    path: ParameterPath
    value: float
    uncertainty: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlation coefficient of two refined parameters."""

    first: ParameterPath
    second: ParameterPath
    rho: float


@dataclass(frozen=True, slots=True)
class Fit:
    """What one least-squares stage gives, in plain values.

    Attributes
    ----------
    converged
        Whether the least squares ended by its own criterion.
    structure, instrument
        The refined models as JSON.
    calculated, background
        On all channels of the range, fitted or not, in counts; shape ``(channels,)``.
    parameters
        The refined ones.
    correlations
        All pairs above 0.5 in absolute value, strongest first.
    shift_over_esd
        Largest last step in units of its uncertainty.
    durbin_watson, esd_inflation
        Serial correlation of the residuals, and the factor by which it inflates uncertainties.
    weight_percent
        Weight per cent of each crystalline phase and its uncertainty.
    """

    converged: bool
    structure: dict[str, JsonValue]
    instrument: dict[str, JsonValue]
    calculated: FloatArray
    background: FloatArray
    parameters: tuple[Refined, ...]
    correlations: tuple[Correlation, ...]
    reflections: tuple[Reflection, ...]
    shift_over_esd: float | None
    durbin_watson: float
    esd_inflation: float
    weight_percent: tuple[tuple[float, float | None] | None, ...]

"""What has to be known of the measurement, and how the study goes about it."""

from typing import Literal

from pydantic import Field

from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in

Radiation = Literal[
    "CuKa", "CuKa1", "CoKa", "CoKa1", "CrKa", "CrKa1", "FeKa", "FeKa1",
    "MoKa", "MoKa1", "AgKa", "AgKa1",
]  # fmt: skip
Geometry = Literal["bragg_brentano", "debye_scherrer"]


class RefinementSettings(Contract):
    """Settings of a powder refinement; all but the last belong to the data."""

    radiation: Radiation = Field(
        default="CuKa",
        description="X-ray tube and lines; `...Ka1` where the Kα2 line was removed.",
    )
    geometry: Geometry = Field(
        default="bragg_brentano",
        description="`bragg_brentano`: flat plate in reflection; `debye_scherrer`: capillary.",
    )
    wavelength_angstrom: float | None = measured_in(
        "Ao",
        default=None,
        gt=0.05,
        lt=10.0,
        description="Of a monochromatic beam such as at a synchrotron; replaces `radiation`.",
    )
    two_theta_min_deg: float | None = measured_in(
        "deg", default=None, gt=0.0, lt=180.0, description="First angle that is used."
    )
    two_theta_max_deg: float | None = measured_in(
        "deg", default=None, gt=0.0, lt=180.0, description="Last angle that is used."
    )
    monochromator_two_theta_deg: float | None = measured_in(
        "deg",
        default=None,
        gt=0.0,
        lt=180.0,
        description="2θ of a diffracted-beam monochromator (graphite 002 and Cu Kα: 26.6).",
    )
    goniometer_radius_mm: float = measured_in(
        "mm",
        default=217.5,
        gt=0.0,
        description="Specimen to detector; the specimen displacement is in proportion to it.",
    )
    proposal_order_seed: int = Field(
        default=0,
        ge=0,
        description="0: parameters in the order of the method; otherwise seed of a shuffled order.",
    )

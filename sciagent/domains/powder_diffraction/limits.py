"""Every number that a refinement is judged by, each with its reason; none belongs to a sample."""

from sciagent.contracts.quantity import Quantity

R_WP_NOISE_PERCENT = 0.001
"""Two evaluations of one model, with tight and with loose peak windows, differ by less."""
HELD_OUT_NOISE_PERCENT = 0.05
"""Counting noise moves R_wp of a few hundred held-out channels by about as much."""
HELD_OUT_BLOCK_DEG = 1.0
"""Wider than a line, so that a held-out line is not known from its fitted half."""
HELD_OUT_EVERY = 5
"""One block in five is held out: enough to judge by, few enough not to be missed."""
EDGE_DEG = 0.5
"""Left out at both ends of a scan: a line that it cuts in half cannot be fitted by its tail."""

TRIAL_TOLERANCE = 1e-7
"""Relative change of the sum of squares that ends a trial; the final refit goes on further."""
LE_BAIL_CYCLES = 10
"""Rounds in which overlapping lines share their counts; more change R_wp by a per cent of it."""
MAX_CORRELATION = 0.98
"""Two parameters above this are one parameter under two names."""
NOTABLE_CORRELATION = 0.90
"""Worth a remark, and a hint at which parameter the new one stands for."""
BISO_MIN_ANGSTROM2 = 0.01
"""Atoms do not stand still: less is a sign of an error elsewhere."""
BISO_MAX_ANGSTROM2 = 6.0
"""An atom more smeared than this is not where the model puts it."""
OCCUPANCY_SLACK = 1e-6
"""Rounding, not physics: a site holds no more than one atom."""
MAX_CELL_CHANGE_PERCENT = 3.0
"""A cell that goes further has locked on to other lines."""
MAX_ATOM_SHIFT_ANGSTROM = 0.5
"""An atom that goes further is on its way to another site."""
DOUBLET_RATIO_MIN = 0.35
DOUBLET_RATIO_MAX = 0.65
"""Kα2 : Kα1 is 0.5 by degeneracy; monochromators move it by some per cent."""
POLARIZATION_MIN = 0.45
POLARIZATION_MAX = 0.60
"""0.5 without a monochromator, 0.556 behind graphite (002) at Cu Kα."""
TRANSPARENCY_MIN = -1e-9
"""A specimen cannot absorb less than nothing."""
WIDTH_RATIO_MIN = 0.4
WIDTH_RATIO_MAX = 2.5
"""Calculated over observed width of the strong lines: beyond, the profile fits the background."""
SCALE_OVER_ESD_MIN = 3.0
"""A phase is there when its scale is more than three uncertainties above nothing."""
RIVAL_CHI2_RATIO_MIN = 1.10
"""Of two aberrations that shift lines alike, one must be clearly better to replace the other."""

MATCH_WIDTHS = 0.75
"""An observed line belongs to a reflection that lies within this many of its widths."""
LINE_SHARE_MIN = 0.01
"""Observed lines weaker than this part of the strongest are not held against a model."""
LINES_IN_PLACE_FRACTION = 0.50
"""Line area in place, beyond chance, before intensities can be judged."""
UNEXPLAINED_PERCENT = 40.0
"""Background-subtracted R_wp above which a model is no description of the lines."""
SHIFT_OVER_ESD_MAX = 0.1
"""Last shifts below a tenth of their uncertainty: converged, by the usual convention."""

BISO_START_ANGSTROM2 = 0.5
"""For CIFs that give none: a start at zero has no gradient to leave by."""
AXIAL_START = 0.02
"""As for Biso: at zero the axial divergence cannot move."""
MIN_CHANNELS = 50
"""Fewer cannot hold a background, a scale and a cell."""


def published_limits() -> dict[str, Quantity]:
    """Limits that a report compares its values with, by name."""
    return {
        "max_correlation": Quantity(value=MAX_CORRELATION, unit="1"),
        "biso_min": Quantity(value=BISO_MIN_ANGSTROM2, unit="Ao2"),
        "biso_max": Quantity(value=BISO_MAX_ANGSTROM2, unit="Ao2"),
        "cell_change_max": Quantity(value=MAX_CELL_CHANGE_PERCENT, unit="%"),
        "shift_over_esd_max": Quantity(value=SHIFT_OVER_ESD_MAX, unit="1"),
        "unexplained": Quantity(value=UNEXPLAINED_PERCENT, unit="%"),
        "between_codes": Quantity(value=150.0, unit="[ppm]"),
    }

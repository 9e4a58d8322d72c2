"""Groups of parameters that are released together: what they are, and why one would.

The order of the tables is that of a refinement by hand (McCusker et al., J. Appl. Cryst. 32
(1999) 36, doi:10.1107/S0021889898009856): background and widths, then positions, then shapes,
then intensities.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sciagent.contracts.errors import UnknownNameError
from sciagent.domains.powder_diffraction.lines import axial_start, typical_width
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.types import GroupName, Line, ParameterPath, PhaseKey

PROFILE = "instrument.profile"
GEOMETRY = "instrument.geometry"
WIDTH = "width"
AXIAL = "axial_divergence"
AXIAL_PATHS = (f"{GEOMETRY}.axial_sl", f"{GEOMETRY}.axial_hl")


@dataclass(frozen=True, slots=True)
class Group:
    """A kind of group.

    Attributes
    ----------
    kind
        Its name, for phases without the phase's key.
    paths
        What it frees; in groups of a phase, ``{phase}`` stands for the phase's place.
    rationale
        Why a refinement needs it.
    expected
        What releasing it should do.
    ties
        ``(follower, source)``: parameters that keep the value of another.
    shifts_lines, changes_widths, changes_intensities
        What it acts on.
    """

    kind: str
    paths: tuple[ParameterPath, ...]
    rationale: str
    expected: str
    ties: tuple[tuple[ParameterPath, ParameterPath], ...] = ()
    shifts_lines: bool = False
    changes_widths: bool = False
    changes_intensities: bool = False


INSTRUMENT_GROUPS = (
    Group(
        "background",
        ("instrument.background.*",),
        "No background is in the model yet.",
        "The level between the lines is met.",
    ),
    Group(
        WIDTH,
        (f"{PROFILE}.w",),
        "The lines have the width of an assumed instrument.",
        "Calculated lines become as wide as the observed ones.",
        changes_widths=True,
    ),
    Group(
        "lorentzian_width",
        (f"{PROFILE}.x", f"{PROFILE}.y"),
        "Small crystallites and strain broaden the feet of the lines.",
        "Feet of the lines are met at all angles.",
        changes_widths=True,
    ),
    Group(
        "gaussian_width",
        (f"{PROFILE}.u", f"{PROFILE}.v"),
        "The instrument's width changes with the angle.",
        "Widths are met at low and at high angle.",
        changes_widths=True,
    ),
    Group(
        "displacement",
        (f"{GEOMETRY}.sample_displacement",),
        "A flat specimen is seldom exactly on the axis; the shift goes with cos θ.",
        "Lines at low angle move into place.",
        shifts_lines=True,
    ),
    Group(
        "zero_shift",
        ("instrument.zero_shift",),
        "The goniometer's zero may be off; the shift is the same at all angles.",
        "All lines move into place alike.",
        shifts_lines=True,
    ),
    Group(
        AXIAL,
        AXIAL_PATHS[:1],
        "Beams that leave the plane of diffraction make lines at low angle lean.",
        "Asymmetry at low angle is met.",
        # The two ratios cannot be told apart (correlation 1), so the detector keeps the sample's.
        ties=(AXIAL_PATHS[::-1],),
        shifts_lines=True,
    ),
    Group(
        "transparency",
        (f"{GEOMETRY}.sample_transparency",),
        "Beams that enter a specimen of light elements are reflected below its surface.",
        "Lines at middle angles move into place.",
        shifts_lines=True,
    ),
    Group(
        "polarization",
        ("instrument.polarization",),
        "The polarization of the beam is assumed.",
        "Intensities agree at low and at high angle.",
        changes_intensities=True,
    ),
    Group(
        "doublet_ratio",
        ("instrument.source.lines.1.weight",),
        "The Kα2 line has the strength of the textbook.",
        "Both parts of split lines are met.",
    ),
)

PHASE_GROUPS = (
    Group(
        "cell",
        ("phases.{phase}.cell.*",),
        "The cell in the CIF was measured on another specimen.",
        "Lines at high angle move into place.",
        shifts_lines=True,
    ),
    Group(
        "biso",
        ("phases.{phase}.atoms.*.biso",),
        "Vibrations weaken the lines at high angle.",
        "Intensities at high angle agree.",
        changes_intensities=True,
    ),
    Group(
        "coordinates",
        ("phases.{phase}.atoms.*.dof.*",),
        "Atoms on general positions may stand elsewhere in this specimen.",
        "Intensities agree line by line.",
        changes_intensities=True,
    ),
    Group(
        "occupancies",
        ("phases.{phase}.atoms.*.occ",),
        "Sites may be filled in part.",
        "Intensities agree better than with full sites.",
        changes_intensities=True,
    ),
)

SCALE = Group(
    "scale",
    ("phases.{phase}.scale",),
    "The amount of the phase is unknown.",
    "The strength of the lines is met.",
)

_KINDS = {group.kind: group for group in (*INSTRUMENT_GROUPS, *PHASE_GROUPS, SCALE)}
_OF_PHASES = {group.kind for group in (*PHASE_GROUPS, SCALE)}
_FIXED_IN_CAPILLARIES = {"displacement", "transparency", "polarization"}


def group_of(name: GroupName) -> Group:
    """Look the kind of a group up.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    """
    kind = name.partition(".")[0]
    if kind not in _KINDS:
        raise UnknownNameError.among("parameter group", name, _KINDS)
    return _KINDS[kind]


def phase_of(name: GroupName) -> PhaseKey:
    """Key of the phase a group belongs to; empty for groups of the instrument."""
    return name.partition(".")[2]


def instrument_groups(settings: RefinementSettings) -> tuple[GroupName, ...]:
    """Groups of the instrument that this measurement has, in the order of the method."""
    names = [group.kind for group in INSTRUMENT_GROUPS]
    if settings.geometry == "debye_scherrer":
        names = [name for name in names if name not in _FIXED_IN_CAPILLARIES]
    if settings.wavelength_angstrom is not None or settings.radiation.endswith("1"):
        names.remove("doublet_ratio")
    return tuple(names)


def groups_of_phase(phase: PhaseKey) -> tuple[GroupName, ...]:
    """Groups of one phase, without its scale, in the order of the method."""
    return tuple(f"{group.kind}.{phase}" for group in PHASE_GROUPS)


def paths_of(name: GroupName, phases: Sequence[PhaseKey]) -> tuple[ParameterPath, ...]:
    """Paths that a group frees, in a model of these phases.

    Raises
    ------
    UnknownNameError
        If it is a group of a phase that the model does not have.
    """
    group = group_of(name)
    if group.kind not in _OF_PHASES:
        return group.paths
    phase = phase_of(name)
    if phase not in phases:
        raise UnknownNameError.among("phase", phase, phases)
    place = str(list(phases).index(phase))
    return tuple(path.replace("{phase}", place) for path in group.paths)


def free_paths(names: Iterable[GroupName], phases: Sequence[PhaseKey]) -> list[ParameterPath]:
    """Paths that are free when these groups are."""
    return [path for name in names for path in paths_of(name, phases)]


def ties_of(names: Iterable[GroupName]) -> list[tuple[ParameterPath, ParameterPath]]:
    """Parameters that follow others when these groups are free."""
    return [tie for name in names for tie in group_of(name).ties]


def start_values(names: Iterable[GroupName], lines: Sequence[Line]) -> dict[ParameterPath, float]:
    """First values of groups that are released, where the model's own are no start.

    The width starts at the observed one, squared. The axial divergence would stay at zero, where
    it has no gradient.
    """
    values: dict[ParameterPath, float] = {}
    if WIDTH in names:
        values[f"{PROFILE}.w"] = typical_width(lines) ** 2
    if AXIAL in names:
        values |= dict.fromkeys(AXIAL_PATHS, axial_start(lines))
    return values


def owner_of(
    path: ParameterPath, names: Iterable[GroupName], phases: Sequence[PhaseKey]
) -> GroupName:
    """Group that a parameter is free through; empty if none of them frees it."""
    for name in names:
        if any(fnmatchcase(path, pattern) for pattern in paths_of(name, phases)):
            return name
    return ""


def are_rivals(first: GroupName, second: GroupName) -> bool:
    """Whether both are aberrations of the instrument that shift lines, and so explain the same."""
    return all(group_of(name).shifts_lines and not phase_of(name) for name in (first, second))

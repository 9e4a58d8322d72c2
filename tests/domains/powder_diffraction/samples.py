"""Small patterns, structures and trials that the tests of this field share."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import Action, Check, Decision, Outcome, Proposal
from sciagent.contracts.tree import StudyView, Trial
from sciagent.domains.powder_diffraction.pattern import Pattern
from sciagent.domains.powder_diffraction.problem import RefinementProblem
from sciagent.domains.powder_diffraction.refinement import Measurement
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.types import PhaseSource

CIF = """\
data_salt
_symmetry_space_group_name_H-M 'F m -3 m'
_cell_length_a 5.64
_cell_length_b 5.64
_cell_length_c 5.64
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
Na1 Na 0 0 0 1 0.8
Cl1 Cl 0.5 0.5 0.5 1 0.9
"""


def rows(count: int = 200, first: float = 20.0, step: float = 0.02) -> list[str]:
    """Rows of a pattern that nothing is wrong with."""
    return [f"{first + i * step:.2f} {100 + i % 7}" for i in range(count)]


def written(folder: Path, content: str | bytes, name: str = "scan.xy") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def pattern(first: float = 20.0, last: float = 60.0) -> Pattern:
    two_theta = np.arange(first, last, 0.02)
    counts = np.full(two_theta.size, 100.0)
    return Pattern(two_theta, counts, np.sqrt(counts), (first, float(two_theta[-1])))


def problem(seed: int = 0, *, candidates: Sequence[str] = ("scau2",)) -> RefinementProblem:
    """A problem whose structures are never read: enough for a policy."""
    sources = tuple(PhaseSource(key=key, name=key, path="") for key in candidates)
    phase = PhaseSource(key="salt", name="salt", path="")
    settings = RefinementSettings(proposal_order_seed=seed)
    return RefinementProblem(Measurement(settings, pattern(), (phase,), sources))


def metrics(**values: float) -> dict[str, Quantity]:
    given = {
        "r_wp": 20.0, "r_wp_background_subtracted": 30.0, "lines_explained": 100.0,
        "lines_beyond_chance": 100.0, "unexplained_lines": 0.0, **values,
    }  # fmt: skip
    percent = {"r_wp", "r_wp_background_subtracted", "lines_explained", "lines_beyond_chance"}
    return {
        name: Quantity(value=value, unit="%" if name in percent else "1")
        for name, value in given.items()
    }


def trial(
    number: int,
    parent: int | None,
    action: Action,
    *,
    failed: Sequence[str] | None = None,
    values: Mapping[str, float] | None = None,
) -> Trial:
    """A decided trial: accepted, or rejected by the hard checks named in `failed`."""
    checks = tuple(Check(name=name, passed=False, detail="no") for name in failed or ())
    return Trial(
        number=number,
        proposal=Proposal(parent=parent, action=action),
        outcome=Outcome(status="ok", metrics=metrics(**(values or {}))),
        decision=Decision(
            verdict="accepted" if failed is None else "rejected", reasons=("so",), checks=checks
        ),
    )


def view(asked: RefinementProblem, trials: Sequence[Trial]) -> StudyView:
    accepted = [each for each in trials if each.accepted]
    return StudyView(
        study="refine", objective=asked.objective, trials=tuple(trials),
        head=accepted[-1] if accepted else None, best=accepted[-1] if accepted else None,
        trials_left=None, cpu_left_s=None, wall_left_s=None, seed=0,
    )  # fmt: skip

import pytest

from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import Outcome
from sciagent.domains.powder_diffraction.checks import RANGES, checks_of

SOUND = {
    "converged": 1.0, "cell_change.salt": 0.5, "atom_shift.salt": 0.1, "biso_min.salt": 0.4,
    "biso_max.salt": 1.2, "occupancy_min.salt": 1.0, "occupancy_max.salt": 1.0,
    "doublet_ratio": 0.5, "polarization": 0.5, "transparency": 0.0, "correlation_of_new": 0.8,
    "max_correlation": 0.8, "shift_over_esd": 0.01, "scale_over_esd": 9.0,
    "lines_newly_explained": 2.0, "width_released": 1.0, "width_ratio": 1.1, "delta_bic": 40.0,
}  # fmt: skip


def failed(**spoiled: float) -> set[str]:
    """Names of the hard checks that fail."""
    values = {**SOUND, **{name.replace("__", "."): value for name, value in spoiled.items()}}
    metrics = {name: Quantity(value=value, unit="1") for name, value in values.items()}
    checks = checks_of(Outcome(status="ok", metrics=metrics))
    return {check.name for check in checks if check.hard and not check.passed}


def test_a_sound_outcome_passes_every_check() -> None:
    assert failed() == set()


@pytest.mark.parametrize(
    ("metric", "value", "name"),
    [
        ("converged", 0.0, "converged"),
        ("cell_change__salt", 3.1, "cell.salt"),
        ("atom_shift__salt", 0.6, "coordinates.salt"),
        ("biso_min__salt", 0.01, "biso.salt"),
        ("biso_min__salt", -0.5, "biso.salt"),
        ("biso_max__salt", 6.1, "biso.salt"),
        ("occupancy_max__salt", 1.001, "occupancies.salt"),
        ("occupancy_min__salt", -0.001, "occupancies.salt"),
        ("doublet_ratio", 0.2, "doublet_ratio"),
        ("polarization", 0.7, "polarization"),
        ("transparency", -0.001, "transparency"),
        ("correlation_of_new", 0.985, "correlation"),
        ("scale_over_esd", 2.0, "presence"),
        ("lines_newly_explained", 0.0, "explanation"),
        ("width_ratio", 3.0, "width"),
        ("delta_bic", 0.0, "information"),
        ("rival_chi2_ratio", 1.05, "rivals"),
        ("free_intensities", 40.0, "structure"),
    ],
)
def test_each_spoiled_value_fails_its_own_check(metric: str, value: float, name: str) -> None:
    assert failed(**{metric: value}) == {name}


def test_a_rival_that_is_clearly_better_needs_no_other_gain() -> None:
    assert failed(rival_chi2_ratio=1.2, delta_bic=-5.0) == set()


def test_notable_correlations_and_late_shifts_are_remarks_and_reject_nothing() -> None:
    assert failed(max_correlation=0.97, shift_over_esd=0.5) == set()
    soft = {each.name for each in RANGES if not each.hard}
    assert soft == {"notable_correlation", "last_shift"}


def test_a_check_says_what_was_compared_with_what() -> None:
    metrics = {"biso_min.salt": Quantity(value=-0.25, unit="Ao2")}
    (check,) = checks_of(Outcome(status="ok", metrics=metrics))
    assert check.detail == "Biso min -0.25 Å² (above 0.01) in salt"

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.domains.powder_diffraction.statistics import (
    chi2_from_residuals,
    delta_bic_from_chi2,
    r_exp_from_pattern,
    r_wp_from_pattern,
)

OBSERVED = np.array([100.0, 400.0, 900.0, 100.0])
SIGMA = np.sqrt(OBSERVED)


def test_a_perfect_model_has_no_residual_and_none_at_all_has_a_hundred_per_cent() -> None:
    assert r_wp_from_pattern(OBSERVED, OBSERVED, SIGMA) == 0.0
    assert r_wp_from_pattern(OBSERVED, np.zeros(4), SIGMA) == pytest.approx(100.0)


def test_a_background_alone_has_a_hundred_per_cent_less_background() -> None:
    background = np.full(4, 100.0)
    assert r_wp_from_pattern(OBSERVED, background, SIGMA) < 100.0
    subtracted = r_wp_from_pattern(OBSERVED, background, SIGMA, background)
    assert subtracted == pytest.approx(100.0)


@given(st.integers(0, 3), st.floats(0.5, 20.0))
def test_r_wp_over_r_exp_is_the_root_of_the_reduced_chi2(parameters: int, off: float) -> None:
    calculated = OBSERVED + off
    ratio = r_wp_from_pattern(OBSERVED, calculated, SIGMA) / r_exp_from_pattern(
        OBSERVED, SIGMA, parameters
    )
    reduced = chi2_from_residuals(OBSERVED, calculated, SIGMA) / (4 - parameters)
    assert ratio == pytest.approx(math.sqrt(reduced))


def test_parameters_that_buy_nothing_cost_information() -> None:
    assert delta_bic_from_chi2((5000.0, 10), (5000.0, 12), 5000, 1.0) < 0.0
    assert delta_bic_from_chi2((6000.0, 10), (5000.0, 12), 5000, 1.0) > 0.0


@given(st.floats(1.0, 5.0), st.floats(1.0, 5.0))
def test_correlated_residuals_make_a_gain_count_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    gains = [delta_bic_from_chi2((9000.0, 9), (8000.0, 9), 5000, f) for f in (low, high)]
    assert gains[0] >= gains[1]

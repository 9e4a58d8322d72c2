import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.domains.powder_diffraction.limits import AXIAL_START
from sciagent.domains.powder_diffraction.lines import (
    axial_start,
    match_lines,
    typical_width,
    width_from_profile,
    width_ratio,
)
from sciagent.domains.powder_diffraction.types import Line

RANGE = (10.0, 90.0)
PROFILE = {"u": 0.0, "v": 0.0, "w": 0.0, "x": 0.0, "y": 0.0}


def line(position: float, share: float, width: float = 0.1) -> Line:
    return Line(two_theta_deg=position, fwhm_deg=width, share_fraction=share)


def test_lines_at_reflections_are_explained_and_the_strongest_other_is_named_first() -> None:
    lines = [line(20.0, 0.5), line(30.0, 0.2), line(40.0, 0.3)]
    match = match_lines(lines, np.array([20.05]), RANGE)
    assert match.explained == pytest.approx(0.5)
    assert [each.two_theta_deg for each in match.unexplained] == [40.0, 30.0]


def test_a_line_that_was_found_twice_is_named_once() -> None:
    lines = [line(20.0, 0.4), line(40.0, 0.3), line(40.01, 0.3)]
    assert len(match_lines(lines, np.array([20.0]), RANGE).unexplained) == 1


def test_negligible_lines_are_not_held_against_a_model() -> None:
    lines = [line(20.0, 0.995), line(40.0, 0.005)]
    assert match_lines(lines, np.array([20.0]), RANGE).unexplained == ()


def test_reflections_that_are_everywhere_explain_nothing_beyond_chance() -> None:
    lines = [line(position, 0.1) for position in np.linspace(15.3, 85.7, 10)]
    everywhere = np.arange(10.0, 90.0, 0.1)
    match = match_lines(lines, everywhere, RANGE)
    assert match.explained == pytest.approx(1.0)
    assert match.beyond_chance == 0.0


@given(st.lists(st.floats(11.0, 89.0), min_size=1, max_size=20, unique=True))
def test_the_right_model_explains_all_lines_beyond_chance(positions: list[float]) -> None:
    lines = [line(position, 1.0 / len(positions)) for position in positions]
    match = match_lines(lines, np.array(positions), RANGE)
    assert match.explained == pytest.approx(1.0)
    assert match.beyond_chance == pytest.approx(1.0)


def test_no_reflection_and_no_line_are_no_error() -> None:
    assert match_lines([], np.array([20.0]), RANGE).explained == 0.0
    assert match_lines([line(20.0, 1.0)], np.empty(0), RANGE).explained == 0.0
    assert typical_width([]) == 0.1


@pytest.mark.parametrize("angle", [10.0, 60.0, 120.0])
def test_a_gaussian_and_a_lorentzian_line_have_the_widths_of_their_formulas(angle: float) -> None:
    theta = math.radians(angle / 2)
    gauss = width_from_profile({**PROFILE, "u": 0.01, "w": 0.02}, angle)
    lorentz = width_from_profile({**PROFILE, "x": 0.03, "y": 0.04}, angle)
    assert gauss == pytest.approx(math.sqrt(0.01 * math.tan(theta) ** 2 + 0.02))
    assert lorentz == pytest.approx(0.03 / math.cos(theta) + 0.04 * math.tan(theta))


def test_the_ratio_of_widths_is_one_for_the_observed_width() -> None:
    profile = {name: {"value": value} for name, value in {**PROFILE, "w": 0.01}.items()}
    assert width_ratio({"profile": profile}, [line(30.0, 1.0)]) == pytest.approx(1.0)


def test_sharp_lines_start_with_little_axial_divergence() -> None:
    assert axial_start([line(25.0, 1.0)]) == AXIAL_START
    assert axial_start([line(5.0, 1.0, width=0.005)]) < AXIAL_START / 4

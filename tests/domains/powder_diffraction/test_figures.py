from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from sciagent.domains.powder_diffraction.claims import decimals_from_uncertainty
from sciagent.domains.powder_diffraction.figures import (
    draw_pattern,
    draw_pattern_sqrt,
    draw_zoom,
    strongest_window,
)


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """A pattern of one line at 50 degrees, and its reflection."""
    angle = np.arange(20.0, 80.0, 0.05)
    counts = 100.0 + 900.0 * np.exp(-(((angle - 50.0) / 0.2) ** 2))
    fit, reflections = tmp_path / "fit.csv", tmp_path / "reflections.csv"
    rows = [f"{x:.2f},{y:.1f},{y:.1f},100,0,10" for x, y in zip(angle, counts, strict=True)]
    header = "two_theta_deg,observed,calculated,background,difference,sigma"
    fit.write_text("\n".join([header, *rows]))
    reflections.write_text(
        "phase,emission_line,h,k,l,d_angstrom,two_theta_deg,multiplicity,intensity\n"
        "salt,0,1,1,1,1.82,50.0,8,100\nsalt,1,1,1,1,1.82,50.1,8,50\n"
    )
    return [fit, reflections]


def texts(figure: Figure) -> set[str]:
    return {
        text
        for axes in figure.axes
        for text in (
            axes.get_xlabel(), axes.get_ylabel(), *(each.get_text() for each in axes.texts)
        )
    }  # fmt: skip


def test_a_pattern_is_drawn_with_units_and_named_ticks(tables: list[Path]) -> None:
    drawn = texts(draw_pattern(tables))
    assert {"2θ (°)", "intensity (counts)", "difference", "salt"} <= drawn
    assert "intensity (√counts)" in texts(draw_pattern_sqrt(tables))


def test_the_zoom_shows_the_strongest_line(tables: list[Path]) -> None:
    first, last = draw_zoom(tables).axes[-1].get_xlim()
    assert first < 50.0 < last
    assert last - first < 10.0


def test_the_window_of_the_strongest_lines_lies_within_the_pattern() -> None:
    angle = np.arange(20.0, 40.0, 0.1)
    counts = np.where(angle > 38.0, 100.0, 1.0)
    table = {"two_theta_deg": angle, "observed": counts, "background": np.zeros_like(angle)}
    first, last = strongest_window(table)
    assert first >= 20.0
    assert last == pytest.approx(39.9)


@pytest.mark.parametrize(
    ("uncertainty", "decimals"), [(0.00012, 5), (0.0034, 4), (0.25, 2), (7.0, 1), (42.0, 0)]
)
def test_an_uncertainty_is_printed_with_two_digits(uncertainty: float, decimals: int) -> None:
    assert decimals_from_uncertainty(uncertainty, 9) == decimals


def test_a_value_without_uncertainty_has_the_decimals_asked_for() -> None:
    assert decimals_from_uncertainty(None, 3) == 3

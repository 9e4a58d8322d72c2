from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.errors import InputError
from sciagent.domains.powder_diffraction.limits import EDGE_DEG, HELD_OUT_EVERY
from sciagent.domains.powder_diffraction.pattern import Pattern, judged_pattern, read_columns
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from tests.domains.powder_diffraction.samples import pattern, rows, written


def judged(folder: Path, content: str | bytes, **settings: float) -> Pattern:
    path = written(folder, content)
    columns = read_columns(path)
    assert columns is not None
    return judged_pattern(columns, RefinementSettings(**settings), path.name)  # type: ignore[arg-type]


def test_counts_without_sigma_get_that_of_counting(tmp_path: Path) -> None:
    read = judged(tmp_path, "\n".join(rows()))
    assert np.allclose(read.sigma, np.sqrt(read.intensity))


def test_a_third_column_is_the_sigma(tmp_path: Path) -> None:
    read = judged(tmp_path, "\n".join(f"{row} 7" for row in rows()))
    assert set(read.sigma) == {7.0}


@pytest.mark.parametrize("separator", [" ", "\t", ",", ", ", ";"])
def test_headers_comments_and_separators_do_not_matter(tmp_path: Path, separator: str) -> None:
    body = "\n".join(row.replace(" ", separator) for row in rows())
    read = judged(tmp_path, f"# comment\ntwo_theta counts\n! another\n\n{body}\n")
    assert read.two_theta.size == 200 - 2 * round(EDGE_DEG / 0.02)


def test_the_ends_of_a_scan_are_left_out_and_a_narrower_range_is_kept(tmp_path: Path) -> None:
    content = "\n".join(rows())
    whole = judged(tmp_path, content)
    assert whole.limits == pytest.approx((20.0 + EDGE_DEG, 23.98 - EDGE_DEG))
    narrow = judged(tmp_path, content, two_theta_min_deg=21.0, two_theta_max_deg=22.5)
    assert narrow.limits == pytest.approx((21.0, 22.5))


def test_channels_in_which_nothing_was_counted_at_the_end_are_left_out(tmp_path: Path) -> None:
    body = rows() + [f"{24 + i * 0.02:.2f} 0" for i in range(100)]
    assert judged(tmp_path, "\n".join(body)).limits[1] == pytest.approx(23.98 - EDGE_DEG)


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("  \n", "is empty"),
    "binary": (b"\x00\x01\x02" * 50, "is not text in UTF-8"),
    "latin": ("20.0 100 \xb0\n".encode("latin-1") * 60, "is not text in UTF-8"),
    "decreasing": ("\n".join(reversed(rows())), "does not increase"),
    "repeated": ("\n".join([*rows(), rows()[-1]]), "does not increase"),
    "no number": ("\n".join([*rows(), "24.0 nan"]), "is not a number"),
    "negative": ("\n".join([*rows(), "24.0 -3"]), "is negative"),
    "sigma": ("\n".join(f"{row} 0" for row in rows()), "not above zero"),
    "words": ("\n".join([*rows(), "end of scan"]), "is not a row of two or three numbers"),
    "ragged": ("\n".join([*rows(), "24.0 100 10"]), "rows of two and rows of three"),
    "short": ("\n".join(rows(80)), "needs at least"),
    "zero": ("\n".join(f"{20 + i * 0.02:.2f} 0" for i in range(99)), "Nothing was counted"),
    "radians": ("\n".join(f"{i} 10" for i in range(1, 300)), "is not two-theta in degrees"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_pattern_is_refused_in_one_sentence_with_a_remedy(kind: str, tmp_path: Path) -> None:
    content, words = BAD[kind]
    with pytest.raises(InputError, match=words) as refused:
        judged(tmp_path, content)
    assert "scan.xy" in refused.value.message
    assert refused.value.message.endswith(".")
    assert refused.value.remedy.endswith(".")


def test_negative_counts_are_told_to_have_lost_their_uncertainties(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="background subtracted have lost their Poisson"):
        judged(tmp_path, "\n".join([*rows(), "24.0 -3"]))


@pytest.mark.parametrize("limits", [(10.0, 22.0), (21.0, 80.0), (22.0, 21.0)])
def test_a_range_outside_the_pattern_is_refused(
    tmp_path: Path, limits: tuple[float, float]
) -> None:
    with pytest.raises(InputError, match="lies outside the pattern"):
        judged(
            tmp_path, "\n".join(rows()), two_theta_min_deg=limits[0], two_theta_max_deg=limits[1]
        )


def test_files_of_instruments_are_left_to_the_engine(tmp_path: Path) -> None:
    gsas = written(tmp_path, "title\nBANK 1 10 1 CONST 1500 2 0 0 STD\n 1 2 3 4 5 6 7 8 9 10\n")
    raw = written(tmp_path, b"RAW1.01\x00\x00", "scan.raw")
    assert read_columns(gsas) is None
    assert read_columns(raw) is None


@given(st.floats(5.0, 60.0), st.floats(10.0, 100.0))
def test_about_one_channel_in_five_is_held_out_wherever_the_pattern_lies(
    first: float, length: float
) -> None:
    measured = pattern(first, first + length)
    share = float(measured.held_out.mean())
    assert 0.5 / HELD_OUT_EVERY < share < 1.6 / HELD_OUT_EVERY
    assert not measured.held_out[0]

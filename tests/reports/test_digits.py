from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.quantity import Quantity, rounded
from sciagent.reports.digits import (
    number_from_written,
    number_with_uncertainty,
    plain_decimal,
    readable,
    with_unit,
)

VALUES = st.floats(min_value=-1e12, max_value=1e12)
UNCERTAINTIES = st.floats(min_value=0.0, max_value=1e9)
DECIMALS = st.integers(min_value=-6, max_value=15)


@pytest.mark.parametrize(
    ("value", "uncertainty", "decimals", "text"),
    [
        (9.37018, 0.00041, 4, "9.3702(4)"),
        (123.41, 2.5, 1, "123.4(25)"),
        (12340.0, 180.0, -2, "12300(200)"),
        (0.5, 0.00001, 2, "0.50(1)"),
        (0.5, 0.0, 2, "0.50"),
        (0.5, None, 2, "0.50"),
        (-0.0312, 0.0007, 4, "-0.0312(7)"),
        (-0.0001, None, 2, "0.00"),
        (2.5, 0.45, 0, "2(1)"),
        (9.995, 0.0095, 2, "10.00(1)"),
        (1.0, 0.25, 1, "1.0(2)"),
        (1.0, 0.35, 1, "1.0(4)"),
    ],
)
def test_an_uncertainty_is_written_in_steps_of_the_last_printed_place(
    value: float, uncertainty: float | None, decimals: int, text: str
) -> None:
    assert number_with_uncertainty(value, uncertainty, decimals) == text


@given(VALUES, UNCERTAINTIES, DECIMALS)
def test_what_is_written_reads_back_as_the_rounded_value_and_uncertainty(
    value: float, uncertainty: float, decimals: int
) -> None:
    read, unsure = number_from_written(number_with_uncertainty(value, uncertainty, decimals))
    step = Decimal(1).scaleb(-decimals)
    assert read == Decimal(rounded(value, decimals))
    assert abs(read - Decimal(repr(value))) <= step / 2
    if uncertainty == 0.0:
        assert unsure is None
    else:
        assert unsure is not None
        assert abs(unsure - Decimal(repr(uncertainty))) <= step
        assert unsure >= step


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-12, 15))
def test_every_finite_number_can_be_written_with_any_decimals(value: float, decimals: int) -> None:
    assert number_from_written(rounded(value, decimals))[1] is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_plain_decimal_is_the_same_number(value: float) -> None:
    text = plain_decimal(value)
    assert float(text) == value
    assert "e" not in text


@pytest.mark.parametrize("text", ["", "9.37(", "9.37()", "nine", "9,37(4)", "9.37(4", "1e5"])
def test_what_is_no_number_in_this_notation_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="parentheses"):
        number_from_written(text)


def test_units_stand_behind_the_number_as_people_write_them() -> None:
    assert with_unit("9.3702(4)", "Ao") == "9.3702(4) Å"
    assert with_unit("8.44", "%") == "8.44 %"
    assert with_unit("30.12(3)", "deg") == "30.12(3)°"
    assert with_unit("3", "1") == "3"


def test_quantities_that_are_no_claims_show_two_digits_of_their_uncertainty() -> None:
    assert readable(Quantity(value=9.370187, unit="Ao", uncertainty=0.00041)) == "9.37019(41) Å"
    assert readable(Quantity(value=8.441234, unit="%")) == "8.4412 %"
    assert readable(Quantity(value=3.0, unit="{count}")) == "3"
    assert readable(Quantity(value=2.5e-19, unit="J")) == "2.5000e-19 J"

"""Numbers are written with the rounding that is stated, the same everywhere."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sciagent.contracts.quantity import Quantity, rounded, written
from sciagent.contracts.units import SYMBOLS, UNITS, symbol

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)


@given(value=finite, decimals=st.integers(-3, 9))
def test_a_rounded_number_is_within_half_a_digit_of_the_number(value: float, decimals: int) -> None:
    difference = abs(Decimal(rounded(value, decimals)) - Decimal(repr(value)))
    assert difference <= Decimal(5).scaleb(-decimals - 1)


@given(value=finite, decimals=st.integers(0, 9))
def test_a_rounded_number_has_the_stated_decimals(value: float, decimals: int) -> None:
    _, _, fraction = rounded(value, decimals).partition(".")
    assert len(fraction) == decimals


@given(value=finite)
def test_a_value_read_back_from_json_is_written_with_the_same_digits(value: float) -> None:
    quantity = Quantity(value=value, unit="%")
    again = Quantity.model_validate_json(quantity.model_dump_json())
    assert again == quantity
    assert written(again.value, "%", 4) == written(value, "%", 4)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (8.445, 2, "8.44"), (8.455, 2, "8.46"), (-0.0001, 2, "0.00"), (1234.5, -2, "1200"),
        (1e-7, 8, "0.00000010"), (2.5, 0, "2"),
    ],
)  # fmt: skip
def test_halves_are_rounded_to_even_and_zero_has_no_sign(
    value: float, decimals: int, text: str
) -> None:
    assert rounded(value, decimals) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(ValidationError):
        Quantity(value=number, unit="1")


def test_a_unit_outside_the_list_is_refused() -> None:
    with pytest.raises(ValidationError):
        Quantity.model_validate({"value": 1.0, "unit": "angstrom"})


def test_every_symbol_belongs_to_a_unit_and_no_unit_is_listed_twice() -> None:
    assert set(SYMBOLS) <= set(UNITS)
    assert len(UNITS) == len(set(UNITS))
    assert all(symbol(unit) is not None for unit in UNITS)  # type: ignore[arg-type]


def test_units_stand_in_the_json_schema() -> None:
    from sciagent.contracts.study import Outcome

    properties = Outcome.model_json_schema()["properties"]
    assert properties["cpu_s"]["unit"] == "s"

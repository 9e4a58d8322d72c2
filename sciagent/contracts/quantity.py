"""A number with its unit, and how it is written with a stated rounding."""

from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from pydantic import Field

from sciagent.contracts.model import Contract
from sciagent.contracts.units import Unit, symbol

_WIDE = Context(prec=700)
"""Wide enough for every double with all its decimals."""


def measured_in(unit: Unit, **extra: Any) -> Any:
    """Declare the unit of a bare number, so that it stands in the JSON schema.

    Parameters
    ----------
    unit
        UCUM code of the closed list.
    extra
        Further keywords of `pydantic.Field`, such as ``description`` or ``ge``.
    """
    return Field(json_schema_extra={"unit": unit}, **extra)


class Quantity(Contract):
    """A value with its unit and, where known, its standard uncertainty in the same unit."""

    value: float = Field(description="Value in `unit`.")
    unit: Unit = Field(description="UCUM code.")
    uncertainty: float | None = Field(
        default=None, ge=0.0, description="Standard uncertainty (k = 1) in `unit`."
    )


def rounded(value: float, decimals: int) -> str:
    """Write a value with a fixed number of decimals, half to even on its decimal digits.

    Rounding is done on the shortest decimal text of the number, so that the same digits are
    printed everywhere and a value read back from JSON rounds as it did when it was written.

    Parameters
    ----------
    value
        A finite number.
    decimals
        Decimals to keep; negative numbers round to tens, hundreds and so on.
    """
    quantum = Decimal(1).scaleb(-decimals)
    text = f"{Decimal(repr(float(value))).quantize(quantum, ROUND_HALF_EVEN, _WIDE):f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def written(value: float, unit: Unit, decimals: int) -> str:
    """Write a value with its unit as people read it, such as ``8.44 %`` or ``9.3702 Å``."""
    sign = symbol(unit)
    separator = "" if sign == "°" else " "
    return f"{rounded(value, decimals)}{separator}{sign}".rstrip()

"""How numbers are written in a report, and read back.

Rules, in this order:

1. The value is rounded to the claim's `decimals`, half to even on its shortest decimal text.
2. An uncertainty is rounded half to even to the same place and written in parentheses as a
   whole number of steps of the last decimal: ``9.3702(4)`` is 9.3702 with 0.0004, and
   ``123.4(25)`` is 123.4 with 2.5. Without decimals the steps are ones: ``12300(200)``.
3. An uncertainty that is not zero is never printed as zero: it is then written as one step.
4. An uncertainty of exactly zero is not written.
"""

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal

from sciagent.contracts.claim import NumberClaim
from sciagent.contracts.quantity import Quantity, rounded
from sciagent.contracts.units import Unit, symbol

_WIDE = Context(prec=700)
_WRITTEN = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:\((\d+)\))?")
READABLE_DIGITS = 5


def steps_of_uncertainty(uncertainty: float, decimals: int) -> int:
    """Uncertainty in steps of the last printed place, at least one unless it is zero."""
    if uncertainty == 0.0:
        return 0
    steps = Decimal(repr(float(uncertainty))).scaleb(decimals, context=_WIDE)
    return max(1, int(steps.quantize(Decimal(1), ROUND_HALF_EVEN, context=_WIDE)))


def number_with_uncertainty(value: float, uncertainty: float | None, decimals: int) -> str:
    """Write a value, with its standard uncertainty in parentheses where there is one.

    Parameters
    ----------
    value, uncertainty
        Finite numbers in the same unit; the uncertainty is not negative.
    decimals
        Decimals to print; negative numbers round to tens, hundreds and so on.
    """
    text = rounded(value, decimals)
    steps = steps_of_uncertainty(uncertainty, decimals) if uncertainty is not None else 0
    if steps == 0:
        return text
    return f"{text}({steps * 10 ** max(0, -decimals)})"


def number_from_written(text: str) -> tuple[Decimal, Decimal | None]:
    """Read ``9.3702(4)`` back as the value 9.3702 and the uncertainty 0.0004.

    Raises
    ------
    ValueError
        If the text is not a number in this notation.
    """
    match = _WRITTEN.fullmatch(text)
    if match is None:
        message = f"{text!r} is not a number with an uncertainty in parentheses"
        raise ValueError(message)
    sign, whole, fraction, steps = match.groups()
    value = Decimal(f"{sign}{whole}.{fraction or '0'}")
    if steps is None:
        return value, None
    return value, Decimal(steps).scaleb(-len(fraction or ""), context=_WIDE)


def with_unit(number: str, unit: Unit) -> str:
    """Put a unit behind a written number, as people write it."""
    sign = symbol(unit)
    if not sign:
        return number
    return f"{number}{sign}" if sign == "°" else f"{number} {sign}"


def claim_in_digits(claim: NumberClaim) -> str:
    """The digits, uncertainty and unit of a claim, such as ``9.3702(4) Å``."""
    number = number_with_uncertainty(claim.value, claim.uncertainty, claim.decimals)
    return with_unit(number, claim.unit)


def plain_decimal(value: float) -> str:
    """Write a number exactly, without an exponent and without needless zeros."""
    text = f"{Decimal(repr(float(value))):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def readable_decimals(value: float, digits: int = READABLE_DIGITS) -> int:
    """Decimals that show a value with this many significant digits."""
    if value == 0.0 or value.is_integer():
        return 0
    return max(0, digits - 1 - Decimal(repr(abs(value))).adjusted())


def readable(quantity: Quantity) -> str:
    """Write a quantity that is no claim: two digits of its uncertainty, or five of itself."""
    if quantity.uncertainty:
        decimals = max(0, readable_decimals(quantity.uncertainty, digits=2))
        number = number_with_uncertainty(quantity.value, quantity.uncertainty, decimals)
    elif quantity.value != 0.0 and not 1e-6 <= abs(quantity.value) < 1e12:
        number = f"{quantity.value:.{READABLE_DIGITS - 1}e}"
    else:
        number = rounded(quantity.value, readable_decimals(quantity.value))
    return with_unit(number, quantity.unit)

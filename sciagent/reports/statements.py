"""Typed comparisons of numbers: how they are evaluated and what they are called in a sentence."""

from sciagent.contracts.claim import NumberClaim, Statement
from sciagent.reports.digits import plain_decimal, with_unit

_WORDS = {
    "lt": "is less than",
    "le": "is at most",
    "gt": "is greater than",
    "ge": "is at least",
}
SIGNS = {"lt": "<", "le": "≤", "gt": ">", "ge": "≥", "within": "≈"}


def holds(statement: Statement, left: float, right: float) -> bool:
    """Whether the comparison is true of two values that share a unit."""
    if statement.operator == "within":
        return abs(left - right) <= statement.margin
    return {
        "lt": left < right, "le": left <= right, "gt": left > right, "ge": left >= right,
    }[statement.operator]  # fmt: skip


def words_between(statement: Statement, left: NumberClaim) -> str:
    """The words that stand between the two sides, such as ``is less than``."""
    if statement.operator == "within":
        margin = with_unit(plain_decimal(statement.margin), left.unit)
        return f"differs by at most {margin} from"
    return _WORDS[statement.operator]

"""What callers give and notebooks find, in the one form that runs keep it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

_DIGITS = 6
_RELATIVE_TOLERANCE = 1e-6

Files = Mapping[str, str | Path | Sequence[str | Path]]
"""Files by the name of the input: one, or several."""


def listed_files(inputs: Files) -> dict[str, tuple[Path, ...]]:
    """List the files of each input."""
    return {
        name: tuple(Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths))
        for name, paths in inputs.items()
    }


def decimals_of(value: float) -> int:
    """Decimals to print of a number that declares none: six digits; none of whole numbers."""
    exponent = math.floor(math.log10(abs(value))) if value else 0
    return max(-12, min(15, _DIGITS - 1 - exponent)) if value % 1 else 0


def tolerance_of(value: float) -> float:
    """By how much a number that declares nothing may differ when it is computed again."""
    return abs(value) * _RELATIVE_TOLERANCE

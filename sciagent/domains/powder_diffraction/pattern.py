"""The measured pattern: read, judged before anything is made of it, and split for tests."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from sciagent.contracts.errors import InputError
from sciagent.domains.powder_diffraction.limits import (
    EDGE_DEG,
    HELD_OUT_BLOCK_DEG,
    HELD_OUT_EVERY,
    MIN_CHANNELS,
)
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.types import FloatArray, Mask

BINARY_FORMATS = {".raw", ".brml", ".rasx", ".rd"}
COMMENT_MARKS = ("#", "!", "'", "/", ";")
_COLUMNS_OF_PATTERN = (2, 3)
_REMEDY = "Give two or three columns: two-theta in degrees, counts, and if known their sigma."


@dataclass(frozen=True)
class Pattern:
    """Counts over two-theta within the range that is used.

    Attributes
    ----------
    two_theta
        Degrees, strictly increasing, shape ``(channels,)``.
    intensity, sigma
        Counts and their standard deviations, shape ``(channels,)``.
    limits
        First and last angle that is used, in degrees.
    """

    two_theta: FloatArray
    intensity: FloatArray
    sigma: FloatArray
    limits: tuple[float, float]

    @cached_property
    def held_out_windows(self) -> tuple[tuple[float, float], ...]:
        """Windows of two-theta (degrees) that no trial is fitted to."""
        first, last = self.limits
        begin = first + HELD_OUT_BLOCK_DEG * (HELD_OUT_EVERY // 2)
        starts = np.arange(begin, last, HELD_OUT_BLOCK_DEG * HELD_OUT_EVERY)
        return tuple((float(s), float(min(s + HELD_OUT_BLOCK_DEG, last))) for s in starts)

    @cached_property
    def held_out(self) -> Mask:
        """Channels inside the held-out windows, shape ``(channels,)``."""
        mask = np.zeros(self.two_theta.shape, dtype=np.bool_)
        for first, last in self.held_out_windows:
            mask |= (self.two_theta >= first) & (self.two_theta <= last)
        return mask


@dataclass(frozen=True)
class Columns:
    """Columns of a pattern as its file has them."""

    two_theta: FloatArray
    intensity: FloatArray
    sigma: FloatArray


def read_columns(path: Path) -> Columns | None:
    """Read a text file of two or three columns; none if it is of another format.

    Raises
    ------
    InputError
        If it is empty, is not text, or a row below the first is not made of numbers.
    """
    text = _text_of(path)
    if text is None:
        return None
    rows = list(_rows(text, path.name))
    if not rows:
        return None
    values = np.array([row[:3] if len(row) > 2 else [*row, np.nan] for row in rows])
    if len({len(row) for row in rows}) > 1:
        raise InputError(
            f"{path.name} has rows of two and rows of three numbers.",
            "Give every row the same columns: two-theta, counts and, if known, sigma.",
        )
    two_theta, intensity, sigma = values.T
    if len(rows[0]) == 2:
        sigma = np.sqrt(np.maximum(intensity, 1.0))
    return Columns(two_theta, intensity, sigma)


def _text_of(path: Path) -> str | None:
    """The file as text; none for instrument formats that are binary."""
    content = path.read_bytes()
    if not content.strip():
        raise InputError(f"The pattern {path.name} is empty.", _REMEDY)
    if path.suffix.lower() in BINARY_FORMATS:
        return None
    try:
        if b"\0" in content:
            raise UnicodeDecodeError("utf-8", content, content.index(b"\0"), 1, "NUL")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"The pattern {path.name} is not text in UTF-8: byte {error.start} cannot be read.",
            "Export it as text with two or three columns, or give the instrument's own format.",
        ) from error


def _rows(text: str, name: str) -> Iterator[list[float]]:
    """Rows of numbers; nothing at all if the file is not a file of columns."""
    begun = False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith(COMMENT_MARKS):
            continue
        row = _numbers(line)
        if row is not None and len(row) in _COLUMNS_OF_PATTERN:
            begun = True
            yield row
        elif begun:
            raise InputError(
                f"Line {number} of {name} is not a row of two or three numbers: {line[:40]!r}.",
                _REMEDY,
            )
        elif row is not None or line.startswith(("BANK", "<", "_", "data_", "RAW")):
            return


def _numbers(line: str) -> list[float] | None:
    try:
        return [float(word) for word in line.replace(",", " ").replace(";", " ").split()]
    except ValueError:
        return None


def judged_pattern(columns: Columns, settings: RefinementSettings, name: str) -> Pattern:
    """Judge the columns of a file and cut them to the range that is used.

    Raises
    ------
    InputError
        If angles do not increase, a count is negative or not a number, a sigma is not positive,
        nothing was counted, the range lies outside the pattern, or too few channels remain.
    """
    _check_angles(columns.two_theta, name)
    _check_counts(columns, name)
    limits = _limits(columns, settings, name)
    keep = (columns.two_theta >= limits[0]) & (columns.two_theta <= limits[1])
    if int(keep.sum()) < MIN_CHANNELS:
        raise InputError(
            f"{name} has {int(keep.sum())} channels in the range that is used; "
            f"a refinement needs at least {MIN_CHANNELS}.",
            "Give a longer pattern or a wider range.",
        )
    return Pattern(columns.two_theta[keep], columns.intensity[keep], columns.sigma[keep], limits)


def _check_angles(two_theta: FloatArray, name: str) -> None:
    if not np.all(np.isfinite(two_theta)):
        raise InputError(f"An angle in {name} is not a number.", "Remove or mend that row.")
    falls = np.flatnonzero(np.diff(two_theta) <= 0)
    if falls.size:
        at = int(falls[0])
        raise InputError(
            f"Two-theta in {name} does not increase: {two_theta[at]:g} is followed by "
            f"{two_theta[at + 1]:g} degrees in row {at + 2}.",
            "Sort the rows by angle, and merge or separate scans that overlap.",
        )
    if two_theta[0] <= 0.0 or two_theta[-1] >= 180.0:
        raise InputError(
            f"The angles in {name} reach from {two_theta[0]:g} to {two_theta[-1]:g}, "
            "which is not two-theta in degrees.",
            "Give the first column as two-theta in degrees.",
        )


def _check_counts(columns: Columns, name: str) -> None:
    for what, values in (("count", columns.intensity), ("sigma", columns.sigma)):
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            angle = columns.two_theta[int(bad[0])]
            raise InputError(
                f"The {what} at {angle:g} degrees in {name} is not a number.",
                "Remove that row or measure it again.",
            )
    negative = np.flatnonzero(columns.intensity < 0)
    if negative.size:
        at = int(negative[0])
        raise InputError(
            f"The count at {columns.two_theta[at]:g} degrees in {name} is negative "
            f"({columns.intensity[at]:g}); data with the background subtracted have lost their "
            "Poisson uncertainties.",
            "Give the counts as measured; the background is refined.",
        )
    if np.any(columns.sigma <= 0):
        angle = columns.two_theta[int(np.flatnonzero(columns.sigma <= 0)[0])]
        raise InputError(
            f"Sigma at {angle:g} degrees in {name} is not above zero.",
            "Give positive standard deviations, or leave the third column out for raw counts.",
        )
    if not np.any(columns.intensity > 0):
        raise InputError(f"Nothing was counted in {name}.", "Give the measured counts.")


def _limits(columns: Columns, settings: RefinementSettings, name: str) -> tuple[float, float]:
    """Range that is used: as given, but not the ends of the scan, nor where nothing was counted."""
    two_theta = columns.two_theta
    first, last = float(two_theta[0]), float(two_theta[-1])
    step = (last - first) / max(two_theta.size - 1, 1)
    low = settings.two_theta_min_deg if settings.two_theta_min_deg is not None else first
    high = settings.two_theta_max_deg if settings.two_theta_max_deg is not None else last
    if low >= high or low < first - 2 * step or high > last + 2 * step:
        raise InputError(
            f"The range {low:g} to {high:g} degrees lies outside the pattern {name}, "
            f"which reaches from {first:g} to {last:g} degrees.",
            "Set two_theta_min_deg and two_theta_max_deg within it.",
        )
    inside = (two_theta >= low) & (two_theta <= high)
    counted = two_theta[inside & (columns.intensity > 0)]
    if not counted.size:
        raise InputError(f"Nothing was counted in {name} in the range given.", "Widen the range.")
    whole = two_theta[columns.intensity > 0]
    return (
        max(float(counted[0]), float(whole[0]) + EDGE_DEG),
        min(float(counted[-1]), float(whole[-1]) - EDGE_DEG),
    )

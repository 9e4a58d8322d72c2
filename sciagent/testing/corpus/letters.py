"""Fonts of generated papers, and how words are printed with them."""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from sciagent.contracts.errors import InputError

Style = Literal["body", "bold", "unmapped", "mark"]
"""`unmapped` is the font that loses its map from glyphs to characters."""

SOFT_HYPHEN = "\u00ad"
_FILES: dict[Style, str] = {
    "body": "DejaVuSerif.ttf", "bold": "DejaVuSerif-Bold.ttf",
    "unmapped": "DejaVuSerif-Italic.ttf", "mark": "DejaVuSerif.ttf",
}  # fmt: skip
MARK_SIZE = 0.6
"""Size of the mark of a footnote, in parts of the text's."""

_LIGATURES = (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ"))
_WORD = re.compile(r"[^\W\d_]+")
_VOWELS = frozenset("aeiouyAEIOUY")
_TOGETHER = frozenset({"ch", "ck", "gh", "ph", "qu", "sh", "th", "wh"})
_LEAST_PART = 3


def needs_reportlab() -> None:
    """Say so if reportlab is missing.

    Raises
    ------
    InputError
        If it cannot be imported.
    """
    try:
        import reportlab  # noqa: F401
    except ImportError as error:
        raise InputError(
            "Papers are made with reportlab, which is not installed.",
            "Install it: pip install reportlab.",
        ) from error


@cache
def font(style: Style) -> str:
    """Name of the font of a style, registered with reportlab.

    The fonts are those that matplotlib brings along. Their codes are given in order of use, so
    that nobody can guess characters from codes where the map is missing.
    """
    import matplotlib as mpl
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    file = Path(mpl.get_data_path()) / "fonts" / "ttf" / _FILES[style]
    name = f"sciagent-{file.stem}"
    pdfmetrics.registerFont(TTFont(name, str(file), asciiReadable=0))
    return name


@cache
def _widths(style: Style) -> tuple[dict[int, float], float]:
    from reportlab.pdfbase import pdfmetrics

    face: Any = pdfmetrics.getFont(font(style)).face
    return face.charWidths, face.defaultWidth


@lru_cache(maxsize=1 << 16)
def width(text: str, style: Style) -> float:
    """Width of a text, in parts of the size of its font."""
    widths, default = _widths(style)
    total = sum(widths.get(ord(each), default) for each in text) / 1000
    return total * MARK_SIZE if style == "mark" else total


@lru_cache(maxsize=1 << 16)
def with_ligatures(text: str) -> str:
    """Write fi, fl, ff, ffi and ffl as one character each."""
    for letters, ligature in _LIGATURES:
        text = text.replace(letters, ligature)
    return text


@lru_cache(maxsize=1 << 14)
def hyphens(word: str) -> tuple[int, ...]:
    """Places where a word may be divided at the end of a line.

    Before a consonant between two vowels, or between two consonants: near enough to English for
    texts that nobody reads, and each part has three letters at least.
    """
    match = _WORD.search(word)
    if match is None:
        return ()
    start, end = match.span()
    return tuple(
        place
        for place in range(start + _LEAST_PART, end - _LEAST_PART + 1)
        if _divides(word, place)
        and any(each in _VOWELS for each in word[start:place])
        and any(each in _VOWELS for each in word[place:end])
    )


def _divides(word: str, place: int) -> bool:
    before, after, beyond = word[place - 1], word[place], word[place + 1]
    if after in _VOWELS or before + after in _TOGETHER:
        return False
    return beyond in _VOWELS


def written_hyphens(word: str) -> tuple[int, ...]:
    """Places behind hyphens that stand between two letters of a word."""
    return tuple(match.end() for match in re.finditer(r"(?<=[^\W\d_])-(?=[^\W\d_])", word))

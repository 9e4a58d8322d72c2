"""Texts without what typesetting adds: ligatures, line breaks, hyphens at the end of lines.

Two texts that fold to the same characters differ in typography only. Letters, digits, signs and
punctuation marks are kept; blanks go, and so does a hyphen between two letters, because nobody
can tell from a printed line whether it belongs to the word. What blanks decide (whether *not
able* or *notable* is said, *1 0* or *10*) is compared apart, by `critical_tokens`.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sciagent.contracts.literature import PAGE_BREAK
from sciagent.literature.tex_codes import TEX_CODES

_FOLDED = str.maketrans(
    {
        **TEX_CODES,
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‘’‚‛`´′", "'"),
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        **dict.fromkeys("µ", "μ"),
        **dict.fromkeys("∗", "*"),
        **dict.fromkeys("∼˜", "~"),
        **dict.fromkeys("⋅∙•", "·"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\ufffe\uffff", None),
    }
)
"""What is the same character to a reader; the last are not seen at all."""

_HARMLESS = "".join(chr(code) for code in range(33, 127))
_NUMBER = re.compile(r"[-+±<>≤≥≈~]?\d+(?:[.,]\d+)*")
_GROUPED = re.compile(r"\D?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NEGATION = re.compile(
    r"(?<![^\W\d_])(?:no|not|none|nor|never|neither|nobody|nothing|nowhere|cannot|without|non|"
    r"\w+n't|hardly|scarcely|barely|fails?|failed|lacks?|lacked|absent|absence)(?![^\W\d_])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text without its typography.

    Attributes
    ----------
    text
        The characters that are left.
    offsets
        For each of them, the place of the character of the original that it came from.
    """

    text: str
    offsets: tuple[int, ...]


@lru_cache(maxsize=256)
def fold(text: str) -> Folded:
    """Take the typography out of a text, and remember where each character stood."""
    characters: list[str] = []
    offsets: list[int] = []
    for place, character in enumerate(text):
        for each in character if character in _HARMLESS else _folded_character(character):
            characters.append(each)
            offsets.append(place)
    kept = [place for place, each in enumerate(characters) if not each.isspace()]
    kept = _without_hyphens(characters, kept)
    return Folded("".join(characters[i] for i in kept), tuple(offsets[i] for i in kept))


@lru_cache(maxsize=4096)
def _folded_character(character: str) -> str:
    if character in PAGE_BREAK + "\n\r\t ":
        return " "
    # The table comes first: NFKC takes an acute accent for a blank with an accent.
    return unicodedata.normalize("NFKC", character.translate(_FOLDED)).translate(_FOLDED)


def _without_hyphens(characters: list[str], kept: list[int]) -> list[int]:
    """Leave out hyphens that stand between two letters, whatever blanks are between."""
    bordered = [-1, *kept, -1]
    around = zip(bordered, kept, bordered[2:], strict=False)
    return [
        place
        for before, place, after in around
        if characters[place] != "-" or not _joins(characters, before, after)
    ]


def _joins(characters: list[str], before: int, after: int) -> bool:
    return (
        before >= 0 and after >= 0
        and characters[before].isalpha() and characters[after].isalpha()
    )  # fmt: skip


def plain(text: str) -> str:
    """Write a text on one line, with the same characters as `fold` but with its blanks.

    A hyphen at the end of a line is taken out with the line break.
    """
    text = re.sub(r"(?<=[^\W\d_])[-\u00ad\u2010]\s*[\n\f]\s*(?=[^\W\d_])", "", text)
    folded = "".join(
        each if each in _HARMLESS or each == " " else _folded_character(each) for each in text
    )
    return " ".join(folded.split())


def numbers_in(text: str) -> list[str]:
    """All numbers of a text with their signs, in order; a digit group is one number."""
    found = []
    for match in _NUMBER.finditer(plain(text)):
        number = ungrouped(match[0].lstrip("~≈"))
        is_range = number[0] in "-+" and _follows_word(match)
        found.append(number[1:] if is_range else number)
    return found


def ungrouped(number: str) -> str:
    """A number without the commas between its thousands; a decimal comma stays."""
    return number.replace(",", "") if _GROUPED.fullmatch(number) else number


def _follows_word(match: re.Match[str]) -> bool:
    """Whether the sign joins the number to what stands before it, as in *10-20* or *Fe-57*."""
    before = match.string[: match.start()]
    return bool(before) and (before[-1].isalnum() or before[-1] in ")]")


def negations_in(text: str) -> list[str]:
    """All words of a text that deny something, in order and in lower case."""
    return [match[0].casefold() for match in _NEGATION.finditer(plain(text).replace("-", " "))]


def critical_tokens(text: str) -> list[str]:
    """What must be the same in two texts that differ in nothing but blanks and hyphens."""
    words = plain(text)
    split = [
        f"{left[-1]} {right[0]}"
        for left, right in pairwise(words.split())
        if left[-1].isdigit() and right[0].isdigit()
    ]
    return [*split, *negations_in(text)]

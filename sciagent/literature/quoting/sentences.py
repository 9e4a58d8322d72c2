"""The sentences of a stored text, which runs over lines as it was printed."""

import re
from collections.abc import Iterator

from sciagent.literature.tex_codes import TEX_CODES

_END = re.compile(r"[.!?][\"'”’)\]]*(?=\s)|\n[ \t]*\n|\f")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|ca|approx|resp|viz|Figs?|Eqs?|Refs?|Tabs?|Secs?|Nos?|Dr|Prof|"
    r"St|vol|pp?|ed|eds)|(?:^|[\s(.])[A-Z])\.$"
)
_NEW = re.compile(r"\s+[\"'“‘(\[]*[^\sa-z]")
_CODES = str.maketrans(TEX_CODES)
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐\u00ad]\s*\n\s*(?=[a-zà-ÿ])")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Split a text into sentences: from the first character of each to one past its last.

    A sentence may run over lines, not over an empty line or the end of a page. Abbreviations and
    initials end none.
    """
    start = 0
    for match in _END.finditer(text):
        if match[0][0] in ".!?" and not _ends(text, match):
            continue
        end = match.end() if match[0][0] in ".!?" else match.start()
        yield from _trimmed(text, start, end)
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _ends(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 10) : match.start() + 1]
    is_abbreviation = match[0].startswith(".") and _ABBREVIATION.search(before) is not None
    return not is_abbreviation and _NEW.match(text, match.end()) is not None


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    if part.strip():
        first = start + len(part) - len(part.lstrip())
        yield first, first + len(part.strip())


def cut(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """Cut a part of a text that is too long, between words where there is a blank."""
    while end - start > longest:
        space = text.rfind(" ", start + 1, start + longest)
        past = space if space > 0 else start + longest
        yield start, past
        start = past
    yield start, end


def on_one_line(text: str) -> str:
    """Write a printed text on one line, with words that were hyphenated at its ends made whole."""
    # Some of the codes count as blanks.
    return " ".join(_HYPHEN.sub("", text.translate(_CODES)).split())

"""Words set into lines, columns and pages."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sciagent.testing.corpus.letters import (
    SOFT_HYPHEN,
    Style,
    hyphens,
    width,
    with_ligatures,
    written_hyphens,
)

_SOFT_EVERY = 3
"""One in so many hyphens is written as U+00AD."""


class Token(NamedTuple):
    """A word, or a part of one, as it is printed.

    Attributes
    ----------
    shown
        With ligatures and hyphens.
    style
        How it is printed.
    word
        What the author wrote; empty for the rest of a divided word and for marks.
    is_glued
        Whether no blank stands before it.
    """

    shown: str
    style: Style
    word: str
    is_glued: bool = False


class Slot(NamedTuple):
    """Where a line can stand: its left end and its base line, in points from below."""

    x: float
    y: float


@dataclass(slots=True)
class Line:
    """A line of text."""

    tokens: list[Token] = field(default_factory=list)
    indent: float = 0.0
    used: float = 0.0
    ends_paragraph: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """How lines are set.

    Attributes
    ----------
    width, size, indent
        Of a line, of its letters and of the first line of a paragraph, in points.
    has_ligatures, is_hyphenated
        Traits of the paper.
    """

    width: float
    size: float
    indent: float
    has_ligatures: bool
    is_hyphenated: bool


@dataclass(slots=True)
class Sheet:
    """A page while it is filled.

    Attributes
    ----------
    slots
        Where its lines can stand, in reading order.
    notes, marked
        Footnotes of the page, and how many of them are marked in its text.
    lines
        What stands there so far.
    """

    slots: Sequence[Slot]
    notes: int = 0
    marked: int = 0
    lines: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What the author wrote on it; paragraphs are separated by an empty line."""
        parts: list[str] = []
        for line in self.lines:
            parts.extend(token.word for token in line.tokens if token.word)
            if line.ends_paragraph:
                parts.append("\n")
        blocks = " ".join(parts).split("\n")
        return "\n\n".join(block.strip() for block in blocks if block.strip())


def tokens_of(text: str, style: Style, setting: Setting) -> list[Token]:
    """Make tokens of the words of a text."""
    return [
        Token(with_ligatures(word) if setting.has_ligatures else word, style, word)
        for word in text.split(" ")
    ]


class Typesetter:
    """Sets sentences into the lines of one page after the other.

    Parameters
    ----------
    setting
        How lines are set.
    sheets
        Makes an empty page of a number, counted from 1.
    last_page
        Number of the last page; what does not fit on it is left out.
    """

    def __init__(self, setting: Setting, sheets: Callable[[int], Sheet], last_page: int) -> None:
        self._setting = setting
        self._sheets = sheets
        self._last_page = last_page
        self._line = Line()
        self._divided = 0
        self._is_open = False
        self.pages = [sheets(1)]

    @property
    def page(self) -> int:
        """Number of the page that is being filled."""
        return len(self.pages)

    @property
    def rows_left(self) -> int:
        """Lines that still fit on this page."""
        sheet = self.pages[-1]
        return len(sheet.slots) - len(sheet.lines) - self._is_open

    @property
    def is_last(self) -> bool:
        """Whether this page is the last one."""
        return self.page == self._last_page

    def begin_paragraph(self, indent: float | None = None) -> None:
        """Begin a new line, with an indent."""
        self.end_paragraph()
        self._line = Line(indent=self._setting.indent if indent is None else indent)
        self._line.used = self._line.indent

    def end_paragraph(self) -> None:
        """End the line that is being filled, if there is one."""
        if self._is_open:
            self._line.ends_paragraph = True
            self._put(self._line)
        self._line, self._is_open = Line(), False

    def add(self, tokens: Sequence[Token], *, keep: bool = False) -> tuple[int, int] | None:
        """Set a sentence.

        Parameters
        ----------
        tokens
            Its words.
        keep
            Whether it must stand whole on one page.

        Returns
        -------
        tuple or None
            The pages on which it begins and ends; None if it no longer fits.
        """
        lines = self._broken(tokens)
        # The first of them is the line that is being filled, so that one more row is free.
        rows = self.rows_left + self._is_open
        if len(lines) > rows:
            if self.is_last:
                return None
            if keep or rows == 0:
                self._turn()
                lines = self._broken(tokens)
                rows = self.rows_left
        *full, last = lines
        first_page = self.page
        for line in full:
            self._put(line)
        if self.rows_left + self._is_open == 0:
            self._new_page()
        self._line, self._is_open = last, True
        return first_page, self.page

    def mark(self) -> bool:
        """Put the mark of a footnote behind the last word, if the page has one that is unused."""
        sheet = self.pages[-1]
        if not self._is_open or sheet.marked == sheet.notes:
            return False
        sheet.marked += 1
        mark = str(sheet.marked)
        self._line.tokens.append(Token(mark, "mark", "", is_glued=True))
        self._line.used += width(mark, "mark") * self._setting.size
        return True

    def _turn(self) -> None:
        """Go to the next page, with the paragraph going on there."""
        if self._is_open:
            self._put(self._line)
            self._is_open = False
        self._line = Line()
        self._new_page()

    def _new_page(self) -> None:
        self.pages.append(self._sheets(self.page + 1))

    def _put(self, line: Line) -> None:
        self._is_open = False
        if len(self.pages[-1].lines) == len(self.pages[-1].slots):
            self._new_page()
        self.pages[-1].lines.append(line)

    def _broken(self, tokens: Iterable[Token]) -> list[Line]:
        """Break a sentence into lines, the first of which goes on with the open one."""
        size, limit = self._setting.size, self._setting.width
        blank = width(" ", "body") * size
        lines = [Line(list(self._line.tokens), self._line.indent, self._line.used)]
        for token in tokens:
            line = lines[-1]
            gap = blank if line.tokens and not token.is_glued else 0.0
            wide = width(token.shown, token.style) * size
            if line.used + gap + wide <= limit:
                line.tokens.append(token)
                line.used += gap + wide
                continue
            head, rest = self._divide(token, limit - line.used - gap)
            if head is not None:
                line.tokens.append(head)
            lines.append(Line([rest], used=width(rest.shown, rest.style) * size))
        return lines

    def _divide(self, token: Token, room: float) -> tuple[Token | None, Token]:
        """Divide a word so that its first part fits into the room."""
        places = [(place, "") for place in written_hyphens(token.word)]
        if self._setting.is_hyphenated:
            places += [(place, "-") for place in hyphens(token.word)]
        for place, sign in sorted(places, reverse=True):
            first = self._shown(token.word[:place]) + sign
            if width(first, token.style) * self._setting.size <= room:
                rest = Token(self._shown(token.word[place:]), token.style, "")
                return Token(self._soft(first, sign), token.style, token.word), rest
        return None, token

    def _soft(self, first: str, sign: str) -> str:
        self._divided += bool(sign)
        if sign and self._divided % _SOFT_EVERY == 0:
            return first[:-1] + SOFT_HYPHEN
        return first

    def _shown(self, text: str) -> str:
        return with_ligatures(text) if self._setting.has_ligatures else text

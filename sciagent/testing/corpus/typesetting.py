"""A planned paper written, set into pages and printed as a PDF."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from textwrap import shorten
from typing import Any

from sciagent.contracts.literature import Author, Work
from sciagent.testing.corpus import prose
from sciagent.testing.corpus.layout import Setting, Sheet, Slot, Token, Typesetter, tokens_of
from sciagent.testing.corpus.letters import MARK_SIZE, Style, font, width, with_ligatures
from sciagent.testing.corpus.paper import Fact, Sentence
from sciagent.testing.corpus.planning import PlannedPaper

_PAGE = (595.0, 842.0)
_MARGIN, _TOP, _BOTTOM, _GAP = 56.0, 64.0, 60.0, 18.0
_LEADING = 1.28
_TITLE_SIZE, _SMALL_SIZE = 15.0, 7.0
_NOTE_ROWS = 2
_ROWS_OF_REFERENCE = {1: 3, 2: 6}
"""Rows that an entry of the list of references takes at most, by columns."""

_LEAST_ROWS = 3
_HEAD_LETTERS = 60


@dataclass(slots=True)
class Manuscript:
    """A paper with its pages and what stands on them.

    Attributes
    ----------
    abstract
        As an index has it.
    pages
        True text of each page.
    facts, sentences, unreadable
        As in `Paper`.
    blocks
        Headings and paragraphs in reading order, for a page of the web: whether it is a heading,
        and its text.
    """

    abstract: str
    pages: tuple[str, ...] = ()
    facts: list[Fact] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    blocks: list[tuple[bool, str]] = field(default_factory=list)


def names(authors: Sequence[Author]) -> str:
    """Write authors as under a title."""
    written = [f"{each.given} {each.family}".strip() for each in authors]
    return " and ".join([", ".join(written[:-1]), written[-1]]) if written[1:] else written[0]


class Typesetting:
    """Sets one paper.

    Parameters
    ----------
    planned
        What it is about.
    work
        What is printed in its head.
    pages
        How many.
    seed
        Of the corpus.
    cited
        Works that it lists at its end.
    """

    def __init__(
        self, planned: PlannedPaper, work: Work, pages: int, seed: int, cited: Sequence[Work]
    ) -> None:
        self._planned, self._work, self._seed, self._cited = planned, work, seed, cited
        self._last_page = pages
        columns = 2 if "two_columns" in planned.traits else 1
        size = 9.0 if columns == 2 else 10.0
        wide = (_PAGE[0] - 2 * _MARGIN - (columns - 1) * _GAP) / columns
        self._columns = columns
        self._reference_rows = 1 + len(cited) * _ROWS_OF_REFERENCE[columns]
        self._setting = Setting(
            wide, size, indent=10.0,
            has_ligatures="ligatures" in planned.traits,
            is_hyphenated="hyphenated" in planned.traits,
        )  # fmt: skip
        self._notes: dict[int, tuple[str, ...]] = {}
        if "footnotes" in planned.traits:
            every = range(1, pages + 1, 2) if pages > 2 else range(1, pages + 1)
            self._notes = {page: prose.footnotes(planned, page, seed) for page in every}
        self._abstract = prose.abstract(planned, seed)
        self._front, self._front_depth = self._set_front()
        self._setter = Typesetter(self._setting, self._sheet, pages)
        self._manuscript = Manuscript(" ".join(each.text for each in self._abstract))

    def write(self, path: Path) -> Manuscript:
        """Write the PDF, and say what stands in it."""
        self._fill()
        pages = []
        for number, sheet in enumerate(self._setter.pages, start=1):
            front = f"{self._front_text()}\n\n" if number == 1 else ""
            pages.append("\n\n".join([front + sheet.text, *self._notes.get(number, ())]))
        self._manuscript.pages = tuple(pages)
        path.write_bytes(self._printed())
        return self._manuscript

    # ------------------------------------------------------------ text

    def _front_text(self) -> str:
        return "\n\n".join(
            [self._work.title, names(self._work.authors), "Abstract", self._manuscript.abstract]
        )

    def _fill(self) -> None:
        for each in self._abstract:
            self._manuscript.sentences.append(Sentence(each.text, 1))
        for paragraph in prose.paragraphs(self._planned, self._seed):
            if paragraph.heading and self._setter.rows_left >= _LEAST_ROWS:
                self._add_heading(paragraph.heading)
            if not self._add_paragraph(paragraph.sentences):
                break
        self._add_references()
        self._setter.end_paragraph()

    def _add_heading(self, heading: str) -> bool:
        self._setter.begin_paragraph(0.0)
        placed = self._setter.add(tokens_of(heading, "bold", self._setting), keep=True)
        self._setter.end_paragraph()
        if placed:
            self._manuscript.blocks.append((True, heading))
        return bool(placed)

    def _add_paragraph(self, sentences: Sequence[prose.Written]) -> bool:
        self._setter.begin_paragraph()
        written: list[str] = []
        for each in sentences:
            if self._setter.is_last and self._setter.rows_left <= self._reference_rows:
                break
            hidden = each.is_aside and "no_tounicode" in self._planned.traits
            style: Style = "unmapped" if hidden else "body"
            tokens = tokens_of(each.text, style, self._setting)
            placed = self._setter.add(tokens, keep=each.fact is not None)
            if placed is None:
                break
            written.append(each.text)
            self._note(each, placed, hidden=hidden)
            self._setter.mark()
        if written:
            self._manuscript.blocks.append((False, " ".join(written)))
        return len(written) == len(sentences)

    def _note(self, each: prose.Written, placed: tuple[int, int], *, hidden: bool) -> None:
        first, last = placed
        if hidden:
            self._manuscript.unreadable.append(each.text)
        elif first == last:
            self._manuscript.sentences.append(Sentence(each.text, first))
        if each.fact is not None and not hidden:
            fact = each.fact
            self._manuscript.facts.append(
                Fact(fact.entity, fact.quantity, fact.value, fact.unit, each.text, first)
            )

    def _add_references(self) -> None:
        if not self._cited or not self._add_heading("References"):
            return
        for number, work in enumerate(self._cited, start=1):
            entry = (
                f"[{number}] {names(work.authors)}, {work.title}, {work.container} "
                f"({work.year}), doi:{work.doi}."
            )
            self._setter.begin_paragraph(0.0)
            if not self._setter.add(tokens_of(entry, "body", self._setting), keep=True):
                break
            self._manuscript.blocks.append((False, entry))

    # ------------------------------------------------------------ pages

    def _set_front(self) -> tuple[list[tuple[float, Style, str]], float]:
        """Break title, authors and abstract into lines over the full width."""
        shown = self._ligated
        parts: list[tuple[float, Style, str]] = [
            (_TITLE_SIZE, "bold", shown(self._work.title)),
            (self._setting.size, "body", names(self._work.authors)),
            (self._setting.size, "bold", "Abstract"),
            (self._setting.size, "body", shown(" ".join(each.text for each in self._abstract))),
        ]
        lines = [
            (size, style, line)
            for size, style, text in parts
            for line in _wrapped(text, size, style, _PAGE[0] - 2 * _MARGIN)
        ]
        return lines, sum(size * _LEADING for size, _, _ in lines) + 2 * self._setting.size

    def _ligated(self, text: str) -> str:
        return with_ligatures(text) if self._setting.has_ligatures else text

    def _sheet(self, number: int) -> Sheet:
        notes = self._notes.get(number, ())
        low = _BOTTOM + (len(notes) * _NOTE_ROWS * _SMALL_SIZE * _LEADING + 8 if notes else 0)
        high = _PAGE[1] - _TOP - (self._front_depth if number == 1 else 0)
        leading = self._setting.size * _LEADING
        rows = int((high - low) / leading)
        slots = [
            Slot(_MARGIN + column * (self._setting.width + _GAP), high - (row + 1) * leading)
            for column in range(self._columns)
            for row in range(rows)
        ]
        return Sheet(slots, notes=len(notes))

    # ------------------------------------------------------------ ink

    def _printed(self) -> bytes:
        from reportlab.pdfgen.canvas import Canvas

        file = io.BytesIO()
        canvas = Canvas(file, pagesize=_PAGE, invariant=1, pageCompression=1)
        canvas.setTitle(self._work.title)
        canvas.setAuthor(names(self._work.authors))
        for number, sheet in enumerate(self._setter.pages, start=1):
            self._print_head(canvas, number)
            if number == 1:
                self._print_front(canvas)
            for line, slot in zip(sheet.lines, sheet.slots, strict=False):
                _print_tokens(canvas, line.tokens, slot.x + line.indent, slot.y, self._setting.size)
            self._print_notes(canvas, number)
            canvas.showPage()
        canvas.save()
        printed = file.getvalue()
        return without_map(printed) if "no_tounicode" in self._planned.traits else printed

    def _print_head(self, canvas: Any, number: int) -> None:
        if "running_heads" not in self._planned.traits:
            return
        first = self._work.authors[0].family
        others = " et al." if len(self._work.authors) > 1 else ""
        odd = f"{self._work.container} {self._work.volume} ({self._work.year})"
        brief = shorten(self._work.title, _HEAD_LETTERS, placeholder="")
        text = odd if number % 2 else f"{first}{others} · {brief}"
        canvas.setFont(font("body"), _SMALL_SIZE + 0.5)
        canvas.drawString(_MARGIN, _PAGE[1] - 40, text)
        canvas.drawString(_PAGE[0] - _MARGIN - 12, _PAGE[1] - 40, str(number))

    def _print_front(self, canvas: Any) -> None:
        y = _PAGE[1] - _TOP
        for size, style, line in self._front:
            y -= size * _LEADING
            canvas.setFont(font(style), size)
            canvas.drawString(_MARGIN, y, line)

    def _print_notes(self, canvas: Any, number: int) -> None:
        notes = self._notes.get(number, ())
        y = _BOTTOM + len(notes) * _NOTE_ROWS * _SMALL_SIZE * _LEADING
        if notes:
            canvas.line(_MARGIN, y, _MARGIN + 90, y)
        for place, note in enumerate(notes, start=1):
            wide = _PAGE[0] - 2 * _MARGIN - 8
            for row, line in enumerate(_wrapped(self._ligated(note), _SMALL_SIZE, "body", wide)):
                y -= _SMALL_SIZE * _LEADING
                canvas.setFont(font("body"), _SMALL_SIZE)
                canvas.drawString(_MARGIN, y, line if row else f"{place} {line}")


def _wrapped(text: str, size: float, style: Style, wide: float) -> list[str]:
    lines, used = [""], 0.0
    blank = width(" ", style) * size
    for word in text.split(" "):
        needed = width(word, style) * size
        if lines[-1] and used + blank + needed > wide:
            lines.append(word)
            used = needed
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
            used += needed + (blank if used else 0.0)
    return lines


def _print_tokens(canvas: Any, tokens: Sequence[Token], x: float, y: float, size: float) -> None:
    """Print a line in as few strokes as its styles allow."""
    starts = [
        place for place, (before, token) in enumerate(pairwise(tokens), start=1)
        if token.style != before.style
    ]  # fmt: skip
    for start, end in pairwise([0, *starts, len(tokens)]):
        run = tokens[start:end]
        style = run[0].style
        blank = " " if start and not run[0].is_glued else ""
        text = blank + " ".join(each.shown for each in run)
        is_mark = style == "mark"
        canvas.setFont(font(style), size * MARK_SIZE if is_mark else size)
        canvas.drawString(x, y + (size * 0.35 if is_mark else 0), text)
        x += width(text, style) * size


def without_map(printed: bytes) -> bytes:
    """Take the map from glyphs to characters from the fonts of style ``unmapped``."""
    from pypdf import PdfWriter

    name = font("unmapped").removeprefix("sciagent-")
    writer = PdfWriter(clone_from=io.BytesIO(printed))
    for page in writer.pages:
        resources: Any = page["/Resources"]
        for reference in resources["/Font"].values():
            each = reference.get_object()
            if str(each["/BaseFont"]).endswith(name):
                each.pop("/ToUnicode", None)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()

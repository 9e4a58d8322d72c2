"""A generated paper, and what is known to be true of it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sciagent.contracts.errors import UnknownNameError
from sciagent.contracts.literature import PAGE_BREAK, Work

SITE = "https://papers.example"
"""Where generated works say that they can be read; a server puts its own address in its place."""

LAYOUT_TRAITS = (
    "two_columns", "footnotes", "running_heads", "ligatures", "hyphenated", "no_tounicode",
)  # fmt: skip
"""How a paper is set."""

WORK_TRAITS = (
    "retracted", "corrected", "look_alike", "preprint", "published", "conflicting",
)  # fmt: skip
"""What a work is to others, or what became of it."""

TRAITS = frozenset((*LAYOUT_TRAITS, *WORK_TRAITS))
"""All traits that a paper can have."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A number that a paper gives.

    Attributes
    ----------
    entity, quantity
        Of what, and which.
    value, unit
        As they are written; the unit is empty for a plain number.
    sentence
        Verbatim, and whole on one page.
    page
        Counted from 1.
    """

    entity: str
    quantity: str
    value: str
    unit: str
    sentence: str
    page: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that stands whole on one page and can be read there."""

    text: str
    page: int


@dataclass(frozen=True, slots=True)
class Paper:
    """A generated paper.

    Attributes
    ----------
    work
        What an index that knew everything would say of it.
    pdf, html
        Its files; None where there is none.
    pages
        True text of each page in reading order, as an author wrote it: without hyphens at the
        end of lines, ligatures, running heads and marks of footnotes. Paragraphs are separated by
        an empty line; footnotes stand last.
    facts
        Numbers that it gives.
    traits
        Some of `TRAITS`.
    sentences
        Those of its body that stand whole on one page.
    unreadable
        Sentences whose letters the PDF maps to nothing (trait ``no_tounicode``); they are in
        `pages`, and in the HTML, but no reader gets them from the PDF.
    """

    work: Work
    pdf: Path | None
    html: Path | None
    pages: tuple[str, ...]
    facts: tuple[Fact, ...]
    traits: frozenset[str]
    sentences: tuple[Sentence, ...]
    unreadable: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All pages, with a form feed between two."""
        return PAGE_BREAK.join(self.pages)


@dataclass(frozen=True)
class Corpus:
    """Generated papers and the folder that holds their files."""

    folder: Path
    papers: tuple[Paper, ...]

    @cached_property
    def _by_key(self) -> dict[str, Paper]:
        return {each.work.key: each for each in self.papers}

    def paper(self, key: str) -> Paper:
        """Return the paper with this citation key.

        Raises
        ------
        UnknownNameError
            If there is none.
        """
        if key not in self._by_key:
            raise UnknownNameError.among("paper", key, self._by_key)
        return self._by_key[key]

    def having(self, *traits: str) -> tuple[Paper, ...]:
        """All papers with all of these traits, in order.

        Raises
        ------
        UnknownNameError
            If there is no such trait.
        """
        for trait in traits:
            if trait not in TRAITS:
                raise UnknownNameError.among("trait", trait, TRAITS)
        return tuple(each for each in self.papers if each.traits.issuperset(traits))

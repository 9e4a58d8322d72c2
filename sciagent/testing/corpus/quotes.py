"""Quotes as people copy them, and quotes that are not in the source they name."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Literal, get_args

from sciagent.contracts.errors import InputError
from sciagent.testing.corpus.letters import SOFT_HYPHEN, hyphens, with_ligatures
from sciagent.testing.corpus.paper import Corpus, Fact, Paper, Sentence

QuoteKind = Literal[
    "exact", "rewrapped", "ligatures", "hyphenation",
    "altered_number", "negation_flipped", "wrong_source", "moved_page",
]  # fmt: skip
QUOTE_KINDS: tuple[QuoteKind, ...] = get_args(QuoteKind)
"""The first four are in their source, the others are not."""

_TRUE_KINDS = frozenset(QUOTE_KINDS[:4])
_SHORTEST = 40
_TRIES = 2_000

_NUMBER = re.compile(r"(?<![^\W_])(?<![-.,\d])\d+(?:[.,]\d+)*")
_DENIES = re.compile(r"\b(?:not|no|without|cannot)\b", re.IGNORECASE)
_REMOVED = (
    (re.compile(r"\b(was|were|is|are|could|did|do|does) not\b"), r"\1"),
    (re.compile(r"\bwithout\b"), "with"),
    (re.compile(r"^No (\w)"), r"One \1"),
)
_INSERTED = (
    (re.compile(r"\b(was|were|is|are|could)\b(?! not)"), r"\1 not"),
    (re.compile(r"\bwith\b"), "without"),
)


@dataclass(frozen=True, slots=True)
class SeededQuote:
    """A quote with what a checker must say about it.

    Attributes
    ----------
    kind
        One of `QUOTE_KINDS`.
    quote
        Its text.
    work
        Key of the work that it is said to be from.
    page
        Page on which it is said to stand.
    should_be_found
        Whether it stands there.
    statement, entity
        What somebody might state with it, and of what; the entity is empty for a general remark.
    """

    kind: QuoteKind
    quote: str
    work: str
    page: int
    should_be_found: bool
    statement: str
    entity: str


def seeded_quotes(corpus: Corpus, count: int = 1000, seed: int = 0) -> tuple[SeededQuote, ...]:
    """Quote a corpus rightly and wrongly, in even shares of each kind.

    A wrong quote is checked against the true text: even without blanks, punctuation and case it
    does not stand where it is said to.

    Parameters
    ----------
    corpus
        The papers.
    count
        How many quotes.
    seed
        Same seed, same quotes.

    Raises
    ------
    InputError
        If the corpus is too small for a kind; `moved_page` needs two pages, `wrong_source` two
        papers.
    """
    quoting = _Quoting(corpus, Random(f"quotes {seed}"))
    return tuple(quoting.quote(QUOTE_KINDS[number % len(QUOTE_KINDS)]) for number in range(count))


def bare(text: str) -> str:
    """Reduce a text to its letters and digits, in lower case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(each for each in folded if each.isalnum())


@dataclass(frozen=True, slots=True)
class _Draft:
    """A quote that is not checked yet; None instead of one if the sentence does not lend itself."""

    quote: str
    work: Paper
    page: int


class _Quoting:
    """Draws sentences until they make a quote of the kind that is asked for."""

    def __init__(self, corpus: Corpus, random: Random) -> None:
        self._papers = [each for each in corpus.papers if each.sentences]
        self._random = random
        self._bare_pages: dict[str, tuple[str, ...]] = {}
        self._made: set[tuple[str, str, int]] = set()
        self._ways: dict[QuoteKind, Callable[[Paper, Sentence], _Draft | None]] = {
            "exact": lambda paper, sentence: _Draft(sentence.text, paper, sentence.page),
            "rewrapped": self._rewrapped,
            "ligatures": self._with_ligatures,
            "hyphenation": self._hyphenated,
            "altered_number": self._with_other_number,
            "negation_flipped": self._negated,
            "wrong_source": self._elsewhere,
            "moved_page": self._moved,
        }

    @cached_property
    def _by_title(self) -> dict[str, list[Paper]]:
        titles: dict[str, list[Paper]] = {}
        for each in self._papers:
            titles.setdefault(bare(each.work.title), []).append(each)
        return titles

    def quote(self, kind: QuoteKind) -> SeededQuote:
        """Make one quote."""
        for paper, sentence in self._drawn():
            draft = self._ways[kind](paper, sentence)
            if draft is None or not self._is_right(kind, draft):
                continue
            mark = (draft.quote, draft.work.work.key, draft.page)
            if mark not in self._made:
                self._made.add(mark)
                return self._finished(kind, draft, paper, sentence)
        raise InputError(
            f"The corpus is too small for another quote of the kind {kind}.",
            "Make one with more papers or pages, or ask for fewer quotes.",
        )

    def _drawn(self) -> Iterator[tuple[Paper, Sentence]]:
        for _ in range(_TRIES if self._papers else 0):
            paper = self._random.choice(self._papers)
            sentence = self._random.choice(paper.sentences)
            if len(sentence.text) >= _SHORTEST:
                yield paper, sentence

    def _is_right(self, kind: QuoteKind, draft: _Draft) -> bool:
        """Whether the true text bears out what the kind says."""
        pages = self._bare(draft.work)
        quoted = bare(draft.quote)
        if kind in _TRUE_KINDS:
            return quoted in pages[draft.page - 1]
        if kind == "moved_page":
            return quoted not in pages[draft.page - 1] and any(quoted in each for each in pages)
        return quoted not in "".join(pages)

    def _bare(self, paper: Paper) -> tuple[str, ...]:
        key = paper.work.key
        if key not in self._bare_pages:
            self._bare_pages[key] = tuple(bare(page) for page in paper.pages)
        return self._bare_pages[key]

    def _finished(
        self, kind: QuoteKind, draft: _Draft, paper: Paper, sentence: Sentence
    ) -> SeededQuote:
        said = draft.quote if kind in {"altered_number", "negation_flipped"} else sentence.text
        fact = next((each for each in paper.facts if each.sentence == sentence.text), None)
        entities = sorted({each.entity for each in paper.facts})
        entity = next((each for each in entities if each in said), "")
        return SeededQuote(
            kind, draft.quote, draft.work.work.key, draft.page, kind in _TRUE_KINDS,
            _statement(said, fact), fact.entity if fact else entity,
        )  # fmt: skip

    # ------------------------------------------------------------ in their source

    def _rewrapped(self, paper: Paper, sentence: Sentence) -> _Draft:
        width = self._random.randint(22, 58)
        end = self._random.choice(("\n", "\n", "\r\n", " \n"))
        lines = [""]
        for word in sentence.text.split(" "):
            if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
                lines.append(word)
            else:
                lines[-1] = f"{lines[-1]} {word}".strip()
        return _Draft(end.join(lines), paper, sentence.page)

    def _with_ligatures(self, paper: Paper, sentence: Sentence) -> _Draft | None:
        printed = with_ligatures(sentence.text)
        return _Draft(printed, paper, sentence.page) if printed != sentence.text else None

    def _hyphenated(self, paper: Paper, sentence: Sentence) -> _Draft | None:
        words = sentence.text.split(" ")
        able = [place for place, word in enumerate(words) if hyphens(word)]
        if not able:
            return None
        for place in self._random.sample(able, min(len(able), self._random.randint(1, 2))):
            at = self._random.choice(hyphens(words[place]))
            sign = self._random.choice(("-", "-", "-", "\u2010", SOFT_HYPHEN))
            words[place] = f"{words[place][:at]}{sign}\n{words[place][at:]}"
        return _Draft(" ".join(words), paper, sentence.page)

    # ------------------------------------------------------------ not in their source

    def _with_other_number(self, paper: Paper, sentence: Sentence) -> _Draft | None:
        numbers = list(_NUMBER.finditer(sentence.text))
        if not numbers:
            return None
        number = self._random.choice(numbers)
        place = self._random.choice(
            [i for i in range(number.start(), number.end()) if sentence.text[i].isdigit()]
        )
        digits = "123456789" if place == number.start() else "0123456789"
        other = self._random.choice([each for each in digits if each != sentence.text[place]])
        altered = f"{sentence.text[:place]}{other}{sentence.text[place + 1 :]}"
        return _Draft(altered, paper, sentence.page)

    def _negated(self, paper: Paper, sentence: Sentence) -> _Draft | None:
        patterns = list(_REMOVED if _DENIES.search(sentence.text) else _INSERTED)
        self._random.shuffle(patterns)
        for pattern, replacement in patterns:
            flipped = pattern.sub(replacement, sentence.text, count=1)
            if flipped != sentence.text:
                return _Draft(flipped, paper, sentence.page)
        return None

    def _elsewhere(self, paper: Paper, sentence: Sentence) -> _Draft | None:
        """Name another work, one with the same title where there is one."""
        same = [each for each in self._by_title[bare(paper.work.title)] if each is not paper]
        other = self._random.choice(same or self._papers)
        return _Draft(sentence.text, other, min(sentence.page, len(other.pages)))

    def _moved(self, paper: Paper, sentence: Sentence) -> _Draft | None:
        others = [page for page in range(1, len(paper.pages) + 1) if page != sentence.page]
        return _Draft(sentence.text, paper, self._random.choice(others)) if others else None


def _statement(said: str, fact: Fact | None) -> str:
    """State what a quote gives: in other words if it is a plain number, else in the same."""
    if fact is None or _DENIES.search(said) or fact.value not in said:
        return said
    joint = "" if fact.unit == "%" else " "
    measured = f"{fact.value}{joint}{fact.unit}".strip()
    return f"{fact.entity} has a {fact.quantity} of {measured}."

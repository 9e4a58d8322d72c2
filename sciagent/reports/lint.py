"""Numbers typed by hand in a report's source, and sentences without any claim.

Exempt by grammar, never by value: code, headings, addresses of links, markers of ordered lists,
citation markers such as ``[1]``, and names, which are words whose digits follow a letter
(``Sc2Au6``, ``P6_3/mmc``, ``Ka1``) or whose leading whole number is tied to letters that are no
unit (``2theta``, ``3rd``, ``2-propanol``).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from markdown_it.token import Token as MarkdownToken

from sciagent.contracts.units import SYMBOLS, UNITS
from sciagent.reports.tokens import is_placeholder, parsed

_UNIT_WORDS = frozenset(chain(UNITS, SYMBOLS.values())) - {""}
_FRACTIONS = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_DIGIT = re.compile(rf"[\d{_FRACTIONS}]")
_CITATION = re.compile(r"\[\d+(?:\s*[,;–-]\s*\d+)*\]")
_ADDRESS = re.compile(r"\b(?:https?://|doi:)\S+", re.IGNORECASE)
_BREAK = re.compile(
    r"[\s;:=<>()\[\]{}\"'“”‘’„«»~≈≤≥±×·*/|…\U000F0000-\U000FFFFD]+|(?<!\d),|,(?!\d)"
)
_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060\ufeff\u00ad]")
_LEADING_NUMBER = re.compile(rf"[\d{_FRACTIONS}](?:[\d.,{_FRACTIONS}]*[\d{_FRACTIONS}])?")
_EDGES = ".,!?-–—+−"
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"'”’]*\s+(?=[^a-z\s])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|Fig|Figs|Eq|Eqs|Ref|No|ca|approx)\.)$")


@dataclass(frozen=True, slots=True)
class Prose:
    """Text of one paragraph, item or cell, with placeholders for tokens, and its first line."""

    line: int
    text: str
    is_cell: bool = False


def prose_of(source: str) -> Iterator[Prose]:
    """All text of a source that is neither heading nor code."""
    line, heading, cell = 1, False, False
    for block in parsed(source):
        line = block.map[0] + 1 if block.map else line
        if block.type in {"heading_open", "heading_close"}:
            heading = block.nesting > 0
        if block.type in {"td_open", "th_open", "td_close", "th_close"}:
            cell = block.nesting > 0
        if block.type == "inline" and not heading:
            yield Prose(line=line, text=_text(block.children or []), is_cell=cell)


def _text(children: list[MarkdownToken]) -> str:
    pieces = []
    in_address = False
    for child in children:
        if child.type in {"link_open", "link_close"} and child.markup == "autolink":
            in_address = child.nesting > 0
        elif in_address:
            continue
        elif child.type in {"text", "text_special", "html_inline"}:
            pieces.append(child.content)
        elif child.type == "code_inline":
            pieces.append(" code ")
        elif child.type == "image":
            pieces.append(f" {child.content} ")
        elif child.type in {"softbreak", "hardbreak"}:
            pieces.append("\n")
    return _INVISIBLE.sub("", "".join(pieces))


def is_raw_number(word: str) -> bool:
    """Whether a word is a number and not a name."""
    word = word.strip(_EDGES)
    first = next((each for each in word if each.isalnum() or each in "_%°"), "")
    if not _DIGIT.search(word) or not _DIGIT.match(first):
        return False
    match = _LEADING_NUMBER.search(word)
    number = match[0] if match else ""
    rest = word[word.index(number) + len(number) :]
    if not rest or rest in _UNIT_WORDS or "." in number or "," in number:
        return True
    return not rest.lstrip("-–'’_")[:1].isalpha() or bool(re.fullmatch(r"[eE][+-]?\d+\w*", rest))


def raw_numbers(source: str) -> list[tuple[int, str]]:
    """Line and word of every number that stands outside a token and is not exempt."""
    return [found for prose in prose_of(source) for found in _raw_in(prose.text, prose.line)]


def raw_numbers_in_caption(caption: str) -> list[str]:
    """Numbers typed in a figure's caption, which is plain text."""
    return [word for _, word in _raw_in(caption, 1)]


def _raw_in(text: str, first_line: int) -> Iterator[tuple[int, str]]:
    for offset, line in enumerate(text.split("\n")):
        for word in _BREAK.split(_ADDRESS.sub(" ", _CITATION.sub(" ", line))):
            if word and is_raw_number(word):
                yield first_line + offset, word.strip(_EDGES)


def sentences_of(text: str) -> list[str]:
    """Split prose into sentences; abbreviations such as "e.g." end none."""
    sentences: list[str] = []
    for piece in _SENTENCE_END.split(text.replace("\n", " ").strip()):
        if sentences and _ABBREVIATION.search(sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {piece}"
        elif any(each.isalnum() or is_placeholder(each) for each in piece):
            sentences.append(piece)
    return sentences


def unchecked_sentences(source: str, captions: tuple[str, ...] = ()) -> list[str]:
    """Sentences of the prose and of captions that hold no token; cells of tables are no prose."""
    prose = [each.text for each in prose_of(source) if not each.is_cell]
    return [
        sentence
        for text in [*prose, *captions]
        for sentence in sentences_of(text)
        if not any(is_placeholder(each) for each in sentence)
    ]

"""The tokens of a report's source, and where they may stand.

================== ==========================================================================
``{{claim:ID}}``    the value of a number or text; the sentence of a statement; what a citation
                    states, with the number of its reference
``{{claim:ID|label}}``  the same with what it is about: ``subject: quantity = value``
``{{claims:PREFIX}}``   alone on a line: a table of all claims whose ID begins so
``{{figure:ID}}``   alone on a line: a figure with its caption
================== ==========================================================================

Everything else of the source is Markdown without HTML. Tokens do not stand in code, and the
source holds no images and no links to claims or references of its own: they come from tokens
only.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token as MarkdownToken

from sciagent.contracts.errors import InputError

_TOKEN = re.compile(
    r"\{\{(?P<kind>claim|claims|figure):(?P<id>[a-z0-9][a-z0-9_.\-]*)(?P<label>\|label)?\}\}"
)
_FIRST_PLACEHOLDER = 0xF0000
_PLACEHOLDERS = 0xFFFD
_EDGE = "\x00"
CLAIM_LINK = "#claim-"
REFERENCE_LINK = "#ref-"
PLACE_LINK = "#cite-"
_OWN_LINKS = (CLAIM_LINK, REFERENCE_LINK, PLACE_LINK)


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the source.

    Attributes
    ----------
    kind, id, labelled
        As the grammar has it.
    line
        Counted from 1.
    alone
        Whether nothing else stands on its line.
    ends
        Whether the sentence goes on behind it with a punctuation mark.
    order
        Counted from 1 among the tokens of the source.
    """

    kind: str
    id: str
    labelled: bool
    line: int
    alone: bool
    ends: bool
    order: int


def tokens_of(source: str) -> Iterator[Token]:
    """All tokens in the order they stand."""
    lines = source.split("\n")
    for order, match in enumerate(_TOKEN.finditer(source), 1):
        line = source.count("\n", 0, match.start())
        yield Token(
            kind=match["kind"],
            id=match["id"],
            labelled=match["label"] is not None,
            line=line + 1,
            alone=lines[line].rstrip() == match[0],
            ends=source[match.end() :][:1] in tuple(".,;:)?!"),
            order=order,
        )


def expand(source: str, printed: Callable[[Token], str]) -> str:
    """Put what `printed` gives for each token in the token's place, once and not again in it.

    Tables and figures are set off by one blank line.
    """
    source = source.replace(_EDGE, "")
    tokens = tokens_of(source)

    def text_of(token: Token) -> str:
        text = printed(token)
        return text if token.kind == "claim" else f"{_EDGE}{text}{_EDGE}"

    expanded = _TOKEN.sub(lambda _: text_of(next(tokens)), source)
    return re.sub(rf"\n*{_EDGE}\n*", "\n\n", expanded).strip("\n")


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """CommonMark with tables; HTML is text."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def with_placeholders(source: str) -> str:
    """The source with one private character in place of each token."""
    cleaned = "".join("\ufffd" if 0xF0000 <= ord(each) <= 0xFFFFD else each for each in source)
    numbers = iter(range(_PLACEHOLDERS * 100))
    return _TOKEN.sub(lambda _: chr(_FIRST_PLACEHOLDER + next(numbers) % _PLACEHOLDERS), cleaned)


def is_placeholder(character: str) -> bool:
    """Whether the character stands for a token."""
    return _FIRST_PLACEHOLDER <= ord(character) <= _FIRST_PLACEHOLDER + _PLACEHOLDERS


def parsed(source: str) -> list[MarkdownToken]:
    """Markdown of the source as a flat list of block tokens, with placeholders for tokens."""
    return markdown_parser().parse(with_placeholders(source))


def faults_of(source: str) -> list[str]:
    """What in a report's source breaks its grammar, each in one sentence."""
    faults = [
        f"Line {token.line}: the token of {token.id!r} must stand alone on its line."
        for token in tokens_of(source)
        if token.kind != "claim" and not token.alone
    ]
    for number, line in enumerate(_TOKEN.sub("", source).split("\n"), 1):
        if "{{" in line:
            faults.append(f"Line {number}: what begins with '{{{{' is not a token.")
    return faults + list(_faults_of_markdown(parsed(source)))


def _faults_of_markdown(blocks: list[MarkdownToken]) -> Iterator[str]:
    line = 1
    for block in blocks:
        line = block.map[0] + 1 if block.map else line
        for part in [block, *(block.children or [])]:
            is_code = part.type in {"fence", "code_block", "code_inline"}
            if is_code and any(is_placeholder(each) for each in part.content):
                yield f"Near line {line}: a token stands in code."
            if part.type == "image":
                yield f"Near line {line}: an image that is not a figure token."
            if part.type == "link_open" and str(part.attrGet("href")).startswith(_OWN_LINKS):
                yield f"Near line {line}: a typed link to a claim; write a token instead."


def check_source(source: str) -> None:
    """Refuse a source that breaks the grammar.

    Raises
    ------
    InputError
        With the first fault.
    """
    faults = faults_of(source)
    if faults:
        raise InputError(f"The report's source is not well formed. {faults[0]}", "Mend that line.")

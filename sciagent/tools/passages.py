"""The passages of a long text that answer a question best, within a bound of characters."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

_PASSAGE = 700
"""Characters of a passage at most."""
_HEAD = 1_200
"""Characters of the beginning, which are always shown."""
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75
GAP = "[...]"

# Scripts that put no space between words are read in pairs of characters.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TERM = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")
_PARAGRAPH = re.compile(r"\n\s*\n|\f")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])\s*|\s*[\n\f]\s*")


class Span(NamedTuple):
    """A part of a text: its first character and one past its last."""

    start: int
    end: int


def terms(text: str) -> list[str]:
    """Split a text into what is compared: words in small letters, or pairs of characters."""
    found: list[str] = []
    for match in _TERM.finditer(text.casefold()):
        word = match[0]
        if re.match(f"[{_UNSPACED}]", word) and len(word) > 1:
            found += [word[place : place + 2] for place in range(len(word) - 1)]
        else:
            found.append(word)
    return found


def split(text: str) -> list[Span]:
    """Split a text into passages of whole sentences, at paragraphs where they are long enough."""
    passages: list[Span] = []
    for sentence in _sentences(text):
        for piece in _pieces(text, sentence):
            if passages and _joins(text, passages[-1], piece):
                passages[-1] = Span(passages[-1].start, piece.end)
            else:
                passages.append(piece)
    return passages


def _joins(text: str, passage: Span, piece: Span) -> bool:
    if piece.end - passage.start > _PASSAGE:
        return False
    is_long_enough = passage.end - passage.start >= _PASSAGE // 2
    return not (is_long_enough and _PARAGRAPH.search(text, passage.end, piece.start))


def _sentences(text: str) -> Iterator[Span]:
    start = 0
    for match in _SENTENCE.finditer(text):
        if text[start : match.start()].strip():
            yield Span(start, match.start())
        start = match.end()
    if text[start:].strip():
        yield Span(start, len(text))


def _pieces(text: str, sentence: Span) -> Iterator[Span]:
    start = sentence.start
    while sentence.end - start > _PASSAGE:
        space = text.rfind(" ", start + 1, start + _PASSAGE)
        end = space if space > 0 else start + _PASSAGE
        yield Span(start, end)
        start = end
    yield Span(start, sentence.end)


def scores(goal: str, passages: Sequence[str]) -> list[float]:
    """Rank passages by Okapi BM25: how much each says of the words of a goal.

    The weight of a word is ``ln(1 + (N - n + 0.5) / (n + 0.5))`` where `n` of `N` passages hold
    it; its count saturates with k1 = 1.2 and is weighed by length with b = 0.75
    (doi:10.1561/1500000019).

    Parameters
    ----------
    goal
        What is looked for, in words.
    passages
        Texts.
    """
    counts = [Counter(terms(each)) for each in passages]
    lengths = [sum(each.values()) for each in counts]
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    holding = Counter(term for each in counts for term in each)
    total = len(passages)
    weights = {
        term: math.log1p((total - holding[term] + 0.5) / (holding[term] + 0.5))
        for term in sorted(set(terms(goal)))
        if term in holding
    }
    return [
        sum(weight * _saturated(count[term], length / mean) for term, weight in weights.items())
        for count, length in zip(counts, lengths, strict=True)
    ]


def _saturated(count: int, relative_length: float) -> float:
    norm = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * relative_length
    return count * (_SATURATION + 1) / (count + _SATURATION * norm)


def relevant_part(text: str, goal: str, most: int) -> str:
    """Choose of a text its beginning and the passages that say most of a goal, in their order.

    Parameters
    ----------
    text
        Of any length; a text of up to `most` characters is given whole.
    goal
        What is looked for, in words.
    most
        Characters of the result at most.
    """
    if len(text) <= most:
        return text
    head = Span(0, _word_end(text, min(_HEAD, most // 3)))
    rest = [each for each in split(text) if each.start >= head.end]
    ranked = scores(goal, [text[slice(*each)] for each in rest])
    order = sorted(range(len(rest)), key=lambda place: (-ranked[place], place))
    left = most - (head.end - head.start)
    chosen = [head]
    for place in order:
        cost = rest[place].end - rest[place].start + len(GAP) + 2
        # With no word of the goal anywhere, what follows the beginning is as good as anything.
        if cost <= left and (ranked[place] > 0 or ranked[order[0]] == 0):
            chosen.append(rest[place])
            left -= cost
    return _written(text, sorted(chosen), most)


def _word_end(text: str, place: int) -> int:
    space = text.rfind(" ", 0, place)
    return space if space > place // 2 else place


def _written(text: str, chosen: Sequence[Span], most: int) -> str:
    parts = [text[slice(*chosen[0])].strip()]
    for before, each in pairwise(chosen):
        gap = f"\n{GAP}\n" if text[before.end : each.start].strip() else "\n"
        parts.append(gap + text[slice(*each)].strip())
    if text[chosen[-1].end :].strip():
        parts.append(f"\n{GAP}")
    return "".join(parts)[:most]

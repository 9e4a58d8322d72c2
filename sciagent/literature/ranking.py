"""How well texts fit words: Okapi BM25 over a few of them."""

import math
import re
from collections import Counter
from collections.abc import Sequence

_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75

# Scripts that put no space between words are read in pairs of characters.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TERM = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")


COMMON_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how if in into "
    "is it its may more most not of on or our over some such than that the their them then there "
    "these they this those to under was we were what when where which who will with would".split()
)
"""Words that stand in nearly every text and tell nothing apart."""


def telling_words(query: str) -> list[str]:
    """Words of a query that tell texts apart, each once; all of them if none does."""
    found = list(dict.fromkeys(terms(query)))
    return [word for word in found if word not in COMMON_WORDS] or found


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

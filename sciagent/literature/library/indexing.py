"""How texts and queries are written for the full-text index."""

import re

from sciagent.literature.quoting.folding import plain
from sciagent.literature.ranking import COMMON_WORDS

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_CHARACTER = re.compile(f"([{_UNSPACED}])")
_TERM = re.compile(rf"[{_UNSPACED}]+|\d+(?:[.,]\d+)+|[^\W{_UNSPACED}]+")
_DIVIDED = re.compile(r"([^\W\d_]+)[-\u2010]\s*\n\s*([^\W\d_]+)")
_MOST_TERMS = 64


def unprinted(text: str) -> str:
    """Write a text as it was before it was printed, to be searched.

    Ligatures are letters again. A word that a hyphen divides at the end of a line is given whole
    and in parts, because nobody knows whether it was *lattice* or *Mn-doped*.
    """
    return plain(_DIVIDED.sub(r"\1\2 \1 \2", text))


def indexed(text: str) -> str:
    """Write a text as the index takes it; its words are divided at blanks.

    In scripts that put no space between words, each character is a word.
    """
    return _CHARACTER.sub(r" \1 ", unprinted(text))


def fts_query(words: str) -> str:
    """Write words as a query of FTS5 in which nothing is syntax; any of them may match.

    Words that stand in nearly every passage are left out, unless there are no others: they tell
    nothing apart and would let all passages be ranked. A decimal number is looked for as a whole.
    """
    found = dict.fromkeys(_terms(words))
    telling = [each for each in found if each not in COMMON_WORDS] or list(found)
    return " OR ".join(f'"{each}"' for each in telling[:_MOST_TERMS])


def _terms(words: str) -> list[str]:
    terms: list[str] = []
    for match in _TERM.finditer(plain(words).casefold()):
        term = match[0]
        if _CHARACTER.match(term):
            pairs = (term[place : place + 2] for place in range(max(len(term) - 1, 1)))
            terms += [" ".join(pair) for pair in pairs]
        else:
            terms.append(term)
    return terms

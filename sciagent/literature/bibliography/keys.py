"""Citation keys: family name, year and first long word of the title, each key for one work."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count

from sciagent.contracts.literature import Work

_LETTERS = str.maketrans(
    {"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ß": "ss",
     "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe"}
)  # fmt: skip
_LONG = 5
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_:.+/\-]*")


def ascii_letters(text: str) -> str:
    """Write a text in lower-case ASCII letters, without anything else."""
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS)).encode("ascii", "ignore")
    return re.sub(r"[^a-z]", "", plain.decode().lower())


def bare(text: str) -> str:
    """Letters and digits of a title or a name, without accents and in lower case."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(each for each in folded if each.isalnum())


def citation_key(work: Work) -> str:
    """Make a citation key from what is known of a work, such as ``hughes1989structural``.

    Where there is no author, what it appeared in stands for the name.
    """
    family = work.authors[0].family if work.authors else work.container or work.publisher
    words = (ascii_letters(word) for word in re.split(r"[\s\-–—/]+", work.title))
    long = next((word for word in words if len(word) >= _LONG), "")
    year = "" if work.year is None else str(work.year)
    return f"{ascii_letters(family)}{year}{long}" or "work"


def is_safe_key(key: str) -> bool:
    """Whether BibTeX, CSL and the anchors of a page all take a key as it is."""
    return _SAFE.fullmatch(key) is not None


def with_unique_keys(works: Iterable[Work]) -> tuple[Work, ...]:
    """Give each work a key that no other has, whatever the case of its letters.

    A work keeps its key unless it is empty, is not safe, or an earlier work has it; a letter is
    then put behind it.
    """
    taken: set[str] = set()
    kept = []
    for work in works:
        stem = work.key if is_safe_key(work.key) else citation_key(work)
        key = next(each for each in _candidates(stem) if each.casefold() not in taken)
        taken.add(key.casefold())
        kept.append(work if key == work.key else work.model_copy(update={"key": key}))
    return tuple(kept)


def _candidates(stem: str) -> Iterator[str]:
    yield stem
    yield from (f"{stem}{letter}" for letter in "bcdefghijklmnopqrstuvwxyz")
    yield from (f"{stem}-{number}" for number in count(27))

"""Names of authors as BibTeX writes them, and read from there."""

import re
from collections.abc import Iterable, Iterator

from sciagent.contracts.literature import Author
from sciagent.literature.bibliography.latex import latex_from_text, text_from_latex

_MEANS_SOMETHING = re.compile(r",|\band\b|^others$", re.IGNORECASE)
_OTHERS = "others"
_MOST_PARTS = 3


def bibtex_from_names(authors: Iterable[Author]) -> str:
    """Write names as ``Family, Given and {A Group}``."""
    return " and ".join(_written(author) for author in authors)


def _written(author: Author) -> str:
    if not author.given:
        return f"{{{latex_from_text(author.family)}}}"
    return f"{_part(author.family)}, {_part(author.given)}"


def _part(name: str) -> str:
    """A part of a name; in braces where it would be taken apart."""
    latex = latex_from_text(name)
    return f"{{{latex}}}" if not latex or _MEANS_SOMETHING.search(name) else latex


def names_from_bibtex(names: str) -> tuple[Author, ...]:
    """Read ``Family, Given``, ``Given von Family`` and ``{A Group}``; ``others`` is no name."""
    written = [each.strip() for each in _split(names, r"\s+and\s+")]
    return tuple(_author(each) for each in written if each and each.lower() != _OTHERS)


def _author(name: str) -> Author:
    parts = [each.strip() for each in _split(name, ",")]
    if len(parts) == 1:
        return _without_comma(parts[0])
    family, given = parts[0], parts[-1]
    if len(parts) >= _MOST_PARTS:
        # ``von Family, Jr., Given``
        given = f"{given}, {parts[1]}"
    return Author(family=text_from_latex(family), given=text_from_latex(given))


def _without_comma(name: str) -> Author:
    words = list(_split(name, r"\s+"))
    if len(words) == 1:
        return Author(family=text_from_latex(words[0]))
    # What stands in lower case belongs to the family name, such as ``van der``.
    start = next((i for i, word in enumerate(words[:-1]) if word[:1].islower()), len(words) - 1)
    family, given = " ".join(words[start:]), " ".join(words[:start])
    return Author(family=text_from_latex(family), given=text_from_latex(given))


def _split(text: str, separator: str) -> Iterator[str]:
    """Split a text where the separator stands outside of all braces."""
    start = depth = place = 0
    between = re.compile(separator, re.IGNORECASE)
    while place < len(text):
        match = between.match(text, place) if depth == 0 else None
        if match is not None:
            yield text[start:place]
            start = place = match.end()
            continue
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
    yield text[start:]

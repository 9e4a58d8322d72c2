"""Entries of a bibliography with the files that they name."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from sciagent.contracts.literature import Work
from sciagent.literature.bibliography.bibtex import works_from_bibtex
from sciagent.literature.bibliography.faults import BibliographyError

_SEPARATOR = re.compile(r"(?<!\\);")
_MOST_STRINGS = 200
_PART = re.compile(r"(?<!\\):")


class Entry(NamedTuple):
    """A work of a bibliography, and its file if that is here."""

    work: Work
    file: Path | None


def entries_of(path: Path) -> list[Entry]:
    """Read a BibTeX file.

    The field ``file`` is understood as plain paths and as JabRef and Zotero write it
    (``description:path:type``); relative paths start from the folder of the bibliography.

    Raises
    ------
    BibliographyError
        If it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BibliographyError(f"{path} cannot be read: {error}.", "Save it as UTF-8.") from error
    text, entries = _read(text)
    works = works_from_bibtex(text)
    named = [str(each.get("file", "")) for each in entries]
    return [
        Entry(work, next(_files(field, path.parent), None))
        for work, field in zip_longest(works, named, fillvalue="")
        if isinstance(work, Work)
    ]


def _read(text: str) -> tuple[str, list[dict[str, Any]]]:
    """Read the fields of all entries, and give the text in which each name of a string is defined.

    A name that is defined nowhere, because its strings lie in another file, stands for itself.
    """
    import bibtexparser
    from bibtexparser.bibdatabase import UndefinedString
    from bibtexparser.bparser import BibTexParser

    for _ in range(_MOST_STRINGS):
        parser = BibTexParser(
            common_strings=True, ignore_nonstandard_types=False, interpolate_strings=True
        )
        try:
            return text, bibtexparser.loads(text, parser).entries
        except UndefinedString as error:
            name = str(error.args[0]) if error.args else ""
            text = f"@string{{{name} = {{{name}}}}}\n{text}"
        except (KeyError, ValueError):
            break  # what is wrong is said by who reads the works
    return text, []


def _files(field: str, folder: Path) -> Iterator[Path]:
    for item in _SEPARATOR.split(field):
        parts = [re.sub(r"\\([:;\\])", r"\1", part) for part in _PART.split(item)]
        for part in (item, *parts):
            place = folder / part.strip()
            if part.strip() and place.is_file():
                yield place.absolute()
                break

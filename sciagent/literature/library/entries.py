"""Entries of a bibliography with the files that they name."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sciagent.contracts.literature import Work
from sciagent.literature.bibliography.bibtex import works_from_bibtex
from sciagent.literature.bibliography.faults import BibliographyError

_SEPARATOR = re.compile(r"(?<!\\);")
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
    import bibtexparser
    from bibtexparser.bparser import BibTexParser

    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BibliographyError(f"{path} cannot be read: {error}.", "Save it as UTF-8.") from error
    works = works_from_bibtex(text)
    parser = BibTexParser(
        common_strings=True, ignore_nonstandard_types=False, interpolate_strings=True
    )
    named = [each.get("file", "") for each in bibtexparser.loads(text, parser).entries]
    return [
        Entry(work, next(_files(field, path.parent), None))
        for work, field in zip(works, named, strict=True)
    ]


def _files(field: str, folder: Path) -> Iterator[Path]:
    for item in _SEPARATOR.split(field):
        parts = [re.sub(r"\\([:;\\])", r"\1", part) for part in _PART.split(item)]
        for part in (item, *parts):
            place = folder / part.strip()
            if part.strip() and place.is_file():
                yield place.absolute()
                break

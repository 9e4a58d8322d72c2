"""References as a style of the Citation Style Language prints them."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sciagent.contracts.errors import UnknownNameError
from sciagent.contracts.literature import Work
from sciagent.literature.bibliography.csl import csl_item
from sciagent.literature.bibliography.faults import BibliographyError
from sciagent.literature.bibliography.standing import standing_note

STYLE = "harvard1"
"""Author and year, the style that is used if none is named."""

_RENAMED = {"harvard1": "harvard-cite-them-right"}
"""Styles by the name they had before."""

_ID = "work"
_NOT_PRINTED = frozenset({"custom", "abstract", "note"})


def style_names() -> tuple[str, ...]:
    """Names of the styles that need no file."""
    from citeproc import STYLES_PATH

    bundled = {path.stem for path in Path(STYLES_PATH).glob("*.csl")}
    return tuple(sorted(bundled | {old for old, new in _RENAMED.items() if new in bundled}))


def formatted_references(works: Sequence[Work], style: str = STYLE) -> tuple[str, ...]:
    """Format works as the bibliography of a style, as plain text.

    Parameters
    ----------
    works
        In the order in which they are cited; the style may sort them otherwise.
    style
        Name of a style (see `style_names`), or path of a ``.csl`` file.

    Returns
    -------
    tuple of str
        One for each work; those that were retracted or corrected say so at the end.

    Raises
    ------
    UnknownNameError
        If there is no style of this name.
    BibliographyError
        If the file is no style, or the style has no bibliography.
    """
    from citeproc import (
        Citation,
        CitationItem,
        CitationStylesBibliography,
        CitationStylesStyle,
        formatter,
    )
    from citeproc.source.json import CiteProcJSON

    path = _path_of(style)
    # The ids are lower-cased there, so that two keys could become one.
    items = [
        {name: value for name, value in csl_item(work).items() if name not in _NOT_PRINTED}
        | {"id": f"{_ID}{number}"}
        for number, work in enumerate(works)
    ]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = CitationStylesStyle(str(path), validate=False)
            _require_bibliography(made, style)
            printed = CitationStylesBibliography(made, CiteProcJSON(items), formatter.plain)
            for item in items:
                printed.register(Citation([CitationItem(item["id"])]))
            if made.root.bibliography.find("{*}sort") is not None:
                printed.sort()
            in_order = [works[int(key.removeprefix(_ID))] for key in printed.keys]
            entries = [" ".join(str(entry).split()) for entry in printed.bibliography()]
    except (SyntaxError, AttributeError, KeyError, NotImplementedError, ValueError) as error:
        message = f"The style {style!r} cannot be used: {error}."
        raise BibliographyError(message, "Give another .csl file.") from error
    return tuple(map(_marked, entries, in_order))


def _marked(entry: str, work: Work) -> str:
    """An entry with what became of its work, which styles leave out."""
    note = standing_note(work)
    return f"{entry} [{note}]" if note else entry


def _path_of(style: str) -> Path:
    from citeproc import STYLES_PATH

    if style.endswith(".csl"):
        path = Path(style)
        if not path.is_file():
            raise BibliographyError(f"There is no style {style!r}.", "Give a file that exists.")
        return path
    path = Path(STYLES_PATH) / f"{_RENAMED.get(style, style)}.csl"
    if style not in style_names():
        raise UnknownNameError.among("style", style, style_names())
    return path


def _require_bibliography(made: Any, style: str) -> None:
    if getattr(made.root, "bibliography", None) is None:
        raise BibliographyError(f"The style {style!r} has no bibliography.", "Give another one.")

"""Works as entries of BibTeX and back.

The text is written here and not by a library, so that the same works always give the same bytes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sciagent.contracts.literature import Author, Work
from sciagent.literature.bibliography.faults import BibliographyError
from sciagent.literature.bibliography.keys import with_unique_keys
from sciagent.literature.bibliography.latex import latex_from_text, text_from_latex
from sciagent.literature.bibliography.names import bibtex_from_names, names_from_bibtex
from sciagent.literature.bibliography.standing import standing_from_note, standing_note

_TYPES = {
    "article-journal": "article", "paper-conference": "inproceedings", "chapter": "incollection",
    "book": "book", "thesis": "phdthesis", "report": "techreport", "article": "misc",
    "webpage": "online", "dataset": "dataset", "software": "software", "patent": "patent",
}  # fmt: skip
_KINDS = {
    **{entry: kind for kind, entry in _TYPES.items() if entry != "misc"},
    "conference": "paper-conference", "inbook": "chapter", "proceedings": "book",
    "mastersthesis": "thesis", "report": "report", "unpublished": "manuscript",
    "electronic": "webpage", "www": "webpage", "booklet": "pamphlet", "manual": "report",
}  # fmt: skip
_CONTAINERS = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle"}
_PUBLISHERS = {"phdthesis": "school", "techreport": "institution"}
_PREPRINT = "preprint"
_ARXIV = "arxiv"
_RESOLVER = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def bibtex(works: Iterable[Work]) -> str:
    """Write works as a BibTeX file, in their order.

    Letters of all scripts are written in UTF-8. Addresses and identifiers stand as they are, all
    other text is escaped. The kinds of CSL that BibTeX has no type for become ``misc``.
    """
    return "\n".join(_entry(work) for work in with_unique_keys(works))


def _entry(work: Work) -> str:
    kind = _TYPES.get(work.kind, "misc")
    width = max((len(name) for name, _ in _fields(work, kind)), default=0)
    fields = [f"  {name.ljust(width)} = {{{value}}},\n" for name, value in _fields(work, kind)]
    return f"@{kind}{{{work.key},\n{''.join(fields)}}}\n"


def _fields(work: Work, kind: str) -> Iterator[tuple[str, str]]:
    if work.authors:
        yield "author", bibtex_from_names(work.authors)
    # A second pair of braces keeps the capital letters of formulas and names.
    yield "title", f"{{{latex_from_text(work.title)}}}"
    texts = (
        (_CONTAINERS.get(kind, "howpublished"), work.container),
        ("year", "" if work.year is None else str(work.year)),
        ("volume", work.volume), ("number", work.issue),
    )  # fmt: skip
    yield from ((name, latex_from_text(text)) for name, text in texts if text)
    if work.pages:
        yield "pages", latex_from_text(work.pages).replace("–", "--")
    if work.publisher:
        yield _PUBLISHERS.get(kind, "publisher"), latex_from_text(work.publisher)
    if work.arxiv_id:
        yield "eprint", _verbatim(work.arxiv_id)
        yield "archiveprefix", "arXiv"
    if work.kind == "article":
        yield "pubstate", _PREPRINT
    addresses = (
        ("doi", work.doi), ("pmid", work.pmid), ("pmcid", work.pmcid), ("url", work.url),
    )  # fmt: skip
    yield from ((name, _verbatim(text)) for name, text in addresses if text)
    if work.abstract:
        yield "abstract", latex_from_text(work.abstract)
    if note := standing_note(work):
        yield "note", latex_from_text(note)


def _verbatim(address: str) -> str:
    """An address or identifier as it is; what would end the field is written by its number."""
    return re.sub(r"[\s{}\\]", lambda match: f"%{ord(match[0]):02X}", address)


def _address(value: str) -> str:
    return re.sub(r"\\([_%&#~$])(?:\{\})?", r"\1", value).replace("{", "").replace("}", "").strip()


def works_from_bibtex(text: str) -> tuple[Work, ...]:
    """Read a BibTeX file, also one with types and fields of BibLaTeX.

    Raises
    ------
    BibliographyError
        If an entry cannot be read: none is left out unsaid.
    """
    import bibtexparser
    from bibtexparser.bparser import BibTexParser

    parser = BibTexParser(
        common_strings=True, ignore_nonstandard_types=False, interpolate_strings=True
    )
    try:
        database = bibtexparser.loads(text, parser)
    except (KeyError, ValueError) as error:  # a string that is defined nowhere
        message = f"The BibTeX file cannot be read: {error}."
        raise BibliographyError(message, "Mend that entry.") from error
    broken = [each for each in database.comments if each.lstrip().startswith("@")]
    if broken:
        message = f"An entry of the BibTeX file cannot be read: {broken[0].split()[0]!r}."
        raise BibliographyError(message, "Look for a brace or a comma that is missing.")
    return with_unique_keys(_work(entry) for entry in database.entries)


def _work(entry: Mapping[str, Any]) -> Work:
    fields = {name.lower(): str(value) for name, value in entry.items()}

    def text(*names: str) -> str:
        return text_from_latex(_first(fields, names))

    year = re.search(r"-?\d{1,4}", _first(fields, ("year", "date")))
    is_arxiv = _first(fields, ("archiveprefix", "eprinttype")).casefold() == _ARXIV
    return Work(
        key=fields["id"],
        kind=_kind(fields, is_arxiv),
        title=text("title"),
        authors=names_from_bibtex(fields.get("author", "")) or _editors(fields),
        year=int(year[0]) if year else None,
        container=text("journal", "journaltitle", "booktitle", "howpublished", "series"),
        publisher=text("publisher", "school", "institution", "organization"),
        volume=text("volume"),
        issue=text("number", "issue"),
        pages=text("pages"),
        doi=_RESOLVER.sub("", _address(fields.get("doi", ""))).lower(),
        arxiv_id=_address(fields.get("eprint", "")) if is_arxiv else "",
        pmid=_address(fields.get("pmid", "")),
        pmcid=_address(fields.get("pmcid", "")),
        url=_address(fields.get("url", "")),
        abstract=text("abstract"),
        **standing_from_note(text("note")),
    )


def _first(fields: Mapping[str, str], names: Sequence[str]) -> str:
    return next((fields[name] for name in names if fields.get(name)), "")


def _editors(fields: Mapping[str, str]) -> tuple[Author, ...]:
    return names_from_bibtex(fields.get("editor", ""))


def _kind(fields: Mapping[str, str], is_arxiv: bool) -> str:
    kind = _KINDS.get(fields["entrytype"].lower())
    if kind is not None:
        return kind
    is_preprint = is_arxiv or fields.get("pubstate", "").lower() == _PREPRINT
    return "article" if is_preprint else "document"

"""What work a document is: its title and DOI as they stand in it, or as a bibliography says."""

import re
from collections.abc import Iterable

from sciagent.contracts.literature import PAGE_BREAK, Document, Work
from sciagent.literature.bibliography.keys import bare, citation_key

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"'<>{}|\\^~\[\]`]+", re.IGNORECASE)
_ARXIV = re.compile(r"\barXiv:\s*(\d{4}\.\d{4,5})(?:v\d+)?", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"(?i)^(untitled|microsoft word|powerpoint|document\d*|.*\.(?:docx?|tex|dvi|indd|pdf|qxd))\b"
)
_FIRST_PAGES = 2
_SHORTEST_TITLE = 8
_LONGEST_TITLE = 250


def work_of_document(document: Document, name: str) -> Work:
    """Describe the work that a document is, as far as it says so itself.

    Parameters
    ----------
    document
        As it was read.
    name
        Of the file, without its ending; stands for a title that is not given.
    """
    first = PAGE_BREAK.join(document.source.text.split(PAGE_BREAK)[:_FIRST_PAGES])
    doi, arxiv = _DOI.search(first), _ARXIV.search(first)
    title = title_of(document, name)
    work = Work(
        key="", kind="document" if doi is None else "article-journal", title=title,
        doi=_without_end(doi[0]).lower() if doi else "", arxiv_id=arxiv[1] if arxiv else "",
        url=document.source.url, full_text=(document.source.url,), found_in=("library",),
    )  # fmt: skip
    return work.model_copy(update={"key": citation_key(work)})


def title_of(document: Document, name: str) -> str:
    """Take the title from the file's metadata, else its first line that reads like one."""
    stated = " ".join(document.source.title.split())
    if len(stated) >= _SHORTEST_TITLE and not _NO_TITLE.match(stated) and stated != name:
        return stated[:_LONGEST_TITLE]
    for line in document.source.text[:2000].splitlines():
        words = " ".join(line.split()).lstrip("# ")
        if words and line.startswith("# "):
            return words[:_LONGEST_TITLE]
        if len(words) >= _SHORTEST_TITLE and sum(map(str.isalpha, words)) > len(words) // 2:
            return words[:_LONGEST_TITLE]
    return name


def same_title(one: str, other: str) -> bool:
    """Whether two titles have the same letters and digits, in any case."""
    return bool(bare(one)) and bare(one) == bare(other)


def matching(work: Work, known: Iterable[Work]) -> Work | None:
    """Find the entry of a bibliography that describes the same work: by DOI, else by title."""
    entries = list(known)
    by_doi = (each for each in entries if work.doi and each.doi == work.doi)
    by_title = (
        each
        for each in entries
        if same_title(each.title, work.title) and (not work.doi or not each.doi)
    )
    return next(by_doi, None) or next(by_title, None)


def described(url: str, work: Work, entry: Work) -> Work:
    """Take what a bibliography says of a work, with the file where it is read."""
    update = {"full_text": (url,), "found_in": ("library",)}
    if not entry.doi:
        update["doi"] = work.doi  # type: ignore[assignment]
    if not entry.url:
        update["url"] = work.url  # type: ignore[assignment]
    return entry.model_copy(update=update)


def _without_end(doi: str) -> str:
    doi = doi.rstrip(".,;:")
    return doi.rstrip(")") if doi.count("(") < doi.count(")") else doi

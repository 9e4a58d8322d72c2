"""The stored texts that an agent may quote, and the work that each of them is."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from urllib.parse import urlsplit

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.literature import Source, Work
from sciagent.literature.bibliography.keys import citation_key
from sciagent.tools.sources import SourceOfWork, stored_sources
from sciagent.workspace.layout import SOURCES

_RESOLVERS = ("https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/")


class CitableText(NamedTuple):
    """A stored text and its work."""

    source: Source
    work: Work


@dataclass(slots=True)
class CitableTexts:
    """The stored texts of a run with their works; several agents may ask at once.

    All texts are read when one is first asked for, and again when there are new ones.

    Attributes
    ----------
    root
        The workspace.
    """

    root: Path
    _names: list[str] = field(default_factory=list)
    _known: list[tuple[CitableText, set[str]]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def of(self, named: str) -> list[CitableText]:
        """Find the stored texts of a work, the longest first.

        Parameters
        ----------
        named
            An address that was read, or the citation key, the DOI or the arXiv id of a work.

        Raises
        ------
        InputError
            If no text was kept at all.
        UnknownNameError
            If none is of this name; the message offers the nearest.
        """
        with self._lock:
            self._look()
            known = self._known
        if not known:
            raise InputError("Nothing was read from outside yet.", "Visit the source first.")
        wanted = _bare(named)
        found = [text for text, names in known if wanted in names]
        if not found:
            offered = {name for text, _ in known for name in (text.source.url, text.work.key)}
            raise UnknownNameError.among("text that was read of", named, offered)
        return sorted(found, key=lambda each: len(each.source.text), reverse=True)

    def _look(self) -> None:
        names = sorted(path.name for path in (self.root / SOURCES).glob("*.json"))
        if names == self._names:
            return
        sources = list(stored_sources(self.root))
        works = [source.work for source in sources if isinstance(source, SourceOfWork)]
        texts = [CitableText(source, _work_of(source, works)) for source in sources]
        self._known = [(text, _names(text)) for text in texts]
        self._names = names


def citable_texts(root: Path, named: str) -> list[CitableText]:
    """Find the stored texts of a work, as `CitableTexts.of` does."""
    return CitableTexts(root).of(named)


def _bare(name: str) -> str:
    """A name without what does not tell it from others."""
    name = name.strip()
    for resolver in _RESOLVERS:
        name = name.removeprefix(resolver)
    for scheme in ("doi:", "arXiv:", "arxiv:"):
        name = name.removeprefix(scheme)
    return name.rstrip("/").casefold()


def _names(text: CitableText) -> set[str]:
    work = text.work
    names = (text.source.url, work.key, work.doi, work.arxiv_id, work.url)
    return {_bare(name) for name in names if name}


def _work_of(source: Source, works: Iterable[Work]) -> Work:
    """The work that a text is of: as it was kept with it, or with another text from there."""
    if isinstance(source, SourceOfWork):
        return source.work
    address = _bare(source.url)
    for work in works:
        names = (work.url, work.doi, work.arxiv_id, *work.full_text)
        if address in {_bare(name) for name in names if name}:
            return work
    return page_as_work(source)


def page_as_work(source: Source) -> Work:
    """A page of the web, or another text of which no more than address and title is known."""
    host = urlsplit(source.url).hostname or ""
    is_page = source.url.startswith(("http://", "https://"))
    work = Work(
        key="", kind="webpage" if is_page else "document", title=source.title or source.url,
        container=host, url=source.url,
    )  # fmt: skip
    return work.model_copy(update={"key": citation_key(work)})

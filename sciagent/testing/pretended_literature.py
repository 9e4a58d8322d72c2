"""A small library in memory, in place of the web and the scholarly indexes."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from threading import Lock

from sciagent.contracts.errors import RandomError, UnknownNameError
from sciagent.contracts.literature import Document, Found, Source, SourceAnswer
from sciagent.contracts.model import sha256_text

_WORD = re.compile(r"\w+")
_SNIPPET = 300


def page(url: str, text: str, title: str = "") -> Source:
    """Make a page with the hash of its text."""
    return Source(url=url, title=title, sha256=sha256_text(text), text=text)


@dataclass(slots=True)
class PretendedLiterature:
    """Searches and fetches pages that a test wrote (a `Literature`).

    A search ranks pages by how often they hold the words of the query, then in the order they
    were given: the same query always finds the same. It may be used from several threads.

    Attributes
    ----------
    pages
        What is there.
    scholarly
        Addresses that `scholar` finds; all of them if empty.
    unreachable
        Addresses whose pages cannot be fetched, although a search finds them.
    most
        Results of one search at most.
    asked
        What was asked so far: the kind of the question and its text, in order.
    """

    pages: Iterable[Source]
    scholarly: Collection[str] = ()
    unreachable: Collection[str] = ()
    most: int = 5
    asked: list[tuple[str, str]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self.pages = tuple(self.pages)

    def search(self, query: str) -> Found:
        """Find pages; each holds the part of the text where the first word stands."""
        self._note("search", query)
        return self._found(query, self.pages)

    def scholar(self, query: str) -> Found:
        """Find scholarly pages; each holds the beginning of its text."""
        self._note("scholar", query)
        chosen = [each for each in self.pages if not self.scholarly or each.url in self.scholarly]
        return self._found(query, chosen)

    def visit(self, url: str) -> Document:
        """Fetch a page.

        Raises
        ------
        RandomError
            If it is one of the `unreachable` ones.
        UnknownNameError
            If there is none at that address.
        """
        self._note("visit", url)
        if url in self.unreachable:
            raise RandomError(f"{url} did not answer.", "Try again later, or another source.")
        known = {each.url: each for each in self.pages}
        if url not in known:
            raise UnknownNameError.among("page", url, known)
        return Document(source=known[url])

    def _note(self, kind: str, text: str) -> None:
        with self._lock:
            self.asked.append((kind, text))

    def _found(self, query: str, pages: Iterable[Source]) -> Found:
        words = set(_words(query))
        scored = [(_score(each, words), each) for each in pages]
        hits = sorted((each for each in scored if each[0]), key=lambda each: -each[0])
        snippets = tuple(_snippet(each, words) for _, each in hits[: self.most])
        answer = SourceAnswer(
            source="pages", status="ok" if snippets else "no_match", records=len(snippets)
        )
        return Found(query=query, pages=snippets, answers=(answer,))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _score(source: Source, words: set[str]) -> int:
    counts = Counter(_words(f"{source.title} {source.text}"))
    return sum(counts[word] for word in words)


def _snippet(source: Source, words: set[str]) -> Source:
    starts = (match.start() for match in _WORD.finditer(source.text)
              if match[0].casefold() in words)  # fmt: skip
    start = max(0, next(starts, 0) - _SNIPPET // 4)
    return page(source.url, source.text[start : start + _SNIPPET], source.title)

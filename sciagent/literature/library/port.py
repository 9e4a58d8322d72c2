"""The library as literature that a run may ask, alone or before the indexes that are online."""

from dataclasses import dataclass

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.literature import Document, Found, SourceAnswer, Work
from sciagent.contracts.ports import Literature
from sciagent.literature.library.describing import same_title
from sciagent.literature.library.library import Library
from sciagent.literature.library.storage import DamagedLibraryError

SOURCE = "library"
_MOST = 10


@dataclass(frozen=True, slots=True)
class LibraryLiterature:
    """The user's own library (a `Literature`): nothing leaves this machine.

    Attributes
    ----------
    library
        Its file.
    """

    library: Library

    def search(self, query: str) -> Found:
        """Find works by their passages, as `scholar` does: a library has no other pages."""
        return self.scholar(query)

    def scholar(self, query: str) -> Found:
        """Find works by their passages; each shows the passages that fit best."""
        try:
            found = self.library.works(query, _MOST)
        except DamagedLibraryError as error:
            answer = SourceAnswer(source=SOURCE, status="unreachable", detail=error.message)
            return Found(query=query, answers=(answer,))
        works = tuple(
            work.model_copy(update={"abstract": shown or work.abstract}) for work, shown in found
        )
        status = SourceAnswer(
            source=SOURCE, status="ok" if works else "no_match", records=len(works)
        )
        return Found(query=query, works=works, answers=(status,))

    def visit(self, url: str) -> Document:
        """Give a document of the library.

        Raises
        ------
        UnknownNameError
            If it is not in the library.
        """
        return self.library.document(url)


@dataclass(frozen=True, slots=True)
class CombinedLiterature:
    """The library first, then what is online (a `Literature`).

    Attributes
    ----------
    own, online
        Both are asked; works that both know are given once, as the library has them.
    """

    own: Literature
    online: Literature

    def search(self, query: str) -> Found:
        """Search both."""
        return _together(self.own.search(query), self.online.search(query))

    def scholar(self, query: str) -> Found:
        """Search both."""
        return _together(self.own.scholar(query), self.online.scholar(query))

    def visit(self, url: str) -> Document:
        """Read a document of the library, else a page."""
        try:
            return self.own.visit(url)
        except (UnknownNameError, DamagedLibraryError) as error:
            if not url.startswith(("http://", "https://", "10.", "doi:")):
                raise InputError(error.message, error.remedy) from error
        return self.online.visit(url)


def _together(own: Found, online: Found) -> Found:
    more = [work for work in online.works if not any(_same(work, each) for each in own.works)]
    return Found(
        query=own.query, works=(*own.works, *more), pages=(*own.pages, *online.pages),
        answers=(*own.answers, *online.answers),
    )  # fmt: skip


def _same(one: Work, other: Work) -> bool:
    for name in ("doi", "arxiv_id"):
        first, second = getattr(one, name), getattr(other, name)
        if first and second:
            return bool(first == second)
    return same_title(one.title, other.title) and (
        None in {one.year, other.year} or one.year == other.year
    )

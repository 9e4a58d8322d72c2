"""What an index is to whoever asks it."""

from dataclasses import dataclass
from typing import Literal, Protocol

from sciagent.contracts.literature import Source, SourceAnswer, Work
from sciagent.literature.transport import Transport

Gives = Literal["works", "pages"]


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """What an index answered to a query.

    Attributes
    ----------
    answer
        How it answered; a failure is never an empty list.
    works
        The nearest first.
    pages
        Of the web, with a snippet each, the nearest first.
    """

    answer: SourceAnswer
    works: tuple[Work, ...] = ()
    pages: tuple[Source, ...] = ()


class Index(Protocol):
    """Something that finds works or pages.

    Whoever makes one may let `sciagent.literature.indexes.asking.Server` do the asking: it turns
    all that can go wrong into a `SourceAnswer`.
    """

    @property
    def name(self) -> str:
        """Short name, as it stands in `Work.found_in` and in settings."""
        ...

    @property
    def gives(self) -> Gives:
        """Whether it is asked by a search of the literature, or of the web."""
        ...

    def search(self, query: str, limit: int, transport: Transport) -> IndexAnswer:
        """Look for words, an author, a title, a DOI or an identifier of arXiv.

        Parameters
        ----------
        query
            What is looked for.
        limit
            Most works or pages wanted.
        transport
            By which alone it may ask.
        """
        ...

"""The literature that is online: all indexes asked at once, each answering for itself."""

import logging
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from importlib.metadata import entry_points
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from sciagent.contracts.errors import InputError, SciagentError
from sciagent.contracts.literature import Document, Found, SourceAnswer, Work
from sciagent.literature.connections import ending_by, last_moment
from sciagent.literature.indexes.arxiv import ARXIV
from sciagent.literature.indexes.crossref import CROSSREF
from sciagent.literature.indexes.europe_pmc import EUROPE_PMC
from sciagent.literature.indexes.index import (
    ENTRY_POINTS,
    Index,
    IndexAnswer,
    KeyNeededError,
    MalformedAnswerError,
    arxiv_id_in,
    doi_in,
)
from sciagent.literature.indexes.openalex import OPENALEX
from sciagent.literature.indexes.records import arxiv_doi
from sciagent.literature.indexes.searxng import SEARXNG
from sciagent.literature.indexes.semantic_scholar import SEMANTIC_SCHOLAR
from sciagent.literature.indexes.unpaywall import UNPAYWALL
from sciagent.literature.merging import merged
from sciagent.literature.pacing import RestingError
from sciagent.literature.reading import (
    HTML,
    UnreadableDocumentError,
    document_from_response,
)
from sciagent.literature.response_store import ResponseStore
from sciagent.literature.retraction import with_status
from sciagent.literature.robots import Robots
from sciagent.literature.settings import RetrievalSettings
from sciagent.literature.transport import Manner, Transport, UnreachableError

_LOG = logging.getLogger(__name__)
INDEXES = (CROSSREF, ARXIV, EUROPE_PMC, OPENALEX, SEMANTIC_SCHOLAR, UNPAYWALL, SEARXNG)
_READABLE = "application/pdf, text/html;q=0.9, text/plain;q=0.8, */*;q=0.1"
_OPEN_COPIES = 10
_AFTERWARDS_S = 10.0
"""For copies and statuses, where the search itself has taken all its time."""
_PAGE_SPACING_S = 1.0


class _Asked(NamedTuple):
    found: IndexAnswer
    answer: SourceAnswer


def installed_indexes() -> tuple[Index, ...]:
    """All indexes: those of this package, and those that other packages bring."""
    brought = []
    for entry_point in entry_points(group=ENTRY_POINTS):
        try:
            index = entry_point.load()
        except (ImportError, AttributeError) as error:
            _LOG.warning("The index %s cannot be loaded: %s", entry_point.name, error)
            continue
        if isinstance(index, Index):
            brought.append(index)
    return (*INDEXES, *brought)


def online_literature(
    settings: RetrievalSettings, folder: Path | None = None
) -> "OnlineLiterature":
    """Open the literature that is online.

    Parameters
    ----------
    settings
        Mode, contact, bounds and addresses.
    folder
        Where answers are kept and read from, in the modes that do so.

    Raises
    ------
    InputError
        If the mode needs a folder and there is none.
    """
    store = ResponseStore(folder) if folder is not None else None
    return OnlineLiterature(Transport(settings, store), settings)


class OnlineLiterature:
    """Indexes and pages that are online (a `Literature`); several threads may use it.

    Parameters
    ----------
    transport
        Fetches and keeps.
    settings
        Whom to ask, for how long.
    indexes
        Asked for works and pages; all that are installed if not given.
    """

    def __init__(
        self,
        transport: Transport,
        settings: RetrievalSettings,
        indexes: Sequence[Index] | None = None,
    ) -> None:
        self._transport, self._settings = transport, settings
        chosen = installed_indexes() if indexes is None else indexes
        self._indexes = [each for each in chosen if each.name not in settings.without]
        self._robots = Robots(transport)
        self._works: dict[str, Work] = {}
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all connections."""
        self._transport.close()

    def search(self, query: str) -> Found:
        """Search the web; where no search of the web is configured, the indexes of works.

        That there is none is said among the answers.
        """
        web = [each for each in self._indexes if each.finds == "pages"]
        asked = self._all_asked(web, query)
        pages = tuple(page for each in asked for page in each.found.pages)
        answers = tuple(each.answer for each in asked)
        if any(each.status in {"ok", "no_match"} for each in answers):
            return Found(query=query, pages=pages, answers=answers)
        works = self.scholar(query)
        return works.model_copy(update={"answers": (*answers, *works.answers)})

    def scholar(self, query: str) -> Found:
        """Search all indexes of works at once, and merge what they find.

        What became of a work since it was published is asked of Crossref, and where it can be read
        freely of Unpaywall, if that is configured.
        """
        ends = time.monotonic() + self._settings.search_s
        indexes = [each for each in self._indexes if each.finds == "works"]
        if not doi_in(query):
            indexes = [each for each in indexes if each.name != UNPAYWALL.name]
        asked = self._all_asked(indexes, query)
        works = merged(each.found.works for each in asked)[: self._settings.most_works]
        answers = [each.answer for each in asked]
        with ending_by(max(ends, time.monotonic() + _AFTERWARDS_S)):
            if not doi_in(query):
                works, answer = self._with_copies(works)
                answers += [answer] if answer is not None else []
            if any(each.name == CROSSREF.name for each in self._indexes):
                works = with_status(works, CROSSREF.access(self._transport, self._settings))
        self._remember(works)
        return Found(query=query, works=works, answers=tuple(answers))

    def visit(self, url: str) -> Document:
        """Read a page or a paper; a DOI or an identifier of arXiv leads to an open copy.

        Raises
        ------
        ForbiddenByRobotsError
            If its site asks machines not to read it.
        UnreadableDocumentError, UnreadablePaperError, EmptyPageError
            If what comes cannot be read.
        UnreachableError, RefusedAddressError, NotRecordedError, RestingError
            If nothing comes.
        """
        failed: SciagentError | None = None
        for address in self._addresses(url):
            try:
                return self._read(address)
            except SciagentError as error:
                failed = failed or error
        raise failed or InputError(f"{url!r} is no address.", "Give one that a search gave.")

    # ------------------------------------------------------------ indexes

    def _all_asked(self, indexes: Iterable[Index], query: str) -> list[_Asked]:
        """Ask indexes side by side; who has not answered at the deadline is left."""
        chosen = list(indexes)
        if not chosen:
            return []
        ends = time.monotonic() + self._settings.search_s
        pool = ThreadPoolExecutor(len(chosen), thread_name_prefix="index")
        futures = [pool.submit(self._asked, index, query, ends) for index in chosen]
        wait(futures, timeout=self._settings.search_s + 1.0)
        # Who is late ends by itself: nothing that it asks for outlasts the deadline.
        pool.shutdown(wait=False, cancel_futures=True)
        return [
            future.result() if future.done() else _late(index)
            for index, future in zip(chosen, futures, strict=True)
        ]

    def _asked(self, index: Index, query: str, ends: float) -> _Asked:
        if self._settings.mode == "offline":
            return _failed(index, "unreachable", "nothing is asked in the mode 'offline'")
        access = index.access(self._transport, self._settings)
        if not access.address:
            return _failed(index, "needs_key", "no address of it is configured")
        pacing, lane = self._transport.pacing, index.name
        try:
            with ending_by(ends):
                found = index.search(_worded(index, query), self._settings.most_works, access)
        except KeyNeededError as error:
            return _failed(index, "needs_key", f"{error.message} {error.remedy}".strip())
        except RestingError as error:
            status = "rate_limited" if error.is_limit else "unreachable"
            return _failed(index, status, error.message, error.retry_after_s or None)
        except SciagentError as error:
            if isinstance(error, UnreachableError | MalformedAnswerError):
                self._count_failure(lane)
            return _failed(index, "unreachable", error.message)
        except Exception as error:  # noqa: BLE001 # process boundary: the other indexes count
            _LOG.warning("The index %s failed", index.name, exc_info=True)
            return _failed(index, "unreachable", f"it failed: {error!r}")
        pacing.succeeded(lane)
        count = len(found.works) + len(found.pages)
        answer = SourceAnswer(
            source=index.name, status="ok" if count else "no_match", records=count,
            detail=found.detail,
        )  # fmt: skip
        return _Asked(found, answer)

    def _count_failure(self, lane: str) -> None:
        if self._settings.mode in {"live", "record"}:
            settings = self._settings
            self._transport.pacing.failed(lane, settings.most_failures, settings.pause_s)

    def _with_copies(self, works: Sequence[Work]) -> tuple[tuple[Work, ...], SourceAnswer | None]:
        """Look for open copies of works with a DOI that no index gave a text of."""
        wanted = [at for at, work in enumerate(works) if work.doi and not work.full_text]
        is_asked = any(each.name == UNPAYWALL.name for each in self._indexes)
        if not is_asked or not wanted or self._settings.mode == "offline":
            return tuple(works), None
        found, answer = list(works), SourceAnswer(source=UNPAYWALL.name, status="no_match")
        for at in wanted[:_OPEN_COPIES]:
            asked = self._asked(UNPAYWALL, works[at].doi, last_moment())
            if asked.answer.status not in {"ok", "no_match"}:
                return tuple(found), asked.answer
            for copy in asked.found.works:
                found[at] = _with_copy(works[at], copy)
                answer = answer.model_copy(update={"status": "ok", "records": answer.records + 1})
        return tuple(found), answer

    # ------------------------------------------------------------ pages

    def _remember(self, works: Iterable[Work]) -> None:
        with self._lock:
            for work in works:
                names = (work.doi, work.arxiv_id, work.url, *work.full_text)
                self._works |= {name: work for name in names if name}

    def _known(self, name: str) -> Work | None:
        with self._lock:
            return self._works.get(name)

    def _addresses(self, url: str) -> list[str]:
        """Where something can be read: open copies first, then where its name leads."""
        doi, arxiv_id = doi_in(url), arxiv_id_in(url)
        work = self._known(doi or arxiv_id or url)
        if work is None and doi:
            found = self.scholar(doi).works
            work = found[0] if found else None
        copies = list(work.full_text) if work is not None else []
        if arxiv_id:
            copies.append(f"{ARXIV.access(self._transport, self._settings).address}/pdf/{arxiv_id}")
        if doi:
            copies.append(f"https://doi.org/{doi}")
        is_address = url.startswith(("http://", "https://"))
        named = [] if doi or arxiv_id or not is_address else [url]
        return list(dict.fromkeys([*named, *copies]))

    def _read(self, address: str) -> Document:
        spacing_s, lane = _PAGE_SPACING_S, ""
        if address.startswith(ARXIV.access(self._transport, self._settings).address):
            spacing_s, lane = ARXIV.spacing_s, ARXIV.name
        spacing_s *= self._settings.spacing_factor
        manner = Manner(lane=lane, spacing_s=spacing_s, permit=self._robots.permit)
        response = self._transport.get(address, accept=_READABLE, manner=manner)
        try:
            document = document_from_response(response)
            if urlsplit(address).path.lower().endswith(".pdf") and document.media_type == HTML:
                # Such as an error, or a request to sign in, that is sent as if all were well.
                raise UnreadableDocumentError(
                    f"{address} answers with a page in place of a PDF.", "Take another source."
                )
        except SciagentError:
            self._transport.doubt(address, accept=_READABLE)
            raise
        work = self._known(address) or self._known(document.source.url)
        licence = work.licence if work is not None else ""
        return document.model_copy(update={"work": work, "licence": licence})


def _with_copy(work: Work, copy: Work) -> Work:
    return work.model_copy(
        update={
            "full_text": copy.full_text,
            "open_access": copy.open_access,
            "licence": work.licence or copy.licence,
        }
    )


def _worded(index: Index, query: str) -> str:
    """An identifier of arXiv as others know it: by its DOI."""
    arxiv_id = arxiv_id_in(query)
    if not arxiv_id or index.name == ARXIV.name or index.finds == "pages":
        return query
    return arxiv_doi(arxiv_id)


def _late(index: Index) -> _Asked:
    return _failed(index, "unreachable", "it had not answered at the deadline")


def _failed(index: Index, status: str, detail: str, retry_after_s: float | None = None) -> _Asked:
    answer = SourceAnswer.model_validate({
        "source": index.name, "status": status, "detail": detail, "retry_after_s": retry_after_s,
    })  # fmt: skip
    return _Asked(IndexAnswer(), answer)

"""What became of works since they were published, by Crossref and Retraction Watch."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from sciagent.contracts.errors import SciagentError
from sciagent.contracts.literature import Work
from sciagent.literature.indexes.crossref import record_of, work_of
from sciagent.literature.indexes.index import Access
from sciagent.literature.indexes.records import arxiv_id_of

_MOST = 20
_THREADS = 4


def with_status(works: Sequence[Work], access: Access) -> tuple[Work, ...]:
    """Ask Crossref about works of which no index has said what became of them.

    Where it does not answer, the status stays ``unknown``. Preprints of arXiv are not registered
    there.

    Parameters
    ----------
    works
        The first twenty that are unknown are asked for.
    access
        The way to Crossref.
    """
    unknown = [
        at
        for at, work in enumerate(works)
        if work.doi and not arxiv_id_of(work.doi) and _is_open(work)
    ][:_MOST]
    if not unknown:
        return tuple(works)
    with ThreadPoolExecutor(min(_THREADS, len(unknown))) as pool:
        # The deadline of this thread is that of the others too.
        asked = [pool.submit(copy_context().run, _told, works[at], access) for at in unknown]
        told = {at: each.result() for at, each in zip(unknown, asked, strict=True)}
    return tuple(told.get(at, work) for at, work in enumerate(works))


def _is_open(work: Work) -> bool:
    """Whether nobody has said what became of a work, or not since when."""
    is_marked = work.status in {"retracted", "corrected"}
    return work.status == "unknown" or (is_marked and work.status_date is None)


def _told(work: Work, access: Access) -> Work:
    try:
        record = record_of(work.doi, access)
    except SciagentError:
        return work
    if record is None:
        return work
    known = work_of(record)
    if known.status == "current" and work.status != "unknown":
        return work  # another index knows more
    notices = [each for each in known.versions if each not in work.versions]
    return work.model_copy(
        update={
            "status": known.status,
            "status_date": known.status_date,
            "status_source": known.status_source,
            "versions": (*work.versions, *notices),
        }
    )

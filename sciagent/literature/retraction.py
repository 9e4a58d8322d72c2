"""What became of works since they were published, by Crossref and Retraction Watch."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

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
        if work.status == "unknown" and work.doi and not arxiv_id_of(work.doi)
    ][:_MOST]
    if not unknown:
        return tuple(works)
    with ThreadPoolExecutor(min(_THREADS, len(unknown))) as pool:
        said = pool.map(lambda at: _told(works[at], access), unknown)
        told = dict(zip(unknown, said, strict=True))
    return tuple(told.get(at, work) for at, work in enumerate(works))


def _told(work: Work, access: Access) -> Work:
    try:
        record = record_of(work.doi, access)
    except SciagentError:
        return work
    if record is None:
        return work
    known = work_of(record)
    notices = [each for each in known.versions if each not in work.versions]
    return work.model_copy(
        update={
            "status": known.status,
            "status_date": known.status_date,
            "status_source": known.status_source,
            "versions": (*work.versions, *notices),
        }
    )

"""Records of several indexes as works: each work once, with its other versions named."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from sciagent.contracts.literature import Work, WorkVersion, severity
from sciagent.literature.bibliography.keys import bare, citation_key, with_unique_keys
from sciagent.literature.indexes.records import arxiv_doi, arxiv_id_of

_RANK_CONSTANT = 60
_TRUSTED = ("crossref", "europe_pmc", "openalex", "arxiv", "semantic_scholar", "unpaywall")
"""Indexes by how carefully their records are kept."""
_FIELDS = (
    "title", "authors", "year", "container", "publisher", "volume", "issue", "pages", "doi",
    "arxiv_id", "pmid", "pmcid", "url", "licence",
)  # fmt: skip
_NEAR_YEARS = 3
_Ranked = tuple[Work, int]


def merged(lists: Iterable[Sequence[Work]]) -> tuple[Work, ...]:
    """Merge what indexes found.

    Records are of one work if they have the same DOI, else the same arXiv identifier, else the same
    title, year and first author. A preprint and its published version are two works that name each
    other. The order is that of reciprocal rank fusion (doi:10.1145/1571941.1572114).

    Parameters
    ----------
    lists
        Works of each index in its order.

    Returns
    -------
    tuple of Work
        With citation keys that no two of them share.
    """
    ranked = [(work, place) for works in lists for place, work in enumerate(works, 1)]
    groups = _grouped(ranked)
    order = sorted(range(len(groups)), key=lambda at: (-_score(groups[at]), at))
    works = [_one([work for work, _ in groups[at]]) for at in order]
    return with_unique_keys(
        work.model_copy(update={"key": citation_key(work)}) for work in _linked(works)
    )


def _score(group: Sequence[_Ranked]) -> float:
    """Reciprocal ranks; an index that lists a work twice counts once."""
    best: dict[tuple[str, ...], int] = {}
    for work, place in group:
        best[work.found_in] = min(place, best.get(work.found_in, place))
    return sum(1.0 / (_RANK_CONSTANT + place) for place in best.values())


def _grouped(ranked: Sequence[_Ranked]) -> list[list[_Ranked]]:
    """Put records together: those with a DOI first, so that the others are compared with them."""
    groups: dict[int, list[_Ranked]] = {}
    by_name: dict[tuple[str, ...], int] = {}
    for number, each in enumerate(sorted(ranked, key=lambda pair: not pair[0].doi)):
        names = list(_names(each[0]))
        found = dict.fromkeys(by_name[name] for name in names if name in by_name)
        joined = [at for at in found if _may_be_one([*groups[at], each])]
        if len(joined) > 1 and not _may_be_one([pair for at in joined for pair in groups[at]]):
            joined = joined[:1]
        groups[number] = [*(pair for at in joined for pair in groups.pop(at)), each]
        by_name = {name: number if at in joined else at for name, at in by_name.items()}
        for name in names:
            by_name.setdefault(name, number)
    return list(groups.values())


def _names(work: Work) -> Iterator[tuple[str, ...]]:
    if work.doi:
        yield "doi", work.doi
    arxiv_id = work.arxiv_id or arxiv_id_of(work.doi)
    if arxiv_id:
        yield "arxiv", arxiv_id
    if work.pmid:
        yield "pmid", work.pmid
    title, author = bare(work.title), _first_author(work)
    if title and author:
        yield "title", title, str(work.year), author


def _may_be_one(group: Sequence[_Ranked]) -> bool:
    return len({work.doi for work, _ in group if work.doi}) <= 1


def _first_author(work: Work) -> str:
    return bare(work.authors[0].family) if work.authors else ""


def _one(records: Sequence[Work]) -> Work:
    """Make one work of all its records, each field from the most careful index that has it."""
    by_care = sorted(records, key=_care)
    first = by_care[0]
    update: dict[str, Any] = {
        name: next((value for each in by_care if (value := getattr(each, name))), None)
        or getattr(first, name)
        for name in _FIELDS
    }
    worst = max(by_care, key=lambda each: severity(each.status))
    same = [each for each in by_care if each.status == worst.status]
    dated = next((each for each in same if each.status_date), worst)
    update |= {
        "abstract": max((each.abstract for each in by_care), key=len),
        "open_access": _access(by_care),
        "full_text": tuple(dict.fromkeys(url for each in by_care for url in each.full_text)),
        "versions": _versions(by_care, update["doi"]),
        "found_in": tuple(dict.fromkeys(name for each in by_care for name in each.found_in)),
        "status": dated.status,
        "status_date": dated.status_date,
        "status_source": dated.status_source,
    }
    return first.model_copy(update=update)


def _care(work: Work) -> int:
    name = work.found_in[0] if work.found_in else ""
    return _TRUSTED.index(name) if name in _TRUSTED else len(_TRUSTED)


def _access(works: Sequence[Work]) -> Literal["open", "closed", "unknown"]:
    said = {work.open_access for work in works}
    if "open" in said:
        return "open"
    return "closed" if "closed" in said else "unknown"


def _versions(works: Sequence[Work], doi: str) -> tuple[WorkVersion, ...]:
    found: dict[tuple[str, str], WorkVersion] = {}
    for version in (each for work in works for each in work.versions):
        name = version.doi or arxiv_doi(version.arxiv_id)
        if name != doi:
            found.setdefault((version.relation, name), version)
    return tuple(found.values())


def _linked(works: Sequence[Work]) -> list[Work]:
    """Let preprints and published versions name each other: as indexes say, else by title."""
    by_title: dict[tuple[str, str], list[int]] = {}
    for at, work in enumerate(works):
        if _first_author(work):
            by_title.setdefault((bare(work.title), _first_author(work)), []).append(at)
    linked = _linked_back(works)
    for group in by_title.values():
        preprints = [at for at in group if works[at].kind == "article"]
        articles = [at for at in group if works[at].kind != "article"]
        for one, other in ((p, a) for p in preprints for a in articles):
            if _near(works[one], works[other]):
                linked[one] = _naming(linked[one], works[other], "published")
                linked[other] = _naming(linked[other], works[one], "preprint")
    return linked


def _linked_back(works: Sequence[Work]) -> list[Work]:
    """Let a work name the one that names it, whatever their titles are."""
    linked = list(works)
    by_doi = {work.doi: at for at, work in enumerate(works) if work.doi}
    for work in works:
        for version in work.versions:
            at = by_doi.get(version.doi)
            if at is not None and version.relation == "published":
                linked[at] = _naming(linked[at], work, "preprint")
            elif at is not None and version.relation == "preprint":
                linked[at] = _naming(linked[at], work, "published")
    return linked


def _near(preprint: Work, article: Work) -> bool:
    if preprint.year is None or article.year is None:
        return True
    return abs(article.year - preprint.year) <= _NEAR_YEARS


def _naming(work: Work, other: Work, relation: Literal["preprint", "published"]) -> Work:
    arxiv = other.arxiv_id or arxiv_id_of(other.doi)
    for version in work.versions:
        if version.relation == relation and (
            (version.doi and version.doi == other.doi)
            or (version.arxiv_id and version.arxiv_id == arxiv)
        ):
            return work
    version = WorkVersion(
        relation=relation, doi=other.doi, arxiv_id=other.arxiv_id, url=other.url,
        title=other.title, year=other.year,
    )  # fmt: skip
    return work.model_copy(update={"versions": (*work.versions, version)})

"""Planned papers as works of the literature: keys, identifiers, journals, versions, status."""

import re
import unicodedata
from collections.abc import Sequence
from random import Random

from sciagent.contracts.literature import PublicationStatus, Work, WorkVersion
from sciagent.testing.corpus import vocabulary
from sciagent.testing.corpus.paper import SITE
from sciagent.testing.corpus.planning import PlannedPaper

DOI_PREFIX = "10.5555"
"""No real work has a DOI with this prefix."""

_LICENCE = "https://creativecommons.org/licenses/by/4.0/"
_CLOSED_SHARE = 0.3
_LETTERS = str.maketrans("øØłŁıßæ", "oOlLisa")


def works_of(planned: Sequence[PlannedPaper], seed: int) -> tuple[Work, ...]:
    """Make the works of planned papers, in the same order."""
    keys = _keys(planned)
    works = [_work(paper, keys[paper.number], seed) for paper in planned]
    return tuple(
        work.model_copy(update={"versions": _versions(paper, works)})
        for paper, work in zip(planned, works, strict=True)
    )


def ascii_letters(text: str) -> str:
    """Write a text in lower-case ASCII letters, without anything else."""
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS)).encode("ascii", "ignore")
    return re.sub(r"[^a-z]", "", plain.decode().lower())


def _keys(planned: Sequence[PlannedPaper]) -> list[str]:
    """Family name, year and first long word of the title; a letter where two are the same."""
    keys: list[str] = []
    for paper in planned:
        word = next((each for each in paper.title.split() if len(ascii_letters(each)) > 4), "work")
        stem = f"{ascii_letters(paper.authors[0].family)}{paper.year}{ascii_letters(word)}"
        taken = sum(each.rstrip("bcdefghij") == stem or each == stem for each in keys)
        keys.append(stem if not taken else f"{stem}{'bcdefghij'[taken - 1]}")
    return keys


def _work(paper: PlannedPaper, key: str, seed: int) -> Work:
    random = Random(f"work {seed} {paper.number}")
    number = seed % 1000 * 100_000 + paper.number
    is_preprint = "preprint" in paper.traits
    is_open = is_preprint or random.random() >= _CLOSED_SHARE
    journal = random.choice(vocabulary.JOURNALS[paper.area])
    first_page = random.randint(1, 880)
    status, date = _status(paper, random)
    pdf = f"{SITE}/pdf/{key}.pdf"
    at_arxiv = is_preprint and paper.area != "protein"
    arxiv_id = f"{paper.year % 100:02d}{paper.number % 12 + 1:02d}.{90_000 + number % 10_000}"
    if at_arxiv:
        doi, container = f"10.48550/arxiv.{arxiv_id}", "arXiv"
    elif is_preprint:
        doi, container = f"{DOI_PREFIX}/preprints.{number}", "Preprints of Biology"
    else:
        doi, container = f"{DOI_PREFIX}/{ascii_letters(journal)[:6]}.{paper.year}.{number}", journal
    is_indexed = paper.area == "protein" and not is_preprint
    return Work(
        key=key,
        kind="article" if is_preprint else "article-journal",
        title=paper.title,
        authors=paper.authors,
        year=paper.year,
        container=container,
        publisher="" if is_preprint else random.choice(vocabulary.PUBLISHERS),
        volume="" if is_preprint else str(random.randint(2, 90)),
        issue="" if is_preprint else str(random.randint(1, 12)),
        pages="" if is_preprint else f"{first_page}–{first_page + random.randint(3, 18)}",
        doi=doi,
        arxiv_id=arxiv_id if at_arxiv else "",
        pmid=str(90_000_000 + number) if is_indexed else "",
        pmcid=f"PMC{90_000_000 + number}" if is_indexed and is_open else "",
        url=f"https://doi.org/{doi}",
        licence=_LICENCE if is_open else "",
        open_access="open" if is_open else "closed",
        full_text=(pdf,) if is_open else (),
        status=status,
        status_date=date,
        status_source="retraction-watch" if date else "",
    )


def _status(paper: PlannedPaper, random: Random) -> tuple[PublicationStatus, str | None]:
    statuses: tuple[PublicationStatus, ...] = ("retracted", "corrected")
    for status in statuses:
        if status in paper.traits:
            year = min(paper.year + random.randint(1, 4), 2026)
            return status, f"{year}-{random.randint(1, 11):02d}-{random.randint(1, 28):02d}"
    return "current", None


def _versions(paper: PlannedPaper, works: Sequence[Work]) -> tuple[WorkVersion, ...]:
    own = works[paper.number]
    versions = []
    if paper.version is not None:
        other = works[paper.version]
        versions.append(
            WorkVersion(
                relation="published" if "preprint" in paper.traits else "preprint",
                doi=other.doi, arxiv_id=other.arxiv_id, url=other.url, title=other.title,
                year=other.year,
            )
        )  # fmt: skip
    if own.status_date is not None:
        is_retraction = own.status == "retracted"
        notice = f"{own.doi}.{'r' if is_retraction else 'c'}1"
        versions.append(
            WorkVersion(
                relation="retraction_notice" if is_retraction else "correction",
                doi=notice, url=f"https://doi.org/{notice}",
                title=f"{'Retraction' if is_retraction else 'Correction'}: {own.title}",
                year=int(own.status_date[:4]),
            )
        )  # fmt: skip
    return tuple(versions)

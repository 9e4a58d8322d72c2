"""The report of a query without a model: who was asked, and what the works say in their words."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sciagent.contracts.claim import CitationClaim, ClaimRequest, ReportRequest
from sciagent.contracts.literature import Source, SourceAnswer, Work
from sciagent.reports.escaping import code, escaped
from sciagent.tools.report_draft import with_citation
from sciagent.workspace.atomic import write_atomic

ANSWERS = "data/evidence/answers.json"
"""How each index answered."""
WORKS = "data/evidence/works.json"
"""All works that were found, in their order."""


@dataclass(frozen=True, slots=True)
class ReadWork:
    """A work as far as it could be read.

    Attributes
    ----------
    work, source
        The work, and its text: the whole paper or its abstract; none if there is neither.
    what
        What was read, or why nothing was.
    """

    work: Work
    source: Source | None
    what: str


def evidence_report(
    root: Path,
    query: str,
    answers: Sequence[SourceAnswer],
    read: Sequence[ReadWork],
    claims: Sequence[CitationClaim],
) -> ReportRequest:
    """Make the report of gathered evidence; it says so where there is none.

    Parameters
    ----------
    root
        The workspace; `ANSWERS` and `WORKS` are written in it.
    query
        As it was asked.
    answers, read
        Of the indexes, and the works that were looked at.
    claims
        Quoted passages, the best first.
    """
    _write(root / ANSWERS, [each.model_dump(mode="json") for each in answers])
    _write(root / WORKS, [each.work.model_dump(mode="json") for each in read])
    draft = ReportRequest(
        title=f"Evidence on: {query}",
        source="\n\n".join(_parts(read, claims)) + "\n",
        numbers=tuple(_asked(answers)),
    )
    works = {each.work.key: each.work for each in read}
    for claim in claims:
        draft = with_citation(draft, claim, works[claim.citation.work])
    return draft


def _parts(read: Sequence[ReadWork], claims: Sequence[CitationClaim]) -> Iterator[str]:
    if not claims:
        yield (
            "No evidence was found. That proves no absence: see below what was asked, how each "
            "source answered, and what could not be read."
        )
    else:
        yield (
            "The passages that fit the query best, in the words of their sources. Nobody weighed "
            "them against each other."
        )
    for each in read:
        own = [claim for claim in claims if claim.citation.work == each.work.key]
        if own:
            yield f"### {escaped(each.work.title)}"
            yield "\n".join(f"- {{{{claim:{claim.id}}}}}" for claim in own)
    yield "## Who was asked"
    yield "{{claims:asked.}}"
    yield "## What was read"
    yield "\n".join(f"- {code(each.work.key)}: {code(each.what)}" for each in read) or "Nothing."


def _asked(answers: Sequence[SourceAnswer]) -> Iterator[ClaimRequest]:
    for place, answer in enumerate(answers):
        name = answer.source.replace(" ", "-").lower()
        yield ClaimRequest(
            id=f"asked.{name}.answer", subject=answer.source, quantity="answer", path=ANSWERS,
            pointer=f"/{place}/status", unit="1", decimals=0, tolerance=0.0, kind="text",
        )  # fmt: skip
        yield ClaimRequest(
            id=f"asked.{name}.records", subject=answer.source, quantity="records", path=ANSWERS,
            pointer=f"/{place}/records", unit="{count}", decimals=0, tolerance=0.0, kind="record",
        )  # fmt: skip


def _write(path: Path, content: object) -> None:
    write_atomic(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

"""The report that an agent is writing: its claims and its source, as a file of the workspace."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import ValidationError

from sciagent.contracts.claim import (
    CitationClaim,
    ClaimRequest,
    ClaimsFile,
    ClaimText,
    InferenceClaim,
    ReportRequest,
    Statement,
)
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.literature import Work
from sciagent.literature.bibliography.keys import with_unique_keys
from sciagent.reports.citing import cited_works
from sciagent.reports.lint import raw_numbers
from sciagent.reports.markdown import ClaimPrinter, report_markdown
from sciagent.reports.resolve import resolve_claims
from sciagent.reports.tokens import faults_of
from sciagent.workspace.atomic import storage_error, write_atomic

REPORT_REQUEST = "data/report/request.json"
"""Where the draft lies: a `ReportRequest`, which `runs` assembles."""

_SHOWN_FAULTS = 10

DRAFT_LOCK = Lock()
"""Held while a draft is read, changed and written: agents of one run may do so at the same time."""


def read_draft(root: Path) -> ReportRequest:
    """Read the draft; an empty one if nothing was written yet.

    Raises
    ------
    InputError
        If the file was changed to something else.
    """
    path = root / REPORT_REQUEST
    try:
        return ReportRequest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return ReportRequest(title="", source="", numbers=())
    except (OSError, ValidationError) as error:
        raise InputError(f"{REPORT_REQUEST} is no draft of a report.", "Remove it.") from error


def write_draft(root: Path, draft: ReportRequest) -> None:
    """Write the draft, whole or not at all.

    Raises
    ------
    ResourceError
        If the disk is full.
    """
    try:
        write_atomic(root / REPORT_REQUEST, draft.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise storage_error(error, "the draft of the report cannot be written") from error


def with_claim(draft: ReportRequest, claim: ClaimRequest) -> ReportRequest:
    """The draft with a claim, in place of the one of the same ID.

    Raises
    ------
    InputError
        If a citation or an inference has the ID.
    """
    _refuse_taken(claim.id, draft.citations, draft.inferences)
    numbers = {each.id: each for each in draft.numbers} | {claim.id: claim}
    return draft.model_copy(update={"numbers": tuple(numbers.values())})


def with_statement(draft: ReportRequest, statement: Statement) -> ReportRequest:
    """The draft with a comparison, in place of the one of the same ID.

    Raises
    ------
    InputError
        If a citation or an inference has the ID.
    """
    _refuse_taken(statement.id, draft.citations, draft.inferences)
    statements = {each.id: each for each in draft.statements} | {statement.id: statement}
    return draft.model_copy(update={"statements": tuple(statements.values())})


def with_citation(draft: ReportRequest, claim: CitationClaim, work: Work) -> ReportRequest:
    """The draft with a citation, in place of the one of the same ID, and with its work.

    A work that the draft has already keeps its key; another one gets a key of its own. Works that
    no citation names any more are left out.

    Raises
    ------
    InputError
        If a claim of another kind has the ID.
    """
    _refuse_taken(claim.id, draft.numbers, draft.figures, draft.statements, draft.inferences)
    known = next((each for each in draft.works if _is_same(each, work)), None)
    if known is not None:
        kept = work.model_copy(update={"key": known.key})
        works = tuple(kept if each is known else each for each in draft.works)
    else:
        works = with_unique_keys((*draft.works, work))
        kept = works[-1]
    citation = claim.citation.model_copy(update={"work": kept.key})
    changed = claim.model_copy(update={"citation": citation})
    citations = {each.id: each for each in draft.citations} | {claim.id: changed}
    cited = {each.citation.work for each in citations.values()}
    return draft.model_copy(
        update={
            "citations": tuple(citations.values()),
            "works": tuple(each for each in works if each.key in cited),
        }
    )


def _is_same(one: Work, other: Work) -> bool:
    if one.doi or other.doi:
        return one.doi == other.doi
    if one.url or other.url:
        return one.url == other.url
    return (one.key, one.title) == (other.key, other.title)


def with_inference(draft: ReportRequest, claim: InferenceClaim) -> ReportRequest:
    """The draft with a statement of the author, in place of the one of the same ID.

    Raises
    ------
    InputError
        If a claim of another kind has the ID.
    """
    _refuse_taken(claim.id, draft.numbers, draft.figures, draft.statements, draft.citations)
    inferences = {each.id: each for each in draft.inferences} | {claim.id: claim}
    return draft.model_copy(update={"inferences": tuple(inferences.values())})


def _refuse_taken(identifier: str, *others: Iterable[ClaimText]) -> None:
    if any(each.id == identifier for claims in others for each in claims):
        raise InputError(
            f"There is a claim {identifier!r} of another kind already.", "Choose another id."
        )


def without_claim(draft: ReportRequest, identifier: str) -> ReportRequest:
    """The draft without a claim of any kind, and without the works that only it cited.

    Raises
    ------
    UnknownNameError
        If there is no claim of this ID.
    """
    kinds = {
        "numbers": draft.numbers, "statements": draft.statements, "citations": draft.citations,
        "inferences": draft.inferences,
    }  # fmt: skip
    known = {each.id for claims in kinds.values() for each in claims}
    if identifier not in known:
        raise UnknownNameError.among("claim", identifier, known)
    kept: dict[str, Any] = {
        name: tuple(each for each in claims if each.id != identifier)
        for name, claims in kinds.items()
    }
    cited = {each.citation.work for each in kept["citations"]}
    kept["works"] = tuple(each for each in draft.works if each.key in cited)
    return draft.model_copy(update=kept)


@dataclass(frozen=True, slots=True)
class Printed:
    """A draft as it would be printed now.

    Attributes
    ----------
    markdown
        The report.
    unused
        Claims that no token prints.
    """

    markdown: str
    unused: tuple[str, ...]


def printed_draft(root: Path, draft: ReportRequest) -> Printed:
    """Check a draft as the assembly will, and print it.

    Raises
    ------
    InputError
        If the source breaks its grammar, holds a number typed by hand (the line is named), has
        a token that names no claim, or a claim cannot be read from its file any more.
    """
    refuse(source_faults(draft.source))
    resolved = resolve_claims(root, draft, code_sha256="")
    claims = ClaimsFile(
        question="",
        title=draft.title,
        report_source=draft.source,
        required=draft.required,
        claims=resolved,
        works=cited_works(draft, resolved),
    )
    markdown = report_markdown(claims)
    cited = ClaimPrinter(claims).cited(draft.source)
    unused = tuple(claim.id for claim in claims.claims if claim.id not in cited)
    return Printed(markdown, unused)


def source_faults(source: str) -> list[str]:
    """What is wrong with a report's source, each in one sentence."""
    typed = [
        f"Line {line}: the number {word!r} is typed by hand." for line, word in raw_numbers(source)
    ]
    return [*faults_of(source), *typed]


def refuse(faults: Iterable[str]) -> None:
    """Raise what is wrong with a source, if anything."""
    listed = list(faults)
    if listed:
        hidden = len(listed) - _SHOWN_FAULTS
        more = f" And {hidden} more." if hidden > 0 else ""
        raise InputError(
            f"The report was not written. {' '.join(listed[:_SHOWN_FAULTS])}{more}",
            # Without braces: the boundary would break a token, and a model would copy that.
            "Record each number with record_claim and write its token instead; write names and "
            "code in backticks.",
        )

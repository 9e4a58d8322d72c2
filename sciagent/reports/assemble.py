"""The report's claims and figures, made from what a domain asks for."""

import json
from pathlib import Path

from sciagent.contracts.claim import ClaimsFile, ReportRequest
from sciagent.contracts.domain import Question
from sciagent.contracts.errors import InputError
from sciagent.contracts.model import SCHEMA_VERSION
from sciagent.reports.citing import cited_works
from sciagent.reports.drawing import draw
from sciagent.reports.evidence import Evidence
from sciagent.reports.markdown import ClaimPrinter, report_markdown
from sciagent.reports.reference_files import write_references
from sciagent.reports.resolve import figure_path, resolve_claims
from sciagent.reports.tokens import check_source
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.layout import CLAIMS, JOURNAL


def assemble(
    root: Path, question: Question, request: ReportRequest, code_sha256: str
) -> ClaimsFile:
    """Draw the figures, resolve the claims and write `claims.json` with the references.

    Parameters
    ----------
    root
        The workspace.
    question
        The question that was studied: it draws the figures.
    request
        What its report asks for.
    code_sha256
        Hash of the sources that computed.

    Raises
    ------
    InputError
        If the source breaks its grammar, a value cannot be read, a token names no claim, or a
        claim that the domain requires is missing from the text.
    """
    check_source(request.source)
    _check_files(root, request)
    for figure in request.figures:
        image = draw(question.drawings, figure.drawing, [root / path for path in figure.data])
        write_atomic(root / figure_path(figure.id), image)
    resolved = resolve_claims(root, request, code_sha256)
    claims = ClaimsFile(
        question=studied_question(root, question.name),
        title=request.title,
        report_source=request.source,
        required=request.required,
        claims=resolved,
        works=cited_works(request, resolved),
    )
    report_markdown(claims)
    missing = missing_claims(claims)
    if missing:
        raise InputError(
            f"The report does not state {', '.join(missing)}, which it must.",
            "Put a token for each into its source.",
        )
    write_references(root, claims)
    write_atomic(root / CLAIMS, claims.model_dump_json(indent=2) + "\n")
    return claims


def missing_claims(claims: ClaimsFile) -> list[str]:
    """Claims that the domain requires and that no token prints."""
    cited = ClaimPrinter(claims).cited(claims.report_source)
    there = {claim.id for claim in claims.claims} & cited
    return [each for each in claims.required if each not in there]


def studied_question(root: Path, name: str) -> str:
    """``domain/question`` as the first event of the journal says it, else the name given."""
    try:
        with (root / JOURNAL).open(encoding="utf-8") as journal:
            first = json.loads(journal.readline())
        return str(first["body"]["request"]["question"])
    except (OSError, ValueError, KeyError, TypeError):
        return name


def read_claims(root: Path) -> ClaimsFile:
    """Read `claims.json`.

    Raises
    ------
    InputError
        If it is missing, is not what this version writes, or was written by a newer version.
    """
    try:
        text = (root / CLAIMS).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{CLAIMS} cannot be read: {error}.") from error
    try:
        version = json.loads(text).get("schema_version", 0)
        if not isinstance(version, int) or version > SCHEMA_VERSION:
            raise InputError(
                f"{CLAIMS} has schema version {version}; this sciagent reads up to "
                f"{SCHEMA_VERSION}.",
                "Use a newer sciagent.",
            )
        return ClaimsFile.model_validate_json(text)
    except (ValueError, AttributeError) as error:
        raise InputError(f"{CLAIMS} is not a claims file: {_first_line(error)}.") from error


def _first_line(error: BaseException) -> str:
    return "; ".join(str(error).splitlines()[:3])


def _check_files(root: Path, request: ReportRequest) -> None:
    evidence = Evidence(root)
    for file in request.files:
        if evidence.sha256(file.path) != file.sha256:
            raise InputError(f"{file.path} changed while the report was made.", "Run it again.")

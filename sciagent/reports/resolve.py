"""From what a domain asks for to claims: values are read, never given."""

from pathlib import Path
from typing import Any

from sciagent.contracts.claim import (
    Claim,
    ClaimRequest,
    ClaimText,
    FigureClaim,
    FigureRequest,
    NumberClaim,
    ProducedBy,
    ReportRequest,
    Source,
    Statement,
    TextClaim,
)
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.reports.citing import resolve_citations
from sciagent.reports.evidence import Evidence
from sciagent.reports.pointers import PointerError, parsed, value_in_document
from sciagent.reports.tokens import tokens_of


def read_pointer(path: Path, pointer: str) -> Any:
    """Read the value at a place of a file.

    Parameters
    ----------
    path
        A ``.json``, ``.csv`` or ``.ipynb`` file.
    pointer
        A JSON pointer, ``row,column`` for CSV, or ``cell id#output`` for notebooks.

    Raises
    ------
    PointerError
        If the file cannot be read as what its name says, or the place is not there.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PointerError(f"{path.name!r} cannot be read: {error}.") from error
    return value_in_document(parsed(text, path.name), path.name, pointer)


def figure_path(identifier: str) -> str:
    """Where the image of a figure lies, relative to the workspace."""
    return f"figures/{identifier}.png"


def resolve_number(
    request: ClaimRequest, evidence: Evidence, code_sha256: str
) -> NumberClaim | TextClaim:
    """Read the value that a request points at.

    Raises
    ------
    PointerError
        If the file, the place or a number in it is missing.
    InputError
        If the unit beside the value is another than the one asked for.
    """
    source = Source(
        path=request.path, sha256=evidence.sha256(request.path), pointer=request.pointer
    )
    produced_by = ProducedBy(trial=request.trial, code_sha256=code_sha256)
    label = request.model_dump(include=set(ClaimText.model_fields))
    if request.kind == "text":
        value = evidence.word(request.path, request.pointer)
        return TextClaim(**label, value=value, source=source, produced_by=produced_by)
    unit = evidence.beside(request.path, request.pointer, "unit")
    if unit not in {None, request.unit}:
        raise InputError(
            f"Claim {request.id!r} is asked for in {request.unit!r}, "
            f"but {request.path} holds it in {unit!r}.",
            "Ask for it in the unit of the file.",
        )
    pointer = request.uncertainty_pointer
    return NumberClaim(
        **label,
        kind=request.kind,
        value=evidence.number(request.path, request.pointer),
        unit=request.unit,
        decimals=request.decimals,
        uncertainty=evidence.number(request.path, pointer) if pointer is not None else None,
        uncertainty_pointer=pointer,
        source=source,
        produced_by=produced_by,
        tolerance=request.tolerance,
        effect=request.effect,
    )


def resolve_figure(request: FigureRequest, evidence: Evidence) -> FigureClaim:
    """Record a drawn figure with the hashes of its image and of its data."""
    image = figure_path(request.id)
    return FigureClaim(
        **request.model_dump(include=set(ClaimText.model_fields)),
        path=image,
        image_sha256=evidence.sha256(image),
        drawing=request.drawing,
        data=tuple(
            Source(path=path, sha256=evidence.sha256(path), pointer="") for path in request.data
        ),
        caption=request.caption,
    )


def resolve_claims(root: Path, request: ReportRequest, code_sha256: str) -> tuple[Claim, ...]:
    """Resolve all that a report asks for; its figures must have been drawn.

    Parameters
    ----------
    root
        The workspace.
    request
        What the domain asks for.
    code_sha256
        Hash of the sources that computed.

    Raises
    ------
    InputError
        If something asked for cannot be read, an ID stands twice, or a statement compares what
        cannot be compared.
    """
    evidence = Evidence(root)
    claims: tuple[Claim, ...] = (
        *(resolve_number(each, evidence, code_sha256) for each in request.numbers),
        *(resolve_figure(each, evidence) for each in _in_order_of_appearance(request)),
        *request.statements,
        *resolve_citations(root, request),
        *request.inferences,
    )
    _check_identifiers(claims)
    for statement in request.statements:
        sides_of(statement, claims)
    return claims


def _in_order_of_appearance(request: ReportRequest) -> list[FigureRequest]:
    """Figures are numbered as a reader meets them; those the source does not show come last."""
    shown = [token.id for token in tokens_of(request.source) if token.kind == "figure"]
    return sorted(
        request.figures, key=lambda each: shown.index(each.id) if each.id in shown else len(shown)
    )


def _check_identifiers(claims: tuple[Claim, ...]) -> None:
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise InputError(f"The claim {claim.id!r} is asked for twice.", "Rename one of them.")
        seen.add(claim.id)


def sides_of(statement: Statement, claims: tuple[Claim, ...]) -> tuple[NumberClaim, NumberClaim]:
    """The two numbers that a statement compares.

    Raises
    ------
    UnknownNameError
        If a side is no number claim.
    InputError
        If the sides have different units.
    """
    numbers = {claim.id: claim for claim in claims if isinstance(claim, NumberClaim)}
    for side in (statement.left, statement.right):
        if side not in numbers:
            raise UnknownNameError.among("number claim", side, numbers)
    left, right = numbers[statement.left], numbers[statement.right]
    if left.unit != right.unit:
        raise InputError(
            f"Statement {statement.id!r} compares {left.unit!r} with {right.unit!r}.",
            "Compare numbers of one unit.",
        )
    return left, right

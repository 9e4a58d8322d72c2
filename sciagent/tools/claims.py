"""Tools that record claims and write the report; digits are the renderer's."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from sciagent.contracts.claim import ClaimRequest, NumberClaim, Statement, TextClaim
from sciagent.contracts.errors import InputError
from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import written
from sciagent.reports.resolve import resolve_claims
from sciagent.tools.claim_evidence import (
    require_evidence,
    require_plain_label,
    require_unit,
    resolved,
    trial_of_path,
)
from sciagent.tools.report_draft import (
    DRAFT_LOCK,
    Printed,
    printed_draft,
    read_draft,
    refuse,
    source_faults,
    with_claim,
    with_statement,
    without_claim,
    write_draft,
)
from sciagent.tools.tool import ToolContext, ToolOutput, tool

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.\-]*$")]


@contextmanager
def _words_of_faults() -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{place!r}: {first['msg']}.") from error


class ClaimArguments(Contract):
    """A result that the report is to print."""

    id: Identifier = Field(description="Lower-case name for tokens, such as final.cell_a.")
    subject: str = Field(min_length=1, description="What it is about, such as fluorapatite.")
    quantity: str = Field(min_length=1, description="What is stated, such as cell length a.")
    path: str = Field(description="JSON, CSV or notebook file, relative to the workspace.")
    pointer: str = Field(
        description="JSON pointer such as /metrics/r_wp/value; row,column in CSV; cell#output in "
        "notebooks."
    )
    unit: str = Field(description="UCUM code, such as Ao, eV, s, %, or 1 for a plain number.")
    decimals: int = Field(ge=-12, le=15, description="Decimals to print.")
    tolerance: float = Field(
        ge=0.0, description="By how much, in the unit, it may differ when it is computed again."
    )
    condition: str = Field(default="", description="Under which condition it holds.")
    kind: Literal["number", "record", "text"] = Field(
        default="number",
        description="number for results; record for times, sizes and versions; text for names.",
    )


class StatementArguments(Contract):
    """A comparison of two claims."""

    id: Identifier = Field(description="Lower-case name that tokens use.")
    subject: str = Field(min_length=1, description="What it is about.")
    quantity: str = Field(min_length=1, description="Such as better than at the start.")
    left: str = Field(description="Id of a claim.")
    operator: Literal["lt", "le", "gt", "ge", "within"] = Field(
        description="Less than, at most, more than, at least, or within the margin."
    )
    right: str = Field(description="Id of the claim that it is compared with.")
    margin: float = Field(
        default=0.0, ge=0.0,
        description="For within: the largest difference, in the unit that both share.",
    )  # fmt: skip


@tool(read_only=False, approval="never", origin="own")
def record_claim(context: ToolContext, claim: ClaimArguments) -> ToolOutput:
    """Record a result that stands in a file, so that the report can print it.

    The value is read from the file, never given. Write {{claim:ID}} where the report states it.
    """
    require_unit(claim.unit)
    require_plain_label(subject=claim.subject, quantity=claim.quantity)
    path = require_evidence(context.root, claim.path, context.effects)
    with _words_of_faults():
        request = ClaimRequest.model_validate(
            claim.model_dump() | {"path": path, "trial": trial_of_path(path)}
        )
        found = resolved(context.root, request)
    with DRAFT_LOCK:
        draft = read_draft(context.root)
        if request.id in {each.id for each in draft.statements}:
            raise InputError(f"There is a statement {request.id!r} already.", "Choose another id.")
        write_draft(context.root, with_claim(draft, request))
    return ToolOutput(f"Recorded {request.id}: {found.label} = {_value(found)}.", provenance=path)


def _value(claim: NumberClaim | TextClaim) -> str:
    if isinstance(claim, TextClaim):
        return claim.value
    return written(claim.value, claim.unit, claim.decimals)


@tool(read_only=False, approval="never", origin="own")
def record_statement(context: ToolContext, statement: StatementArguments) -> ToolOutput:
    """Record a comparison of two claims, which the checker evaluates."""
    require_plain_label(subject=statement.subject, quantity=statement.quantity)
    with _words_of_faults():
        stated = Statement.model_validate(statement.model_dump())
    with DRAFT_LOCK:
        draft = with_statement(read_draft(context.root), stated)
        resolve_claims(context.root, draft, code_sha256="")
        write_draft(context.root, draft)
    return ToolOutput(f"Recorded {stated.id}: {stated.left} {stated.operator} {stated.right}.")


@tool(read_only=False, approval="never", origin="own")
def drop_claim(
    context: ToolContext,
    id: Identifier,  # noqa: A002 - the name that tokens use
) -> ToolOutput:
    """Take a claim, comparison, citation or inference out of the report.

    Parameters
    ----------
    id
        As it was recorded.
    """
    with DRAFT_LOCK:
        write_draft(context.root, without_claim(read_draft(context.root), id))
    return ToolOutput(f"Dropped {id}.")


@tool(read_only=False, approval="never", origin="own")
def write_report(context: ToolContext, title: str, source: str) -> ToolOutput:
    """Write the report in Markdown, with a token in place of every number.

    {{claim:ID}} prints a claim, {{claim:ID|label}} what it is about too, {{claims:PREFIX}} alone
    on a line a table of all claims whose id begins so. The token of a citation or an inference
    prints its statement. Numbers typed by hand are refused.

    Parameters
    ----------
    title
        One line.
    source
        Markdown without HTML; the title is not repeated.
    """
    if not title.strip() or not source.strip():
        raise InputError("The report was not written: its title or its source is empty.")
    require_plain_label(title=title)
    refuse(source_faults(source))
    source = context.redactor.text(source).encode("utf-8", "replace").decode()
    with DRAFT_LOCK:
        draft = read_draft(context.root).model_copy(
            update={"title": " ".join(title.split()), "source": source}
        )
        printed = printed_draft(context.root, draft)
        write_draft(context.root, draft)
    return ToolOutput(_said(printed), tainted=context.taint.read_any)


def _said(printed: Printed) -> str:
    unused = f"\nNo token prints {', '.join(printed.unused)}." if printed.unused else ""
    return f"The report is written. It reads:{unused}\n\n{printed.markdown}"


CLAIMS = (record_claim, record_statement, drop_claim, write_report)

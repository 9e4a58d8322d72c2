"""Claims: what a report says, each with its evidence; and the verdicts on them."""

from typing import Annotated, Literal

from pydantic import Field

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.citation import Citation
from sciagent.contracts.literature import Work
from sciagent.contracts.model import SCHEMA_VERSION, Contract
from sciagent.contracts.units import Unit

VerdictName = Literal[
    "reproduced", "matched", "mismatch", "unresolved", "unsupported",
    "quoted", "not_found", "retracted", "inference",
]  # fmt: skip


class Source(Contract):
    """Where a value stands: an artifact, and the place in it.

    `pointer` is a JSON pointer (RFC 6901) for JSON files, ``row,column`` (a number counted from
    0 below the header, and a column's name) for CSV files, or ``cell id#output`` in notebooks.
    """

    path: str = Field(description="Relative to the workspace.")
    sha256: str
    pointer: str


class ProducedBy(Contract):
    """What made a value."""

    trial: int | None = None
    cell: str | None = None
    code_sha256: str = ""


class ClaimText(Contract):
    """The words a claim is labelled by: an identifier alone could be swapped unseen."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_.\-]*$")
    subject: str = Field(description="What it is about, such as `fluorapatite`.")
    quantity: str = Field(description="What is stated of it, such as `cell length a`.")
    condition: str = Field(default="", description="Under which condition it holds.")

    @property
    def label(self) -> str:
        """Subject, quantity and condition in one line."""
        tail = f" ({self.condition})" if self.condition else ""
        return f"{self.subject}: {self.quantity}{tail}"


class NumberClaim(ClaimText):
    """A number that a calculation produced; `record` for times, sizes and versions."""

    kind: Literal["number", "record"] = "number"
    value: float = Field(description="In `unit`, as it stands in the source, not rounded.")
    unit: Unit
    decimals: int = Field(ge=-12, le=15, description="Decimals printed.")
    uncertainty: float | None = Field(default=None, ge=0.0, description="In `unit`, k = 1.")
    uncertainty_pointer: str | None = None
    source: Source
    produced_by: ProducedBy
    tolerance: float = Field(ge=0.0, description="In `unit`: allowed when run again.")
    effect: Literal["association", "causal"] | None = Field(
        default=None, description="For effects: `causal` only if randomised or matched."
    )


class TextClaim(ClaimText):
    """A word or name read from an artifact, such as a version or a phase's name."""

    kind: Literal["text"] = "text"
    value: str
    source: Source
    produced_by: ProducedBy


class FigureClaim(ClaimText):
    """A figure, redrawn from its hashed data when it is verified."""

    kind: Literal["figure"] = "figure"
    path: str = Field(description="The image, relative to the workspace.")
    image_sha256: str
    drawing: str = Field(description="Name of the domain's drawing function.")
    data: tuple[Source, ...]
    caption: str


class Statement(ClaimText):
    """A typed comparison of number claims, evaluated by the checker.

    `lt`, `le`, `gt`, `ge` compare `left` with `right`; `within` asks that they differ by at
    most `margin` (absolute, in the unit both share).
    """

    kind: Literal["statement"] = "statement"
    left: str
    operator: Literal["lt", "le", "gt", "ge", "within"]
    right: str
    margin: float = Field(default=0.0, ge=0.0, description="In `unit`, for `within`.")
    unit: Unit | None = Field(default=None, description="That both sides share, if it is stated.")


class CitationClaim(ClaimText):
    """A statement that a quoted source supports."""

    kind: Literal["citation"] = "citation"
    statement: str
    citation: Citation


class InferenceClaim(ClaimText):
    """A statement of the author for which no source is given; it is marked so and not checked."""

    kind: Literal["inference"] = "inference"
    statement: str


Claim = Annotated[
    NumberClaim | TextClaim | FigureClaim | Statement | CitationClaim | InferenceClaim,
    Field(discriminator="kind"),
]


class ClaimsFile(Contract):
    """The file `claims.json`: the report's source and all that it claims."""

    schema_version: int = SCHEMA_VERSION
    question: str
    title: str
    report_source: str = Field(description="Markdown with tokens in place of every number.")
    required: tuple[str, ...] = Field(description="Claims that the domain says must be there.")
    claims: tuple[Claim, ...]
    works: tuple[Work, ...] = Field(default=(), description="Those that the claims cite.")


class Verdict(Contract):
    """What the checker found about one claim."""

    claim: str
    verdict: VerdictName
    detail: str


class Finding(Contract):
    """Something wrong with the workspace itself, such as a file that was changed."""

    path: str
    problem: Literal[
        "changed", "missing", "added", "journal", "unsealed", "report", "schema", "raw_number",
        "rerun",
    ]  # fmt: skip
    detail: str


class Verification(Contract):
    """The file `verification.json`: all verdicts and whether the run can be relied on."""

    schema_version: int = SCHEMA_VERSION
    run: str
    time: str = Field(description="UTC, ISO 8601.")
    rerun: bool
    claims: int
    reproduced: int
    matched: int
    mismatch: int
    unresolved: int
    unsupported: int
    quoted: int
    not_found: int
    retracted: int
    inference: int = Field(default=0, description="Statements of the author without a source.")
    not_machine_checked: int = Field(description="Sentences of the report without a claim.")
    ok: bool
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]


class ClaimRequest(ClaimText):
    """A number that a domain wants in the report: where it stands and how it is printed."""

    path: str
    pointer: str = Field(description="Points at the number.")
    unit: Unit
    decimals: int
    tolerance: float = Field(ge=0.0, description="In `unit`.")
    kind: Literal["number", "record", "text"] = "number"
    trial: int | None = None
    uncertainty_pointer: str | None = None
    effect: Literal["association", "causal"] | None = None


class FigureRequest(ClaimText):
    """A figure that a domain wants in the report."""

    drawing: str
    data: tuple[str, ...] = Field(description="Paths relative to the workspace.")
    caption: str


class ReportRequest(Contract):
    """The report a domain asks for: words with tokens, and the claims they stand for."""

    title: str
    source: str = Field(description="Markdown with tokens `{{claim:ID}}`.")
    numbers: tuple[ClaimRequest, ...]
    figures: tuple[FigureRequest, ...] = ()
    statements: tuple[Statement, ...] = ()
    citations: tuple[CitationClaim, ...] = ()
    inferences: tuple[InferenceClaim, ...] = ()
    works: tuple[Work, ...] = ()
    required: tuple[str, ...] = ()
    files: tuple[Artifact, ...] = ()

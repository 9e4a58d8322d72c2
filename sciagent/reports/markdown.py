"""The report in Markdown: a function of `claims.json` alone, so that it can be printed again."""

from sciagent.contracts.claim import (
    CitationClaim,
    Claim,
    ClaimsFile,
    FigureClaim,
    InferenceClaim,
    NumberClaim,
    Statement,
    TextClaim,
)
from sciagent.contracts.errors import UnknownNameError
from sciagent.reports.citation_markdown import (
    INFERENCE,
    evidence_section,
    references_section,
    stated,
)
from sciagent.reports.digits import claim_in_digits
from sciagent.reports.escaping import code, escaped, link_target
from sciagent.reports.references import References, anchor
from sciagent.reports.resolve import sides_of
from sciagent.reports.statements import SIGNS, words_between
from sciagent.reports.tokens import CLAIM_LINK, Token, expand, tokens_of

HOW_TO_READ = (
    "*Every number below was written by the renderer and links to its claim: the artifact it was "
    "read from, the place in it, and the trial that computed it. `sciagent verify .` reads all of "
    "them again, `sciagent verify . --rerun` computes them again.*"
)
_EVIDENCE_HEADER = (
    "| claim | what it states | value | kind | evidence | trial |",
    "|:---|:---|---:|:---|:---|---:|",
)


def label_of(claim: Claim) -> str:
    """The label of a claim; effects say whether they are more than an association."""
    effect = claim.effect if isinstance(claim, NumberClaim) else None
    return f"{claim.label} ({effect})" if effect else claim.label


class ClaimPrinter:
    """Prints the claims of a report as Markdown.

    Parameters
    ----------
    file
        All claims of the report; statements look their sides up among them.
    in_html
        Whether what is printed becomes HTML, where anchors are set afterwards.
    """

    def __init__(self, file: ClaimsFile, *, in_html: bool = False) -> None:
        self.claims = {claim.id: claim for claim in file.claims}
        self.figures = [claim.id for claim in file.claims if isinstance(claim, FigureClaim)]
        self.references = References(file)
        self._in_html = in_html

    def claim(self, identifier: str) -> Claim:
        """Look a claim up.

        Raises
        ------
        UnknownNameError
            If there is no claim of this ID.
        """
        if identifier not in self.claims:
            raise UnknownNameError.among("claim", identifier, self.claims)
        return self.claims[identifier]

    def value(self, claim: Claim) -> str:
        """What a claim states, without what it states it of, as escaped text."""
        if isinstance(claim, NumberClaim):
            return escaped(claim_in_digits(claim))
        if isinstance(claim, TextClaim):
            return escaped(claim.value)
        if isinstance(claim, CitationClaim | InferenceClaim):
            return escaped(claim.statement)
        if isinstance(claim, FigureClaim):
            return f"figure {self.figures.index(claim.id) + 1}"
        left, right = sides_of(claim, tuple(self.claims.values()))
        return f"{self.named(left)} {escaped(words_between(claim, left))} {self.named(right)}"

    def named(self, claim: Claim) -> str:
        """A number or text with what it is about: ``subject: quantity = value``."""
        return f"{escaped(label_of(claim))} = {self.value(claim)}"

    def inline(self, claim: Claim, *, labelled: bool = False) -> str:
        """A claim inside a sentence, linked to its evidence."""
        if isinstance(claim, Statement):
            return self._sentence(claim)
        text = self.named(claim) if labelled else self.value(claim)
        return f"[{text}]({CLAIM_LINK}{claim.id})"

    def _sentence(self, claim: Statement) -> str:
        left, right = sides_of(claim, tuple(self.claims.values()))
        words = escaped(words_between(claim, left))
        sides = [f"[{self.named(side)}]({CLAIM_LINK}{side.id})" for side in (left, right)]
        return f"{sides[0]} [{words}]({CLAIM_LINK}{claim.id}) {sides[1]}"

    def table(self, prefix: str) -> str:
        """A table of the numbers and texts whose ID begins with `prefix`.

        Raises
        ------
        UnknownNameError
            If there is none.
        """
        rows = [
            f"| {escaped(label_of(claim))} | {self.inline(claim)} |"
            for claim in self._listed(prefix)
        ]
        if not rows:
            raise UnknownNameError.among("claim that begins with", prefix, self.claims)
        return "\n".join(["| quantity | value |", "|:---|---:|", *rows])

    def _listed(self, prefix: str) -> list[NumberClaim | TextClaim]:
        """The claims of a table."""
        return [
            claim
            for claim in self.claims.values()
            if isinstance(claim, NumberClaim | TextClaim) and claim.id.startswith(prefix)
        ]

    def figure(self, claim: Claim) -> str:
        """The image of a figure, its number, what it is about and its caption."""
        if not isinstance(claim, FigureClaim):
            raise UnknownNameError.among("figure", claim.id, self.figures)
        number = self.figures.index(claim.id) + 1
        return (
            f"![{escaped(claim.label)}]({link_target(claim.path)})\n\n"
            f"**[Figure {number}]({CLAIM_LINK}{claim.id}).** {escaped(claim.label)}. "
            f"{escaped(claim.caption)}"
        )

    def printed(self, token: Token) -> str:
        """What stands in the place of a token."""
        if token.kind == "claims":
            return self.table(token.id)
        if token.kind == "figure":
            return self.figure(self.claim(token.id))
        claim = self.claim(token.id)
        if isinstance(claim, CitationClaim | InferenceClaim):
            return stated(claim, token, self.references, in_html=self._in_html)
        text = self.inline(claim, labelled=token.labelled)
        return f"{text}." if isinstance(claim, Statement) and not token.ends else text

    def cited(self, source: str) -> set[str]:
        """IDs of all claims that the tokens of a source print."""
        cited: set[str] = set()
        for token in tokens_of(source):
            if token.kind == "claims":
                cited |= {claim.id for claim in self._listed(token.id)}
            elif isinstance(claim := self.claims.get(token.id), Statement):
                cited |= {claim.id, claim.left, claim.right}
            else:
                cited.add(token.id)
        return cited


def place_of(claim: Claim) -> tuple[str, str]:
    """Path and pointer of a claim's evidence; a statement has none of its own."""
    if isinstance(claim, NumberClaim | TextClaim):
        return claim.source.path, claim.source.pointer
    if isinstance(claim, FigureClaim):
        return claim.path, ""
    if isinstance(claim, CitationClaim):
        return "references.json", claim.citation.work
    if isinstance(claim, InferenceClaim):
        return "", INFERENCE
    return "", f"{claim.left} {SIGNS[claim.operator]} {claim.right}"


def trial_of(claim: Claim) -> int | None:
    """Trial that made a claim's value, where one did."""
    return claim.produced_by.trial if isinstance(claim, NumberClaim | TextClaim) else None


def _evidence_row(printer: ClaimPrinter, claim: Claim) -> str:
    path, pointer = place_of(claim)
    file = f"[{escaped(path)}]({link_target(path)}) " if path else ""
    place = code(pointer) if pointer else ""
    trial = trial_of(claim)
    cells = [
        f'<a id="{anchor(claim.id)}"></a>{code(claim.id)}',
        escaped(label_of(claim)),
        printer.value(claim),
        claim.kind,
        f"{file}{place}".strip(),
        "" if trial is None else str(trial),
    ]
    return f"| {' | '.join(cells)} |"


def report_markdown(claims: ClaimsFile) -> str:
    """Print `report.md`.

    Parameters
    ----------
    claims
        The content of `claims.json`.

    Raises
    ------
    UnknownNameError
        If a token names a claim that is not there.
    InputError
        If a statement compares what cannot be compared.
    """
    printer = ClaimPrinter(claims)
    body = expand(claims.report_source, printer.printed)
    parts = [f"# {escaped(claims.title)}", HOW_TO_READ, body]
    listed = [claim for claim in claims.claims if not isinstance(claim, CitationClaim)]
    if listed or not claims.claims:
        rows = [_evidence_row(printer, claim) for claim in listed]
        parts += ["## Claims", "\n".join([*_EVIDENCE_HEADER, *rows])]
    parts += evidence_section(printer.references) + references_section(printer.references)
    return "\n\n".join(parts) + "\n"

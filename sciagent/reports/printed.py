"""The printed report against its claims: it is printed again and the lines are compared."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

from sciagent.contracts.claim import (
    Claim,
    ClaimsFile,
    FigureClaim,
    Finding,
    InferenceClaim,
    Verdict,
)
from sciagent.contracts.errors import InputError
from sciagent.reports.lint import raw_numbers, raw_numbers_in_caption
from sciagent.reports.markdown import report_markdown
from sciagent.reports.tokens import faults_of
from sciagent.workspace.layout import CLAIMS, REPORT_MARKDOWN

_LINK = re.compile(r"\[((?:\\.|[^\[\]\\])*)\]\(#claim-([a-z0-9][a-z0-9_.\-]*)\)")
_ANCHOR = re.compile(r'<a id="claim-([a-z0-9][a-z0-9_.\-]*)"></a>')
_SHOWN_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class DifferentLine:
    """A line of the printed report that is not what the claims give."""

    number: int
    expected: str
    found: str

    def claims(self) -> set[str]:
        """Claims whose words or digits differ; all of the line if only its prose does."""
        expected, found = _printed_claims(self.expected), _printed_claims(self.found)
        differing = {identifier for identifier, _ in expected ^ found}
        return differing or {identifier for identifier, _ in expected | found}


def _printed_claims(line: str) -> set[tuple[str, str]]:
    printed = {(identifier, text) for text, identifier in _LINK.findall(line)}
    return printed | {(identifier, line) for identifier in _ANCHOR.findall(line)}


def different_lines(expected: str, found: str) -> list[DifferentLine]:
    """Compare two texts line by line; lines are numbered from 1 as in `found`."""
    if expected == found:
        return []
    one, other = expected.split("\n"), found.split("\n")
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return [
        DifferentLine(number=begin + offset + 1, expected=before, found=after)
        for tag, start, end, begin, stop in matcher.get_opcodes()
        if tag != "equal"
        for offset, (before, after) in enumerate(
            zip_longest(one[start:end], other[begin:stop], fillvalue="")
        )
    ]


def check_report(root: Path, claims: ClaimsFile) -> tuple[list[Finding], list[Verdict]]:
    """Print the report again and compare it with `report.md`.

    Parameters
    ----------
    root
        The workspace.
    claims
        Content of its `claims.json`.

    Returns
    -------
    findings
        One for each line that differs.
    mismatches
        A verdict for each claim that such a line prints.
    """
    path = root / REPORT_MARKDOWN
    if not path.is_file():
        missing = [Finding(path=REPORT_MARKDOWN, problem="missing", detail="There is no report.")]
        return missing, []
    try:
        expected = report_markdown(claims)
    except InputError as error:
        detail = f"The report cannot be printed from its claims: {error}"
        return [Finding(path=CLAIMS, problem="report", detail=detail)], []
    found = path.read_bytes().decode("utf-8", errors="replace")
    findings: list[Finding] = []
    verdicts: dict[str, Verdict] = {}
    known = {claim.id for claim in claims.claims}
    for line in different_lines(expected, found):
        detail = (
            f"Line {line.number} reads {_shortened(line.found)} "
            f"where the claims give {_shortened(line.expected)}."
        )
        findings.append(Finding(path=REPORT_MARKDOWN, problem="report", detail=detail))
        for claim in line.claims() & known:
            verdicts.setdefault(claim, Verdict(claim=claim, verdict="mismatch", detail=detail))
    return findings, list(verdicts.values())


def _shortened(line: str) -> str:
    if len(line) > _SHOWN_CHARACTERS:
        line = f"{line[:_SHOWN_CHARACTERS]}…"
    return repr(line) if line else "nothing"


def _own_words(claim: Claim) -> tuple[str, str]:
    """Words of the author that a claim prints without evidence, and what they are."""
    if isinstance(claim, FigureClaim):
        return "caption of", claim.caption
    return ("inference", claim.statement) if isinstance(claim, InferenceClaim) else ("", "")


def check_prose(claims: ClaimsFile) -> list[Finding]:
    """Numbers typed by hand, and what breaks the grammar of the source."""
    findings = [
        Finding(path=CLAIMS, problem="report", detail=fault)
        for fault in faults_of(claims.report_source)
    ]
    for line, word in raw_numbers(claims.report_source):
        detail = f"Line {line} of the report's source types the number {word!r} by hand."
        findings.append(Finding(path=CLAIMS, problem="raw_number", detail=detail))
    for claim in claims.claims:
        what, text = _own_words(claim)
        for word in raw_numbers_in_caption(text):
            detail = f"The {what} {claim.id!r} types the number {word!r} by hand."
            findings.append(Finding(path=CLAIMS, problem="raw_number", detail=detail))
    return findings

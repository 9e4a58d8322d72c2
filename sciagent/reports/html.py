"""The report as one HTML file: self-contained, without scripts and without outside requests."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import sciagent
from sciagent.contracts.claim import Claim, Verdict, VerdictName, Verification
from sciagent.contracts.run import RunRequest
from sciagent.contracts.tree import StudyRecord
from sciagent.reports.body import body_html
from sciagent.reports.citation_rows import evidence_rows, reference_rows
from sciagent.reports.contents import ReportContents
from sciagent.reports.digits import claim_in_digits
from sciagent.reports.markdown import place_of, trial_of
from sciagent.reports.references import References, anchor
from sciagent.reports.resolve import sides_of
from sciagent.reports.statements import words_between
from sciagent.reports.tree_drawing import state_of, tree_groups
from sciagent.reports.trial_sections import section_blocks, trial_sections
from sciagent.reports.verify import is_reproducible

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim in the table of the report."""

    claim: Claim
    anchor: str
    value: str
    verdict: Verdict
    path: str
    pointer: str
    trial: int | None
    command: str


def report_html(contents: ReportContents) -> str:
    """Render `report.html`.

    Parameters
    ----------
    contents
        Claims, studies, environment and verdicts. Every text of it is escaped; the report's own
        Markdown is sanitised.
    """
    template = _environment().get_template("report.html.j2")
    studies = [
        {
            "study": study,
            "groups": tree_groups(study),
            "blocks": section_blocks(list(trial_sections(contents, study))),
            "counts": counts_in_words(study),
        }
        for study in contents.studies
    ]
    references = References(contents.claims)
    cited = references.citations.keys()
    return template.render(
        contents=contents,
        body=Markup(body_html(contents)),
        rows=list(claim_rows(contents)),
        evidence=list(evidence_rows(contents, references)),
        references=list(reference_rows(references)),
        evidence_counts=_tally(contents.verification, lambda claim: claim in cited),
        claim_counts=_tally(contents.verification, lambda claim: claim not in cited),
        limits=list(not_verified(contents)),
        studies=studies,
        inputs=list(_inputs(contents.request)),
        version=sciagent.__version__,
    )


def _tally(verification: Verification, is_counted: Callable[[str], bool]) -> dict[str, int]:
    """How many of some claims got which verdict, in the order that a reader looks for them."""
    found = [each.verdict for each in verification.verdicts if is_counted(each.claim)]
    return {name: found.count(name) for name in get_args(VerdictName) if name in found}


def counts_in_words(study: StudyRecord) -> str:
    """How many trials became what, such as ``20 trials: 7 accepted, 13 rejected``."""
    states = [state_of(trial, None) for trial in study.trials]
    counts = [f"{states.count(state)} {state}" for state in sorted(set(states))]
    return f"{len(states)} trials: {', '.join(counts)}" if states else "no trials"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["address"] = address
    return environment


def address(path: str) -> str:
    """A path of the workspace as a relative link."""
    return quote(f"./{path.lstrip('/')}", safe="/.~-_")


def value_in_words(claim: Claim, contents: ReportContents) -> str:
    """What a claim states, as plain text."""
    if claim.kind == "statement":
        left, right = sides_of(claim, contents.claims.claims)
        return f"{claim_in_digits(left)} {words_between(claim, left)} {claim_in_digits(right)}"
    if claim.kind == "figure":
        return "figure"
    if claim.kind == "citation" or claim.kind == "inference":
        return claim.statement
    return claim.value if claim.kind == "text" else claim_in_digits(claim)


def claim_rows(contents: ReportContents) -> Iterator[ClaimRow]:
    """The rows of the table of claims, in the order of `claims.json`; citations have their own."""
    for claim in contents.claims.claims:
        if claim.kind == "citation":
            continue
        path, pointer = place_of(claim)
        missing = Verdict(claim=claim.id, verdict="unresolved", detail="It was not checked.")
        yield ClaimRow(
            claim=claim,
            anchor=anchor(claim.id),
            value=value_in_words(claim, contents),
            verdict=contents.verdicts.get(claim.id, missing),
            path=path,
            pointer=pointer,
            trial=trial_of(claim),
            command=f"sciagent verify . --rerun --claim {claim.id}",
        )


def _wrong(verification: Verification) -> Iterator[str]:
    """What the verdicts say against the report, and what it states without a source."""
    bad = verification.mismatch + verification.unresolved
    if bad:
        yield f"{bad} of {verification.claims} claims are not what their evidence says."
    unsupported = verification.unsupported + verification.not_found
    if unsupported:
        yield f"{_statements(unsupported)} not borne out by the quote given."
    if verification.retracted:
        yield f"{_statements(verification.retracted)} taken from work that was retracted."
    if verification.inference:
        words = _statements(verification.inference)
        yield f"{words} the author's inference: no source is given, and nothing was checked."


def _statements(count: int) -> str:
    return "1 statement is" if count == 1 else f"{count} statements are"


def not_verified(contents: ReportContents) -> Iterator[tuple[str, str]]:
    """What a reader must not take for verified: a sentence, and the command that helps."""
    verification = contents.verification
    for finding in verification.findings:
        yield f"{finding.path}: {finding.detail}", ""
    yield from ((limit, "") for limit in _wrong(verification))
    claims = {claim.id: claim for claim in contents.claims.claims}
    matched = sum(
        each.verdict == "matched" and is_reproducible(claims[each.claim], claims)
        for each in verification.verdicts
    )
    if matched:
        compared = f"{matched} of {verification.claims} claims were compared with what the run left"
        yield f"{compared}, but not computed again. To do that:", "sciagent verify . --rerun"
    unchecked = verification.not_machine_checked
    if unchecked:
        sentences = (
            "1 sentence of the text carries"
            if unchecked == 1
            else (f"{unchecked} sentences of the text carry")
        )
        yield f"{sentences} no claim: prose that no machine has checked.", ""
    if contents.environment is None:
        yield "Nothing is known of the surroundings the run was made in.", ""
    elif "unsandboxed" in contents.environment.sandbox:
        yield f"The calculations were not confined ({contents.environment.sandbox}).", ""


def _inputs(request: RunRequest) -> Iterator[tuple[str, str, str]]:
    for name, files in request.inputs.items():
        for file in files:
            yield name, file.path, file.sha256

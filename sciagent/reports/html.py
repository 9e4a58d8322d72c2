"""The report as one HTML file: self-contained, without scripts and without outside requests."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import sciagent
from sciagent.contracts.claim import Claim, Verdict
from sciagent.contracts.run import RunRequest
from sciagent.contracts.tree import StudyRecord
from sciagent.reports.body import body_html
from sciagent.reports.contents import ReportContents
from sciagent.reports.digits import claim_in_digits
from sciagent.reports.markdown import anchor, place_of, trial_of
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
    return template.render(
        contents=contents,
        body=Markup(body_html(contents)),
        rows=list(claim_rows(contents)),
        limits=list(not_verified(contents)),
        studies=studies,
        inputs=list(_inputs(contents.request)),
        version=sciagent.__version__,
    )


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
    """The rows of the table of claims, in the order of `claims.json`."""
    for claim in contents.claims.claims:
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


def not_verified(contents: ReportContents) -> Iterator[tuple[str, str]]:
    """What a reader must not take for verified: a sentence, and the command that helps."""
    verification = contents.verification
    for finding in verification.findings:
        yield f"{finding.path}: {finding.detail}", ""
    bad = verification.mismatch + verification.unresolved + verification.unsupported
    bad += verification.not_found + verification.retracted
    if bad:
        yield f"{bad} of {verification.claims} claims are not what their evidence says.", ""
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

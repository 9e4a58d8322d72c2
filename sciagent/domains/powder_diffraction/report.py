"""The report of a refinement: words with tokens in place of every number."""

from collections.abc import Iterator
from pathlib import Path

from sciagent.contracts.claim import FigureRequest, ReportRequest
from sciagent.contracts.ports import Problem
from sciagent.contracts.tree import StudyView
from sciagent.domains.powder_diffraction.claims import conclusion_claim
from sciagent.domains.powder_diffraction.findings import Findings
from sciagent.domains.powder_diffraction.problem import RefinementProblem
from sciagent.domains.powder_diffraction.tables import FIT, REFLECTIONS

_GEOMETRIES = {
    "bragg_brentano": "flat plate in Bragg-Brentano geometry",
    "debye_scherrer": "capillary in Debye-Scherrer geometry",
}
_FIGURES = {
    "pattern": (
        "pattern",
        "Observed (dots), calculated and background counts, reflections, and the difference.",
    ),
    "zoom": ("strongest lines", "The part of the pattern with the strongest lines, enlarged."),
    "pattern_sqrt": (
        "pattern on a square-root scale",
        "Weak lines show, and counting noise is equally high everywhere.",
    ),
}
_PATH = (
    "R_wp along the accepted steps",
    "R_wp after each accepted step, with its trial, and what was rejected from there.",
)


def report(view: StudyView, problem: Problem, directory: Path) -> ReportRequest:
    """Ask for the report of a concluded study.

    Parameters
    ----------
    view
        The study; its best trial is the one that the conclusion names.
    problem
        The refinement.
    directory
        The workspace.
    """
    assert isinstance(problem, RefinementProblem)
    if view.best is None:
        return _without_result()
    findings = Findings(view, view.best, problem, directory)
    sections = _abstained(findings) if findings.abstained else _completed(findings)
    return ReportRequest(
        title=_title(findings),
        source="\n\n".join(sections) + "\n",
        numbers=findings.numbers,
        figures=tuple(_figures(findings)),
        statements=findings.statements,
        required=findings.required,
    )


def _without_result() -> ReportRequest:
    return ReportRequest(
        title="No refinement",
        source="## Result\n\nNo model was accepted, so that nothing is reported. "
        "{{claim:conclusion}}\n",
        numbers=(conclusion_claim(),),
        required=("conclusion",),
    )


def _completed(findings: Findings) -> Iterator[str]:
    yield "## Result"
    yield (
        f"The model of {_sample(findings)} was refined to an R_wp of {{{{claim:final.r_wp}}}}. "
        "Counting statistics alone would leave {{claim:final.r_exp}}, so that the goodness of fit "
        "is {{claim:final.gof}}. The study began at {{claim:start.r_wp}}, with nothing but the "
        "scale refined. {{claim:conclusion}}"
    )
    yield "{{claims:cell.}}"
    yield "Numbers in brackets are standard uncertainties of the last digits."
    yield "{{figure:pattern}}"
    yield from _model_and_data(findings)
    yield from _parameters(findings)
    yield from _tried(findings)
    yield from _checks(findings)
    yield from _limits()


def _abstained(findings: Findings) -> Iterator[str]:
    yield "## Result"
    yield "**No structure is reported.** {{claim:conclusion}}"
    words = (
        "The best model found has an R_wp of {{claim:final.r_wp}} where counting statistics alone "
        "would leave {{claim:final.r_exp}}; less the background it is "
        "{{claim:final.r_wp_background_subtracted}}. {{claim:description}}"
    )
    if findings.le_bail is not None:
        words += (
            " With the intensities of all lines free (Le Bail), R_wp less background is "
            "{{claim:le_bail.r_wp_background_subtracted}}."
        )
    yield words
    yield "{{figure:pattern}}"
    yield from _model_and_data(findings)
    yield from _tried(findings)
    yield from _checks(findings)


def _title(findings: Findings) -> str:
    names = " and ".join(each.name for each in findings.problem.given.phases)
    if findings.abstained:
        return f"No refinement of {names}: the pattern is not described"
    return f"Refinement of {names} against a powder pattern"


def _sample(findings: Findings) -> str:
    given = findings.problem.given
    there = [each for each in (*given.phases, *given.candidates) if each.key in findings.phases]
    return " and ".join(f"`{each.name}`" for each in there)


def _model_and_data(findings: Findings) -> Iterator[str]:
    given = findings.problem.given
    tube = "a monochromatic beam" if given.settings.wavelength_angstrom else (
        f"`{given.settings.radiation}`"
    )  # fmt: skip
    yield "## Model and data"
    yield (
        f"Radiation: {tube}, first line {{{{claim:data.wavelength}}}}; "
        f"{_GEOMETRIES[given.settings.geometry]}. "
        "The pattern is used from {{claim:data.first}} to {{claim:data.last}}, in "
        "{{claim:data.channels}} channels."
    )
    yield (
        "R_wp is always that of all channels. What a trial was fitted to leaves out windows, in "
        "which it is judged; only the refit at the end is fitted to all."
    )
    phases = [f"- `{each.name}` (`{each.key}`): given." for each in given.phases]
    phases += [
        f"- `{each.name}` (`{each.key}`): a candidate, "
        + ("added to the model." if each.key in findings.phases else "not added.")
        for each in given.candidates
    ]
    yield "\n".join(phases)


def _parameters(findings: Findings) -> Iterator[str]:
    yield "## Refined parameters"
    yield "The model has {{claim:final.parameters}} free parameters, background included."
    if findings.have("instrument."):
        yield "{{claims:instrument.}}"
    if findings.have("atom."):
        yield "{{claims:atom.}}"
    yield "{{figure:zoom}}"
    yield "{{figure:pattern_sqrt}}"


def _tried(findings: Findings) -> Iterator[str]:
    yield "## What was tried and rejected"
    yield "{{figure:path}}"
    if findings.occupancies is not None:
        number = f"{findings.occupancies.number:04d}"
        yield (
            "Freeing the occupancies of sites was proposed as well, and rejected by the checks. "
            f"{{{{claim:rejected.{number}}}}}"
        )
    if findings.have("rejected."):
        yield "Rejected in the last round, each with its first reason:"
        yield "{{claims:rejected.}}"


def _checks(findings: Findings) -> Iterator[str]:
    yield "## Checks"
    named = [each.id for each in findings.statements if each.id != "description"]
    yield "\n".join(f"- {{{{claim:{name}}}}}" for name in named)
    yield "{{claims:check.}}"
    if findings.have("line."):
        yield "Observed lines that no reflection explains, strongest first:"
        yield "{{claims:line.}}"


def _limits() -> Iterator[str]:
    yield "## Limits"
    yield (
        "The uncertainties are those of the least squares, inflated for the serial correlation of "
        "the residuals. They tell how well this model fits this pattern, not how well two programs "
        "or two instruments agree: without an internal standard no cell length is known better "
        "than to {{claim:limit.between_codes}}."
    )
    yield (
        "The Durbin-Watson statistic ({{claim:check.durbin_watson}}) is reported and decides "
        "nothing, as measured patterns hardly ever reach the value of white noise. Weight "
        "fractions are those of the crystalline phases in the model."
    )


def _figures(findings: Findings) -> Iterator[FigureRequest]:
    data = tuple(f"{findings.final.folder}/{name}" for name in (FIT, REFLECTIONS))
    shown = ("pattern",) if findings.abstained else tuple(_FIGURES)
    for name in shown:
        quantity, caption = _FIGURES[name]
        yield FigureRequest(
            id=name, subject=findings.final.subject, quantity=quantity, drawing=name, data=data,
            caption=caption,
        )  # fmt: skip
    yield FigureRequest(
        id="path", subject=findings.final.subject, quantity=_PATH[0], drawing="path",
        data=("study.json",), caption=_PATH[1],
    )  # fmt: skip

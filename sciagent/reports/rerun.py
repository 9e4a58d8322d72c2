"""Computes the claims of a report again, in a clean kernel and from nothing but the inputs."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sciagent.contracts.claim import (
    Claim,
    ClaimsFile,
    FigureClaim,
    Finding,
    NumberClaim,
    Statement,
    Verdict,
)
from sciagent.contracts.errors import InputError, SciagentError
from sciagent.reports.digits import plain_decimal
from sciagent.reports.drawing import Drawings, different_pixels, draw
from sciagent.reports.evidence import Evidence
from sciagent.reports.notebooks import foreign_code
from sciagent.reports.pointers import PointerError
from sciagent.reports.resolve import sides_of
from sciagent.reports.statements import holds, words_between
from sciagent.reports.verdicts import trial_of_path
from sciagent.workspace.layout import CLAIMS, JOURNAL, NOTEBOOK, RESULTS

RERUN_TIMEOUT_S = 3600.0


class NotebookRunner(Protocol):
    """Runs a notebook with parameters, such as `sciagent.execution.notebook.run_notebook`."""

    def __call__(
        self,
        source: Path,
        output: Path,
        parameters: Mapping[str, Any],
        *,
        timeout_s: float,
        directory: Path,
    ) -> Any:
        """Run `source`, write what it became to `output`."""
        ...


def rerun_verdicts(
    root: Path,
    claims: ClaimsFile,
    findings: Sequence[Finding],
    drawings: Drawings,
    notebook_runner: NotebookRunner,
) -> tuple[list[Finding], list[Verdict]]:
    """Run the notebook of a run and compare what it computes with the claims.

    Parameters
    ----------
    root
        The workspace; nothing is written into it.
    claims
        Content of its `claims.json`.
    findings
        What is already known to be wrong: a notebook, journal or input that was changed is not
        executed.
    drawings
        Drawing functions of the question.
    notebook_runner
        Runs the notebook.

    Returns
    -------
    findings
        Why the re-run could not be made or did not come to its end.
    verdicts
        On each claim that was computed again.
    """
    figures = [
        redrawn(claim, root, drawings) for claim in claims.claims if isinstance(claim, FigureClaim)
    ]
    refusal = _refusal(root, findings)
    if refusal:
        return [Finding(path=NOTEBOOK, problem="rerun", detail=refusal)], figures
    with tempfile.TemporaryDirectory(prefix="sciagent-rerun-") as folder:
        failed = _replay(root, Path(folder), notebook_runner)
        replayed = Evidence(Path(folder) / "replay")
        numbers = {
            claim.id: _recomputed(claim, replayed)
            for claim in claims.claims
            if isinstance(claim, NumberClaim) and claim.kind == "number"
        }
        statements = [
            _recompared(claim, claims.claims, replayed, numbers)
            for claim in claims.claims
            if isinstance(claim, Statement)
        ]
    return failed, [*figures, *numbers.values(), *filter(None, statements)]


def _refusal(root: Path, findings: Sequence[Finding]) -> str:
    """Why the notebook must not be executed: only code that this package wrote is."""
    touched = [
        each.path
        for each in findings
        if each.path in {NOTEBOOK, JOURNAL, CLAIMS} or each.path.startswith("data/")
        if each.problem in {"changed", "missing", "added", "journal"}
    ]
    if touched:
        return f"Nothing was run again, because {touched[0]} is not as it was sealed."
    try:
        foreign = foreign_code(json.loads((root / NOTEBOOK).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"The notebook cannot be read: {error}."
    return f"Nothing was run again: {foreign}" if foreign else ""


def _replay(root: Path, folder: Path, notebook_runner: NotebookRunner) -> list[Finding]:
    parameters = {"workspace": str(root.resolve()), "output": str(folder / "replay")}
    try:
        notebook_runner(
            root / NOTEBOOK,
            folder / NOTEBOOK,
            parameters,
            timeout_s=RERUN_TIMEOUT_S,
            directory=folder,
        )
    except SciagentError as error:
        detail = f"The re-run did not come to its end: {error}"
        return [Finding(path=NOTEBOOK, problem="rerun", detail=detail)]
    return []


def _recomputed(claim: NumberClaim, replayed: Evidence) -> Verdict:
    path, pointer = claim.source.path, claim.source.pointer
    if trial_of_path(path) is None and path != RESULTS:
        detail = f"{path} belongs to no trial, so that it cannot be computed again."
        return Verdict(claim=claim.id, verdict="matched", detail=detail)
    try:
        value = replayed.number(path, pointer)
        unit = replayed.beside(path, pointer, "unit")
    except PointerError as error:
        detail = f"The re-run did not compute it: {error.message}"
        return Verdict(claim=claim.id, verdict="matched", detail=detail)
    shown = (
        f"{plain_decimal(value)} against {plain_decimal(claim.value)} {claim.unit}, "
        f"tolerance {plain_decimal(claim.tolerance)}"
    )
    agrees = abs(value - claim.value) <= claim.tolerance and unit in {None, claim.unit}
    return Verdict(
        claim=claim.id,
        verdict="reproduced" if agrees else "mismatch",
        detail=f"Computed again: {shown}.",
    )


def _recompared(
    statement: Statement,
    claims: Sequence[Claim],
    replayed: Evidence,
    numbers: Mapping[str, Verdict],
) -> Verdict | None:
    """A statement holds again if both sides were reproduced and it is true of the new values."""
    sides = [numbers.get(each) for each in (statement.left, statement.right)]
    if any(side is None or side.verdict != "reproduced" for side in sides):
        return None
    try:
        left, right = sides_of(statement, tuple(claims))
        values = [replayed.number(each.source.path, each.source.pointer) for each in (left, right)]
    except InputError:
        return None
    true = holds(statement, values[0], values[1])
    comparison = (
        f"{plain_decimal(values[0])} {words_between(statement, left)} {plain_decimal(values[1])}"
    )
    return Verdict(
        claim=statement.id,
        verdict="reproduced" if true else "mismatch",
        detail=f"Computed again, {'' if true else 'it is not true that '}{comparison}.",
    )


def redrawn(claim: FigureClaim, root: Path, drawings: Drawings) -> Verdict:
    """Draw a figure again from its data, and compare it pixel by pixel."""
    try:
        image = draw(drawings, claim.drawing, [root / source.path for source in claim.data])
        share = different_pixels(image, (root / claim.path).read_bytes())
    except (SciagentError, OSError, SyntaxError) as error:
        detail = f"It could not be redrawn: {error}"
        return Verdict(claim=claim.id, verdict="matched", detail=detail)
    if share == 0.0:
        return Verdict(claim=claim.id, verdict="reproduced", detail="Redrawn, pixel by pixel.")
    detail = f"Redrawn from its data, {100 * share:.2g} % of its pixels differ."
    return Verdict(claim=claim.id, verdict="mismatch", detail=detail)

"""The report of a run of a workflow notebook: its numbers as claims, verified and sealed."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sciagent.contracts.claim import ClaimRequest, ReportRequest
from sciagent.contracts.errors import ErrorRecord
from sciagent.execution.attempts import AttemptTask, Made
from sciagent.execution.workflow import FILES
from sciagent.reports.assemble import assemble
from sciagent.reports.notebooks import workflow_notebook, written
from sciagent.reports.render import write_reports
from sciagent.reports.verify import save_verification, verify
from sciagent.runs.answering import asked_question, literal
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.content import sha256_of_file
from sciagent.workspace.crate import write_crate
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import JOURNAL, NOTEBOOK, RECORD, REPORT_HTML, RESULTS, Layout
from sciagent.workspace.seal import seal

_DIGITS = 6
_RELATIVE_TOLERANCE = 1e-6


def publish_workflow(
    layout: Layout,
    task: AttemptTask,
    made: Made,
    parameters: Mapping[str, Any],
    journal: JournalFile,
) -> None:
    """Write the report with all that belongs to it, verify it, and seal the run."""
    root = layout.root
    name = Path(task.source).stem
    question = asked_question(name, f"The workflow {name}", "Executed by papermill.")
    request = ReportRequest(
        title=name.replace("__", ": ").replace("_", " "),
        source="\n\n".join(_parts(layout, made, parameters)) + "\n",
        numbers=tuple(_claims(name, made)),
    )
    claims = assemble(root, question, request, sha256_of_file(Path(task.source)))
    write_atomic(root / NOTEBOOK, written(workflow_notebook(claims)))
    write_reports(root, verify(root, before_seal=True))
    write_crate(root)
    seal(journal, root, made.status)
    save_verification(root, verify(root))


def _claims(name: str, made: Made) -> Iterator[ClaimRequest]:
    for key, quantity in made.metrics.items():
        value = abs(quantity.value)
        exponent = math.floor(math.log10(value)) if value else 0
        place = key.replace("~", "~0").replace("/", "~1")
        yield ClaimRequest(
            id=_identifier(key), subject=name, quantity=key.replace("_", " "), path=RESULTS,
            pointer=f"/{place}/value", unit=quantity.unit,
            decimals=max(-12, min(15, _DIGITS - 1 - exponent)) if quantity.value % 1 else 0,
            tolerance=value * _RELATIVE_TOLERANCE,
            uncertainty_pointer=None if quantity.uncertainty is None else f"/{place}/uncertainty",
        )  # fmt: skip


def _identifier(key: str) -> str:
    return "result." + (re.sub(r"[^a-z0-9_.\-]", "_", key.lower()) or "_")


def _parts(layout: Layout, made: Made, parameters: Mapping[str, Any]) -> Iterator[str]:
    yield f"Status: **{made.status}**."
    yield from _failure(made.error)
    if made.metrics:
        yield "## Results\n\n{{claims:result.}}"
    yield "## Parameters"
    yield f"```json\n{json.dumps(parameters, indent=1, ensure_ascii=False)}\n```"
    yield f"All cells with their outputs stand in [{RECORD}]({RECORD})."
    for run in sorted((layout / FILES).rglob(JOURNAL)):
        place = run.parent.relative_to(layout.root).as_posix()
        yield f"The notebook made a run of its own, with [its report]({place}/{REPORT_HTML})."


def _failure(error: ErrorRecord | None) -> Iterator[str]:
    if error is not None:
        yield f"It failed (`{error.kind}`):"
        yield literal(f"{error.message} {error.remedy}".strip())

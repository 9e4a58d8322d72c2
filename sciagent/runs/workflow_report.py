"""The report of a run of a workflow notebook: its numbers as claims, verified and sealed."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sciagent.contracts.claim import ClaimRequest, ReportRequest
from sciagent.contracts.errors import ErrorRecord
from sciagent.execution.attempts import AttemptTask, Made
from sciagent.execution.workflow import FILES, nested_runs
from sciagent.reports.assemble import assemble
from sciagent.reports.escaping import code
from sciagent.reports.notebooks import workflow_notebook, written
from sciagent.reports.render import write_reports
from sciagent.reports.verify import save_verification, verify
from sciagent.runs.answering import asked_question, literal
from sciagent.runs.finishing import make_names_readable
from sciagent.runs.given import decimals_of, tolerance_of
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.content import sha256_of_file
from sciagent.workspace.crate import write_crate
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import NOTEBOOK, RECORD, REPORT_HTML, RESULTS, Layout
from sciagent.workspace.seal import seal

_IMAGES = frozenset({".gif", ".jpeg", ".jpg", ".pdf", ".png", ".svg"})


def publish_workflow(
    layout: Layout,
    task: AttemptTask,
    made: Made,
    parameters: Mapping[str, Any],
    journal: JournalFile,
) -> None:
    """Write the report with all that belongs to it, verify it, and seal the run."""
    root = layout.root
    make_names_readable(root, journal)
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
    taken: set[str] = set()
    for key, quantity in made.metrics.items():
        place = key.replace("~", "~0").replace("/", "~1")
        yield ClaimRequest(
            id=_identifier(key, taken), subject=name, quantity=key.replace("_", " "), path=RESULTS,
            pointer=f"/{place}/value", unit=quantity.unit,
            decimals=decimals_of(quantity.value),
            tolerance=tolerance_of(quantity.value),
            uncertainty_pointer=None if quantity.uncertainty is None else f"/{place}/uncertainty",
        )  # fmt: skip


def _identifier(key: str, taken: set[str]) -> str:
    """Make an identifier of a name; names that differ in signs or case alone are numbered."""
    first = identifier = "result." + (re.sub(r"[^a-z0-9_.\-]", "_", key.lower()) or "_")
    while identifier in taken:
        identifier = f"{first}_{len(taken)}"
    taken.add(identifier)
    return identifier


def _parts(layout: Layout, made: Made, parameters: Mapping[str, Any]) -> Iterator[str]:
    yield f"Status: **{made.status}**."
    yield from _failure(made.error)
    if made.metrics:
        yield "## Results\n\n{{claims:result.}}"
    # A brace written by its number is the same JSON, and begins no token.
    given = json.dumps(parameters, indent=1, ensure_ascii=False).replace("{{", "{\\u007b")
    yield f"## Parameters\n\n```json\n{given}\n```"
    yield f"All cells with their outputs stand in [{RECORD}]({RECORD})."
    runs = nested_runs(layout / FILES)
    yield from _figures(layout, runs)
    for run in runs:
        report = quote((run / REPORT_HTML).relative_to(layout.root).as_posix())
        state = "is in order" if verify(run).ok else "is **not** in order"
        yield (
            f"The notebook made a run of its own, with [its report]({report}); "
            f"by its own verification that run {state}."
        )


def _figures(layout: Layout, runs: Sequence[Path]) -> Iterator[str]:
    """List the images that the notebook drew; those of its runs stand in their reports."""
    files = layout / FILES
    drawn = [
        path.relative_to(layout.root).as_posix()
        for path in sorted(files.rglob("*"))
        if path.suffix.lower() in _IMAGES and path.is_file()
        if not any(run in path.parents for run in runs)
        if not any(part.startswith(".") for part in path.relative_to(files).parts)
    ]
    if drawn:
        yield "## Figures"
        yield "\n".join(f"- [{_named(path)}]({quote(path)})" for path in drawn)


def _named(path: str) -> str:
    """A name as code, so that digits in it are no numbers of the report."""
    return code(path.replace("{{", "{ {"))


def _failure(error: ErrorRecord | None) -> Iterator[str]:
    if error is not None:
        yield f"It failed (`{error.kind}`):"
        yield literal(f"{error.message} {error.remedy}".strip())

"""A run in words and tables: for `show` and `list`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from sciagent.cli.asking import usage_text
from sciagent.cli.progress import action_text
from sciagent.cli.session import STATUS_STYLES, quantity_text
from sciagent.contracts.run import RunSummary
from sciagent.contracts.tree import StudyRecord, Trial
from sciagent.runs.asking import AskSettings, ask_result, is_ask
from sciagent.tools.markup import cleaned

if TYPE_CHECKING:
    from sciagent.runs import Run


def runs_table(summaries: Sequence[RunSummary]) -> Table:
    """One row for each run."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("run", "status", "question", "dataset", "objective", "trials", "accepted"):
        table.add_column(heading, overflow="fold")
    for each in summaries:
        table.add_row(
            Text(each.run),
            Text(each.status, style=STATUS_STYLES[each.status]),
            Text(each.question),
            Text(each.dataset or ""),
            Text(objective_text(each)),
            Text(str(each.trials)),
            Text(str(each.accepted)),
        )
    return table


def objective_text(summary: RunSummary) -> str:
    """Name and best value of the objective."""
    if summary.objective is None:
        return ""
    if summary.best is None:
        return f"{summary.objective.metric} -"
    return f"{summary.objective.metric} {quantity_text(summary.best)}"


def summary_lines(run: "Run") -> Iterator[Text]:
    """What a run is, how it stands, and where its report lies."""
    summary = run.summary
    reason = "" if is_ask(run.request) and summary.sealed else summary.reason
    head = Text(f"{summary.run}: ", style="bold").append(
        summary.status, style=STATUS_STYLES[summary.status]
    )
    yield head.append(f": {reason}" if reason else "", style="not bold")
    if is_ask(run.request):
        yield from _ask_lines(run)
        return
    source = f" (dataset {summary.dataset})" if summary.dataset else ""
    yield Text(f"question   {summary.question}{source}")
    yield Text(f"started    {summary.started}")
    yield Text(f"objective  {objective_text(summary) or 'not known yet'}")
    yield Text(
        f"trials     {summary.trials}: {summary.accepted} accepted, {summary.rejected} rejected"
    )
    yield Text(f"verified   {_verified(run)}")
    report = report_of(run)
    yield Text(f"report     {report or 'not written yet'}")


def _ask_lines(run: "Run") -> Iterator[Text]:
    """What an agent was asked, where it stands, and what it says."""
    settings, result = AskSettings.model_validate(run.request.settings), ask_result(run)
    yield Text(f"question   {cleaned(settings.question)}")
    yield Text(f"model      {settings.endpoint.model} at {settings.endpoint.base_url}")
    yield Text(f"started    {run.summary.started}")
    yield Text(f"used       {usage_text(result)}")
    yield Text(f"verified   {_verified(run)}")
    yield Text(f"report     {report_of(run) or 'not written yet'}")
    if result.answer:
        yield Text(f"answer     {cleaned(result.answer)}")


def report_of(run: "Run") -> Path | None:
    """The report, if it was written."""
    return run.report if run.report.is_file() else None


def _verified(run: "Run") -> str:
    verification = run.verification
    if verification is None:
        return f"never; check it with: sciagent verify {run.path} --rerun"
    word = "ok" if verification.ok else "NOT ok"
    how = "run again" if verification.rerun else "compared with their evidence"
    return f"{word}: {verification.claims} claims {how} at {verification.time}"


def path_of(study: StudyRecord) -> list[Trial]:
    """Accepted trials from the first to the one whose result is reported."""
    by_number = {trial.number: trial for trial in study.trials}
    number = study.conclusion.best if study.conclusion else study.best
    path: list[Trial] = []
    while number is not None:
        path.append(by_number[number])
        number = path[-1].proposal.parent
    return path[::-1]


def path_lines(study: StudyRecord) -> Iterator[str]:
    """The accepted path of a study, a line for each trial."""
    path = path_of(study)
    if path:
        yield f"accepted path of {study.question}:"
    for trial in path:
        outcome = trial.outcome
        measured = outcome.metrics.get(study.objective.metric) if outcome else None
        value = f": {study.objective.metric} {quantity_text(measured)}" if measured else ""
        yield f"  {trial.number:>4}  {action_text(trial.proposal.action)}{value}"


def trial_lines(trial: Trial) -> Iterator[str]:
    """Everything about one trial: why it was tried, what came of it, how it was judged."""
    proposal = trial.proposal
    origin = "the start" if proposal.parent is None else f"trial {proposal.parent}"
    yield f"trial {trial.number}, from {origin}: {action_text(proposal.action)}"
    for name in ("rationale", "hypothesis", "expected"):
        text = getattr(proposal, name)
        if text:
            yield f"{name}: {text}"
    yield from _outcome_lines(trial)
    if trial.decision is not None:
        yield f"{trial.decision.verdict}: {'; '.join(trial.decision.reasons)}".rstrip(": ")
        for check in trial.decision.checks:
            word = "passed" if check.passed else "failed"
            kind = "" if check.hard else " (not binding)"
            yield f"  check {check.name} {word}{kind}: {check.detail}"
    if trial.invalidated is not None:
        yield f"no longer counts: {trial.invalidated}"


def _outcome_lines(trial: Trial) -> Iterator[str]:
    outcome = trial.outcome
    if outcome is None:
        yield "no outcome yet"
        return
    yield f"{outcome.status} after {outcome.wall_s:.2f} s ({outcome.cpu_s:.2f} CPU s)"
    if outcome.error is not None:
        yield f"  {outcome.error.kind}: {outcome.error.message} {outcome.error.remedy}".rstrip()
    if outcome.correction is not None:
        yield f"  proposed correction: {action_text(outcome.correction)}"
    for name, quantity in outcome.metrics.items():
        yield f"  {name} = {quantity_text(quantity)}"
    yield from (f"  {note}" for note in outcome.notes)
    yield from (f"  file {file.path} ({file.size_bytes} B)" for file in outcome.files)

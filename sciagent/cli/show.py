"""``sciagent show``: a run, finished or not, at a glance."""

from typing import TYPE_CHECKING, Annotated

import typer

from sciagent.cli.options import JsonOption, RunArgument, examples
from sciagent.cli.places import located

if TYPE_CHECKING:
    from sciagent.contracts.tree import Trial
    from sciagent.runs import Run

EXAMPLES = examples(
    "sciagent show artifacts/20260101-fluorapatite-1a2b3c",
    "sciagent show artifacts/20260101-fluorapatite-1a2b3c --trial 7",
    "sciagent show artifacts/20260101-fluorapatite-1a2b3c --events 50",
)


def show(
    run: RunArgument,
    trial: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Show this trial instead: its reasons, metrics and checks.",
            show_default=False,
        ),
    ] = None,
    events: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many of the last events to show.")
    ] = 5,
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Show how a run stands, its accepted path, its last events and where its report is."""
    from sciagent import runs
    from sciagent.cli.streams import results, write_json
    from sciagent.cli.summary import trial_lines

    opened = runs.open_run(located(run))
    if trial is not None:
        found = _trial(opened, trial)
        if as_json:
            write_json(found.model_dump(mode="json"))
        else:
            for line in trial_lines(found):
                results().print(line)
    elif as_json:
        write_json(_as_json(opened))
    else:
        _print(opened, events)


def _print(run: "Run", events: int) -> None:
    from sciagent.cli.event_lines import event_line
    from sciagent.cli.streams import results
    from sciagent.cli.summary import path_lines, summary_lines

    console = results()
    for text in summary_lines(run):
        console.print(text)
    for study in run.studies:
        for line in path_lines(study):
            console.print(line)
    last = run.last_events(events)
    if last:
        console.print("last events:")
    for event in last:
        console.print(event_line(event))


def _as_json(run: "Run") -> dict[str, object]:
    from sciagent.cli.summary import path_of, report_of
    from sciagent.runs import ask_result, is_ask

    verification, report = run.verification, report_of(run)
    answered = {"ask": ask_result(run).model_dump(mode="json")} if is_ask(run.request) else {}
    return {
        **answered,
        "summary": run.summary.model_dump(mode="json"),
        "result": run.result.model_dump(mode="json"),
        "accepted_path": [[trial.number for trial in path_of(study)] for study in run.studies],
        "verified": verification.ok if verification else None,
        "report": str(report) if report else None,
    }


def _trial(run: "Run", number: int) -> "Trial":
    from sciagent.contracts.errors import InputError

    trials = {trial.number: trial for study in run.studies for trial in study.trials}
    if number not in trials:
        raise InputError(
            f"The run {run.name} has no trial {number}.",
            f"Its trials are 1 to {max(trials)}." if trials else "It has no trials yet.",
        )
    return trials[number]

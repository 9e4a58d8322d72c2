"""``sciagent batch``: run a campaign."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciagent.cli.live_line import LiveLine
from sciagent.cli.options import JsonOption, OutOption, QuietOption, examples
from sciagent.cli.places import RUNS_FOLDER

if TYPE_CHECKING:
    from sciagent.runs.campaign import Campaign
    from sciagent.runs.campaign_progress import CampaignProgress

EXAMPLES = examples(
    "sciagent batch campaign.yaml --dry-run",
    "sciagent batch campaign.yaml --parallel 4",
    "sciagent batch campaign.yaml --failed",
    "sciagent batch campaign.yaml --engine parsl --cluster slurm.py",
)


class EngineName(StrEnum):
    """What carries rows to where they run."""

    LOCAL = "local"
    PARSL = "parsl"


EngineOption = Annotated[
    EngineName, typer.Option(help="Where rows run: processes of this machine, or Parsl.")
]
ClusterOption = Annotated[
    Path | None,
    typer.Option(
        metavar="CONFIG.py", help="For Parsl: a file that defines its `config`.",
        show_default="this machine",
    ),
]  # fmt: skip


def batch(
    spec: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC.yaml", help="What is run with which parameters.", dir_okay=False,
            show_default=False,
        ),
    ],
    parallel: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Rows that run side by side.", show_default="as SPEC says"
        ),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Run failed rows again.")] = False,
    row: Annotated[
        list[int] | None,
        typer.Option("--row", metavar="N", min=1, help="Run this row only; again for more."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the rows; write and run nothing.")
    ] = False,
    state: Annotated[
        bool, typer.Option("--state", help="Show how the rows stand; run nothing.")
    ] = False,
    engine: EngineOption = EngineName.LOCAL,
    cluster: ClusterOption = None,
    out: OutOption = RUNS_FOLDER,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:  # fmt: skip
    """Run many rows of a workflow or a question, each in its own workspace.

    Rows that are finished are never run again: the same command goes on where
    an earlier one was stopped or killed. Ctrl-C lets the rows that are running
    come to their end; pressed again, it ends them.

    Exit codes: 0 all rows finished, 1 some failed, 2 bad input, 130 stopped.
    """
    from sciagent.runs.campaign import batch as run_batch
    from sciagent.runs.campaign import plan

    if dry_run or state:
        _present(plan(spec, out=out), as_json=as_json)
        return
    with _Watch(quiet=quiet) as watch:
        try:
            campaign = run_batch(
                spec, out=out, parallel=parallel, failed=failed, only=row or (),
                engine=engine.value, cluster=cluster, watcher=watch, interrupted=say_waiting,
            )  # fmt: skip
        except KeyboardInterrupt:
            _say_how_to_go_on(spec, out)
            raise typer.Exit(130) from None
    _present(campaign, as_json=as_json)
    raise typer.Exit(1 if campaign.progress.failed else 0)


class _Watch(LiveLine):
    """Shows how a campaign stands, on stderr."""

    def __call__(self, progress: "CampaignProgress") -> None:
        self.show(progress_text(progress))


def progress_text(progress: "CampaignProgress") -> str:
    """Say in some lines how a campaign stands and how long it will take."""
    ended = progress.count("finished", "failed")
    left = "" if progress.left_s is None or not progress.left_s else f", {_span(progress.left_s)}"
    failed = f", {progress.count('failed')} failed" if progress.failed else ""
    lines = [f"{ended} of {len(progress.rows)} rows ended{failed}{left}"]
    for row, state in progress.rows:
        if state.status == "running":
            at = state.progress
            cell = f" at cell {at.cell} of {at.cells}" if at and at.cells else ""
            lines.append(f"  row {row.number}{cell}, {state.running_s:.0f} s")
    return "\n".join(lines)


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"about {hours} h {minutes} min left"
    return f"about {minutes} min {rest} s left" if minutes else f"about {rest} s left"


def say_waiting(progress: "CampaignProgress") -> None:
    """Say which rows still run after the first Ctrl-C."""
    from sciagent.cli.streams import messages

    running = [str(row.number) for row, state in progress.rows if state.status == "running"]
    what = f"Waiting for row{'s' if len(running) > 1 else ''} {', '.join(running)} to end"
    messages().print(f"{what}; press Ctrl-C again to end them at once.", soft_wrap=True)


def _say_how_to_go_on(spec: Path, out: Path) -> None:
    from sciagent.cli.streams import messages

    where = "" if out == RUNS_FOLDER else f" --out {shlex.quote(str(out))}"
    command = f"sciagent batch {shlex.quote(str(spec))}{where}"
    text = f"Stopped. Rows that had finished are kept; go on with: {command}"
    messages().print(text, soft_wrap=True)


def _present(campaign: "Campaign", *, as_json: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from sciagent.cli.streams import results, write_json

    progress = campaign.progress
    if as_json:
        write_json(_as_json(campaign, progress))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("row", "given", "status", "found"):
        table.add_column(heading, overflow="fold")
    for row, state in progress.rows:
        given = " ".join(f"{name}={value}" for name, value in row.shown.items())
        table.add_row(str(row.number), Text(given), state.status, Text(_found(state)))
    console = results()
    console.print(table, soft_wrap=False)
    for row, state in progress.failed:
        error = state.result.error if state.result else None
        if error is not None:
            console.print(f"row {row.number}: {error.message} {error.remedy}".rstrip())
    if progress.failed:
        console.print("run failed rows again with: --failed")
    report = campaign.path / "report.html"
    if report.is_file():
        console.print(f"report: {report}")


def _found(state: Any) -> str:
    from sciagent.contracts.units import symbol

    result = state.result
    if result is None:
        return ""
    if result.error is not None:
        return str(result.error.kind)
    name = result.objective or next(iter(result.metrics), "")
    quantity = result.metrics.get(name)
    return f"{name} {quantity.value:.5g} {symbol(quantity.unit)}".rstrip() if quantity else ""


def _as_json(campaign: "Campaign", progress: "CampaignProgress") -> dict[str, Any]:
    return {
        "campaign": str(campaign.path),
        "left_s": progress.left_s,
        "rows": [
            {
                "row": row.number,
                "id": row.id,
                "given": row.shown,
                "status": state.status,
                "attempts": state.attempts,
                "result": state.result.model_dump(mode="json") if state.result else None,
            }
            for row, state in progress.rows
        ],
    }

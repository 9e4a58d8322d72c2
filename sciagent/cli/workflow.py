"""``sciagent run NOTEBOOK.ipynb``: run a workflow notebook as a run of its own."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from sciagent.cli.failures import FAILURE, STOPPED
from sciagent.cli.session import STATUS_STYLES, quantity_text
from sciagent.cli.streams import messages, results, write_json
from sciagent.contracts.events import Event, Noted, RunStarted
from sciagent.contracts.quantity import Quantity
from sciagent.workspace.layout import RESULTS

if TYPE_CHECKING:
    from sciagent.runs import Run


class CellDisplay:
    """Says on stderr how each cell ended."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self.run = ""

    def __call__(self, event: Event) -> None:
        """Take an event in."""
        if isinstance(event.body, RunStarted):
            self.run = event.body.run
        elif isinstance(event.body, Noted) and not self._quiet:
            messages().print(Text(event.body.text), soft_wrap=True)


def run_workflow_notebook(
    notebook: str,
    settings: Sequence[str] | None,
    inputs: Sequence[str] | None,
    out: Path,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run a notebook, show its progress, and exit with the code for what it came to."""
    from sciagent import runs
    from sciagent.cli.assignments import input_paths, setting_values

    display = CellDisplay(quiet=quiet)
    try:
        run = runs.run_notebook(
            notebook, parameters=setting_values(settings or (), {}),
            inputs=input_paths(inputs or ()), out=out, observer=display,
        )  # fmt: skip
    except KeyboardInterrupt:
        say_stopped(out / display.run if display.run else None)
        raise typer.Exit(STOPPED) from None
    conclude_workflow(run, as_json=as_json)


def say_stopped(run: Path | None) -> None:
    """Say how a stopped notebook is run again."""
    if run is None:
        text = Text("Stopped before the run began: nothing was written.", style="yellow")
    else:
        text = Text("Stopped. Run the notebook again from its beginning with: ", style="yellow")
        text.append(f"sciagent resume {shlex.quote(str(run))}", style="bold")
    messages().print(text, soft_wrap=True)


def conclude_workflow(run: "Run", *, as_json: bool) -> None:
    """Say what a notebook came to, and exit with the code for it."""
    status, found = run.summary.status, _results(run.path)
    if as_json:
        shown: dict[str, Any] = {name: each.model_dump(mode="json") for name, each in found.items()}
        write_json({"run": str(run.path), "status": status, "results": shown})
    else:
        console = results()
        console.print(Text(status, style=STATUS_STYLES[status]))
        for name, quantity in found.items():
            console.print(f"{name} = {quantity_text(quantity)}", soft_wrap=True)
        console.print(f"report: {run.report}", soft_wrap=True)
        command = f"sciagent verify {shlex.quote(str(run.path))} --rerun"
        console.print(f"check it with: {command}", soft_wrap=True)
    if status in {"stopped", "running"}:
        say_stopped(run.path)
        raise typer.Exit(STOPPED)
    raise typer.Exit(0 if status in {"completed", "abstained"} else FAILURE)


def _results(path: Path) -> dict[str, Quantity]:
    if not (path / RESULTS).is_file():
        return {}
    content = json.loads((path / RESULTS).read_text(encoding="utf-8"))
    return {name: Quantity.model_validate(each) for name, each in content.items()}

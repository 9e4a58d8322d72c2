"""A session of work on a run: watch it, then say what it came to (`run` and `resume`)."""

import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from sciagent.cli.display import ProgressDisplay
from sciagent.cli.failures import FAILURE, LIMIT, STOPPED
from sciagent.cli.streams import messages, results, write_json
from sciagent.contracts.events import Event
from sciagent.contracts.ports import Observer
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.run import RunResult
from sciagent.contracts.study import Budget
from sciagent.contracts.units import SYMBOLS, symbol

if TYPE_CHECKING:
    from sciagent.runs import Run

STATUS_STYLES = {
    "completed": "bold green",
    "abstained": "bold yellow",
    "limit": "bold yellow",
    "stopped": "bold yellow",
    "running": "bold cyan",
    "failed": "bold red",
}


def watched(
    start: Callable[[Observer | None], "Run"],
    place: Callable[[str], Path],
    *,
    quiet: bool,
    live: bool = True,
    earlier: Iterable[Event] = (),
    budget: Budget | None = None,
) -> "Run":
    """Run under a progress display; after Ctrl-C say how to resume, and exit with 130.

    Parameters
    ----------
    start
        Starts the run with the observer it is given, and returns when it has ended.
    place
        Gives the workspace's path from the run's name.
    quiet
        Whether to show nothing.
    live
        Whether a terminal may be redrawn.
    earlier
        Events of earlier sessions.
    budget
        Replaces the budget of earlier sessions.
    """
    display = ProgressDisplay(messages(), live=live and not quiet)
    for event in earlier:
        display.remember(event)
    if budget is not None:
        display.progress.budget = budget
    try:
        with display:
            return start(display.remember if quiet else display)
    except KeyboardInterrupt:
        _say_how_to_resume(place, display.progress.run)
        raise typer.Exit(STOPPED) from None


def _say_how_to_resume(place: Callable[[str], Path], run: str) -> None:
    console = messages()
    if not run:
        console.print(Text("Stopped before the run began: nothing was written.", style="yellow"))
        return
    command = f"sciagent resume {shlex.quote(str(place(run)))}"
    text = Text("Stopped. Nothing that had finished is lost; go on with: ", style="yellow")
    console.print(text.append(command, style="bold"), soft_wrap=True)


def conclude(run: "Run", *, as_json: bool) -> None:
    """Say what a run came to, and exit with the code for it."""
    result = run.result
    if as_json:
        write_json(result.model_dump(mode="json"))
    else:
        _print_result(result, run.path)
    code = code_of(result)
    if code == STOPPED:
        _say_how_to_resume(lambda _: run.path, run.path.name)
    raise typer.Exit(code)


def code_of(result: RunResult) -> int:
    """Exit code of a run: a budget's end is no error if there is a result."""
    if result.status in {"completed", "abstained"}:
        return 0
    if result.status == "limit":
        return 0 if result.objective.value is not None else LIMIT
    return STOPPED if result.status in {"stopped", "running"} else FAILURE


def quantity_text(quantity: Quantity) -> str:
    """A measured value as people read it: four digits, uncertainty, unit."""
    text = f"{quantity.value:.6g}"
    if quantity.uncertainty is not None:
        text += f" ± {quantity.uncertainty:.2g}"
    return f"{text} {symbol(quantity.unit)}".rstrip()


def _print_result(result: RunResult, path: Path) -> None:
    console = results()
    console.print(Text(result.status, style=STATUS_STYLES[result.status]).append(
        f": {result.reason}" if result.reason else "", style="not bold default"
    ))  # fmt: skip
    value = result.objective.value
    unit = SYMBOLS.get(result.objective.unit, result.objective.unit)
    reached = "no trial was accepted" if value is None else f"{value:.6g} {unit}".rstrip()
    console.print(f"{result.objective.name}: {reached}")
    console.print(f"{result.trials} trials: {result.accepted} accepted, {result.rejected} rejected")
    report = path / "report.html"
    if report.is_file():
        console.print(f"report: {report}")
        console.print(f"check it with: sciagent verify {shlex.quote(str(path))} --rerun")
    else:
        console.print(f"workspace: {path}")

"""Progress on the screen: a live tree on a terminal, plain lines elsewhere."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from sciagent.cli.progress import Progress, State, TrialRow, action_text
from sciagent.contracts.events import Event, Sealed, StudyConcluded, TrialDecided, TrialInvalidated

ROWS = 12
"""Trials that the live display shows."""

ACTION_WIDTH = 40
"""Characters of an action that the live display shows."""

MARKS: dict[State, tuple[str, str]] = {
    "proposed": ("·", "dim"),
    "running": ("▸", "cyan"),
    "finished": ("▸", "cyan"),
    "accepted": ("✓", "green"),
    "rejected": ("✗", "red"),
    "superseded": ("·", "dim"),
    "invalid": ("✗", "magenta"),
}

Clock = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


class ProgressDisplay:
    """Shows each event of a run on a console; used as the observer of the run.

    Parameters
    ----------
    console
        Where to show it. On a terminal one block is redrawn; elsewhere there is one line for
        each decided trial.
    live
        Whether a terminal may be redrawn; no if questions are asked on it.
    clock
        Gives the time, with its zone.
    """

    def __init__(self, console: Console, *, live: bool = True, clock: Clock = _now) -> None:
        self.progress = Progress()
        self._console = console
        self._clock = clock
        self._warned = 0
        self._live = (
            Live(
                console=console, get_renderable=self._block, refresh_per_second=4,
                redirect_stdout=False, redirect_stderr=False,
            )
            if live and console.is_terminal
            else None
        )  # fmt: skip

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def remember(self, event: Event) -> None:
        """Take in an event of an earlier session without showing it."""
        self.progress.apply(event)
        self._warned = len(self.progress.warnings)

    def __call__(self, event: Event) -> None:
        """Take in an event that was just written, and show it."""
        self.progress.apply(event)
        for warning in self.progress.warnings[self._warned :]:
            self._console.print(Text(f"warning: {warning}", style="yellow"), soft_wrap=True)
        self._warned = len(self.progress.warnings)
        if self._live is None:
            line = plain_line(self.progress, event)
            if line:
                self._console.print(Text(line), soft_wrap=True)

    def _block(self) -> RenderableType:
        return block(self.progress, self._clock())


def block(progress: Progress, now: datetime) -> RenderableType:
    """Draw the whole state: headline, the last trials, and the best so far."""
    rows = sorted(progress.trials.values(), key=lambda row: row.number)
    parts = [_headline(progress, now)]
    if len(rows) > ROWS:
        parts.append(Text(f"… {len(rows) - ROWS} earlier trials", style="dim"))
    parts += _aligned([_cells(progress, row) for row in rows[-ROWS:]])
    parts.append(_footline(progress))
    for line in parts:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Group(*parts)


def _aligned(rows: list[list[Text]]) -> list[Text]:
    """Join the cells of each row so that columns align; what is too wide loses its end."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = [
            cell + Text(" " * (width - len(cell)))
            for cell, width in zip(row, widths, strict=True)
            if width
        ]
        line = Text("  ").join(padded)
        line.rstrip()
        lines.append(line)
    return lines


def _cells(progress: Progress, row: TrialRow) -> list[Text]:
    mark, style = MARKS[row.state]
    on_path = row.state == "accepted"
    action = Text(action_text(row.action), style="" if on_path else "dim")
    action.truncate(ACTION_WIDTH, overflow="ellipsis")
    return [
        Text(mark if on_path else f"│ {mark}", style=style),
        Text(f"{row.number:>3}", style="bold" if on_path else ""),
        Text(f"from {row.parent}" if row.parent is not None else "start", style="dim"),
        action,
        Text(progress.objective_text(row)),
        Text(_change_text(row), style=style),
        Text("running" if row.state == "running" else row.reason, style="dim"),
    ]


def _headline(progress: Progress, now: datetime) -> Text:
    text = Text(progress.run or progress.question, style="bold")
    for part in (_duration(progress.elapsed_s(now)), *_budget_left(progress, now)):
        text.append(f"  ·  {part}", style="not bold")
    return text


def _footline(progress: Progress) -> Text:
    if progress.conclusion and not progress.sealed:
        return Text(f"{progress.conclusion} Writing the report.", style="bold")
    counts = f"{progress.count('accepted')} accepted, {progress.count('rejected')} rejected"
    if progress.best is None:
        return Text(f"no trial accepted yet  ·  {counts}", style="dim")
    best = f"best: trial {progress.best.number}, {progress.objective_text(progress.best)}"
    return Text.assemble((best, "bold"), (f"  ·  {counts}", "dim"))


def _budget_left(progress: Progress, now: datetime) -> list[str]:
    budget, left = progress.budget, []
    if progress.trials_left is not None:
        left.append(f"{progress.trials_left} trials left")
    if budget.cpu_s is not None:
        left.append(f"{max(budget.cpu_s - progress.cpu_s, 0.0):.0f} CPU s left")
    if budget.wall_s is not None:
        left.append(f"{max(budget.wall_s - progress.elapsed_s(now), 0.0):.0f} s left")
    return left


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _change_text(row: TrialRow) -> str:
    return "" if row.change is None else f"{row.change:+.3g}"


def plain_line(progress: Progress, event: Event) -> str:
    """One line about an event that people wait for; empty for any other."""
    body = event.body
    if isinstance(body, TrialDecided):
        return _decided_line(progress, progress.trials[body.trial])
    if isinstance(body, TrialInvalidated):
        return f"trial {body.trial} and what descends from it no longer count: {body.reason}"
    if isinstance(body, StudyConcluded):
        return progress.conclusion
    if isinstance(body, Sealed):
        return f"sealed with {len(body.files)} files"
    return ""


def _decided_line(progress: Progress, row: TrialRow) -> str:
    origin = f" from {row.parent}" if row.parent is not None else ""
    parts = [f"trial {row.number}{origin} {row.state}", action_text(row.action)]
    if row.value is not None:
        change = f" ({_change_text(row)})" if row.change is not None else ""
        parts.append(progress.objective_text(row) + change)
    if row.state != "accepted" and row.reason:
        parts.append(row.reason)
    left = "" if progress.trials_left is None else f" [{progress.trials_left} trials left]"
    return ": ".join(parts) + left

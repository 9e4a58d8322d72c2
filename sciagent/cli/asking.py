"""A session with an agent: show it, answer its questions, stop it, say what it came to."""

import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Flag
from types import FrameType
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from sciagent.cli.approval import TerminalApproval, nobody_at_the_terminal
from sciagent.cli.conversation import ConversationDisplay
from sciagent.cli.failures import FAILURE, LIMIT, STOPPED
from sciagent.cli.session import STATUS_STYLES
from sciagent.cli.streams import messages, results, write_json
from sciagent.contracts.events import Event
from sciagent.contracts.run import AskResult
from sciagent.runs.surroundings import Surroundings
from sciagent.tools.markup import cleaned

if TYPE_CHECKING:
    from sciagent.runs import Run


@dataclass(frozen=True, slots=True)
class Ground:
    """What the code of agents may read and change, and whether it may run unconfined."""

    readable: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    allow_unsandboxed: bool = False

    @classmethod
    def of(
        cls, readable: list[Path] | None, folders: list[Path] | None, allow_unsandboxed: bool
    ) -> "Ground":
        """Take the options of the command line."""
        return cls(tuple(readable or ()), tuple(folders or ()), allow_unsandboxed)


_NOTHING = Ground()


@contextmanager
def asking(
    *, quiet: bool, earlier: Iterable[Event] = (), ground: Ground = _NOTHING
) -> Iterator[Surroundings]:
    """Make what surrounds an agent that works for the person at this terminal.

    Parameters
    ----------
    quiet
        Whether to show nothing; questions are asked nevertheless.
    earlier
        Events of earlier sessions.
    ground
        What code may read and change.
    """
    console = messages()
    display = ConversationDisplay(console, quiet=quiet)
    for event in earlier:
        display.remember(event)
    with stopping_on_interrupt() as stopped:
        answers = TerminalApproval(console, stopped, display.alone)
        yield Surroundings(
            ask_approval=answers if sys.stdin.isatty() else nobody_at_the_terminal,
            heard=display.heard,
            observer=display,
            cancelled=stopped,
            readable=tuple(path.resolve() for path in ground.readable),
            folders=ground.folders,
            allow_unsandboxed=ground.allow_unsandboxed,
        )


@contextmanager
def stopping_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C ask for a clean stop, and only the second one break off.

    Agents work in several threads, which an exception in one of them would not end.
    """
    stopped = Flag()

    def note(_signal: int, _frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stopped.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def conclude_ask(run: "Run", *, as_json: bool) -> None:
    """Say what an agent came to, and exit with the code for it."""
    from sciagent import runs

    result = runs.ask_result(run)
    if as_json:
        write_json(result.model_dump(mode="json"))
    else:
        _print_result(run, result)
    code = code_of(result)
    if code == STOPPED:
        text = Text("Stopped. Nothing that had finished is lost; go on with: ", style="yellow")
        command = f"sciagent resume {shlex.quote(str(run.path))}"
        messages().print(text.append(command, style="bold"), soft_wrap=True)
    raise typer.Exit(code)


def code_of(result: AskResult) -> int:
    """Exit code of a question: a budget's end is no error if there are claims."""
    if result.status == "limit":
        return 0 if result.claims else LIMIT
    if result.status in {"stopped", "running"}:
        return STOPPED
    return 0 if result.status == "completed" else FAILURE


def _print_result(run: "Run", result: AskResult) -> None:
    console = results()
    shown_already = console.is_terminal and messages().is_terminal
    if result.answer and not (shown_already and result.status == "completed"):
        console.print(cleaned(result.answer))
        console.print()
    console.print(Text(result.status, style=STATUS_STYLES[result.status]))
    console.print(usage_text(result))
    if run.report.is_file():
        console.print(f"report: {run.report}")
        console.print(f"check it with: sciagent verify {shlex.quote(str(run.path))} --rerun")
    else:
        console.print(f"workspace: {run.path}")


def usage_text(result: AskResult) -> str:
    """What an agent used and left, in one line."""
    usage = result.usage
    cost = f", {usage.cost_usd:.4f} USD" if usage.cost_usd else ""
    return (
        f"{result.turns} turns, {usage.prompt_tokens} tokens read ({usage.cached_tokens} cached), "
        f"{usage.completion_tokens} written{cost}; {result.trials} trials, {result.claims} claims"
    )

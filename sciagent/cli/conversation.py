"""An agent's work on the screen: its words as they come, its tools, its trials."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from rich.console import Console
from rich.text import Text

from sciagent.cli.conversation_rows import MAIN, rows_of
from sciagent.cli.display import plain_line
from sciagent.cli.progress import Progress
from sciagent.contracts.conversation import ToolCall
from sciagent.contracts.events import Event, MessageAdded
from sciagent.tools.markup import cleaned

_STYLES = {"content": "", "reasoning": "dim italic"}


class ConversationDisplay:
    """Shows an agent's work; its methods are given to a run as those who are told.

    On a terminal the words of the main agent are written as they arrive. Elsewhere there are only
    whole lines. Agents may speak from several threads.

    Parameters
    ----------
    console
        Where to show it.
    quiet
        Show nothing.
    """

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self.progress = Progress()
        self._console = console
        self._quiet = quiet
        self._streams = console.is_terminal and not quiet
        self._calls: dict[str, ToolCall] = {}
        self._channel = ""
        self._warned = 0
        self._waiting: list[Text] | None = None
        self._writing = RLock()

    @property
    def streams(self) -> bool:
        """Whether the words of the agent are shown as they arrive."""
        return self._streams

    def remember(self, event: Event) -> None:
        """Take in an event of an earlier session without showing it."""
        self.progress.apply(event)
        self._warned = len(self.progress.warnings)
        rows_of(event, self._calls, begun=False)

    def heard(self, channel: str, text: str) -> None:
        """Show a piece of an answer."""
        if not self._streams:
            return
        with self._writing:
            if channel == "again":
                self._print(Text("The answer begins anew.", style="yellow"))
                return
            if channel != self._channel:
                self._end_line()
                self._channel = channel
            piece = Text(cleaned(text), style=_STYLES.get(channel, ""))
            self._console.print(piece, end="", soft_wrap=True)

    def __call__(self, event: Event) -> None:
        """Take in an event that was just written, and show it."""
        with self._writing:
            self.progress.apply(event)
            for warning in self.progress.warnings[self._warned :]:
                self._print(Text(f"warning: {cleaned(warning)}", style="yellow"))
            self._warned = len(self.progress.warnings)
            self._show_words(event)
            for row in rows_of(event, self._calls, begun=self._streams):
                self._print(row)
            if line := plain_line(self.progress, event):
                self._print(Text(f"  {line}"))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold everything back while the ``with`` block runs; it is shown at its end."""
        with self._writing:
            self._end_line()
            self._waiting = []
        try:
            yield
        finally:
            with self._writing:
                rows, self._waiting = self._waiting or [], None
                for row in rows:
                    self._print(row)

    def _show_words(self, event: Event) -> None:
        """Where nothing is streamed, show what the main agent says besides its calls."""
        body = event.body
        if not isinstance(body, MessageAdded) or event.span != MAIN or self._streams:
            return
        message = body.message
        if message.role == "assistant" and message.tool_calls and message.content.strip():
            self._print(Text(cleaned(message.content.strip())))

    def _print(self, row: Text) -> None:
        if self._quiet:
            return
        if self._waiting is not None:
            self._waiting.append(row)
            return
        self._end_line()
        self._console.print(row, soft_wrap=True)

    def _end_line(self) -> None:
        if self._channel:
            self._console.print()
            self._channel = ""

"""What is going on, in one place of stderr that is written over."""

from typing import TYPE_CHECKING, Self

from sciagent.cli.streams import messages

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live


class LiveLine:
    """Shows a text that changes, while the ``with`` block runs; nothing where there is no terminal.

    Parameters
    ----------
    quiet
        Whether to show nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._live: Live | None = None

    def __enter__(self) -> Self:
        from rich.live import Live

        if not self._quiet and messages().is_terminal:
            self._live = Live(console=messages(), transient=True, auto_refresh=False)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, text: "RenderableType") -> None:
        """Put a text in the place of the last one."""
        if self._live is not None:
            self._live.update(text, refresh=True)

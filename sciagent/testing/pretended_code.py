"""A kernel that runs nothing and answers what a test told it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from sciagent.contracts.ports import CodeResult

Script = Callable[[str], CodeResult]
"""What a cell comes to, from its code."""


def prints(output: str) -> CodeResult:
    """Make the result of a cell that printed something."""
    return CodeResult(status="ok", output=output)


def nothing(code: str) -> CodeResult:
    """Answer that a cell of so many lines ran and printed nothing."""
    return CodeResult(status="ok", output=f"({len(code.splitlines())} lines ran)")


@dataclass(slots=True)
class PretendedCode:
    """Answers cells by a script (a `CodeRunner`); it may be used from several threads.

    Attributes
    ----------
    script
        What each cell comes to; it may write files, as real code would.
    root
        Where `files` are written.
    files
        Texts by path relative to `root`, written when a cell runs whose code holds the path.
    dies_at
        Cells, counted from 1, at which the kernel dies before it has done anything.
    cells
        The code of all cells so far, in order, those at which it died included.
    """

    script: Script = nothing
    root: Path | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    dies_at: frozenset[int] = frozenset()
    cells: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Answer a cell; a time limit below a second is taken as one that is reached."""
        with self._lock:
            self.cells.append(code)
            number = len(self.cells)
        if number in self.dies_at:
            return CodeResult(status="kernel_died", output="", cell=f"cell-{number}")
        if timeout_s is not None and timeout_s < 1.0:
            return CodeResult(status="timeout", output="", cell=f"cell-{number}")
        self._write(code)
        return self.script(code).model_copy(update={"cell": f"cell-{number}"})

    def for_agent(self, agent: str) -> "PretendedCode":  # noqa: ARG002 - one script for all
        """Answer other agents by the same script."""
        return self

    def _write(self, code: str) -> None:
        for path, text in self.files.items():
            if self.root is not None and path in code:
                place = self.root / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")

"""Where workspaces are made and looked for."""

from pathlib import Path

RUNS_FOLDER = Path("artifacts")
"""Folder of the runs, unless another is given."""


def located(run: str) -> Path:
    """Find a workspace by its path, or by its name in the folder of runs."""
    named = RUNS_FOLDER / run
    return named if named.is_dir() and not Path(run).exists() else Path(run)

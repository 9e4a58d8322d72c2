"""The two streams: results go to stdout, everything else to stderr."""

import json
from collections.abc import Mapping
from typing import Any

import typer
from rich.console import Console


def results() -> Console:
    """Console of what was asked for."""
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)


def messages() -> Console:
    """Console of progress, warnings and errors."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def write_json(content: Mapping[str, Any]) -> None:
    """Write one JSON object on one line of ASCII, whatever the terminal's encoding is."""
    typer.echo(json.dumps(content, allow_nan=False))

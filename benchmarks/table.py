"""The one language of all benchmarks: rows of figures, for people and for programs."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One measured figure, with what a peer reaches or what it must not exceed."""

    case: str
    figure: str
    value: float
    unit: str
    peer: str = ""
    peer_value: float | None = None


Measure = Callable[[bool], Sequence[Row]]
"""Measures everything; the argument asks for the quick version."""


def present(name: str, measure: Measure, arguments: Sequence[str] | None = None) -> int:
    """Measure and print: a table, or with ``--json`` one object on standard output."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}")
    parser.add_argument("--quick", action="store_true", help="end within a minute")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    rows = measure(options.quick)
    if options.json:
        content = {
            "benchmark": name,
            "environment": _environment(),
            "rows": [asdict(row) for row in rows],
        }
        print(json.dumps(content, indent=1))
    else:
        Console().print(_table(name, rows))
    return 0


def progress(text: str) -> None:
    """Say on standard error what is being measured."""
    print(text, file=sys.stderr, flush=True)


def _environment() -> dict[str, str]:
    return {
        "sciagent": version("sciagent"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu_count": str(os.cpu_count()),
    }


def _table(name: str, rows: Sequence[Row]) -> Table:
    table = Table(title=name)
    for heading in ("case", "figure"):
        table.add_column(heading)
    table.add_column("value", justify="right")
    table.add_column("unit")
    table.add_column("beside")
    table.add_column("value there", justify="right")
    for row in rows:
        beside = "" if row.peer_value is None else f"{row.peer_value:.4g}"
        table.add_row(row.case, row.figure, f"{row.value:.5g}", row.unit, row.peer, beside)
    return table

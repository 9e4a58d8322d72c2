"""``sciagent compare``: two runs side by side."""

from typing import TYPE_CHECKING, Annotated

import typer

from sciagent.cli.completion import complete_runs
from sciagent.cli.options import JsonOption, RunArgument, examples
from sciagent.cli.places import located

if TYPE_CHECKING:
    from rich.table import Table

    from sciagent.contracts.run import Comparison

EXAMPLES = examples("sciagent compare RUN OTHER", "sciagent compare RUN OTHER --all")


def compare(
    run: RunArgument,
    other: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="The run to compare with.", autocompletion=complete_runs,
            show_default=False,
        ),
    ],
    everything: Annotated[bool, typer.Option("--all", help="Show also what is equal.")] = False,
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Show in what two runs differ: settings, objective, metrics and claims."""
    from sciagent import runs
    from sciagent.cli.streams import results, write_json

    comparison = runs.compare(located(run), located(other))
    if as_json:
        write_json(comparison.model_dump(mode="json"))
        return
    console = results()
    different = sum(not row.equal for row in comparison.rows)
    if everything or different:
        console.print(_table(comparison, everything=everything), soft_wrap=False)
    console.print(f"{different} different, {len(comparison.rows) - different} equal")


def _table(comparison: "Comparison", *, everything: bool) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "", comparison.first, comparison.second):
        table.add_column(Text(heading), overflow="fold")
    for row in comparison.rows:
        if everything or not row.equal:
            style = "dim" if row.equal else ""
            cells = (row.group, row.name, row.first, row.second)
            table.add_row(*(Text(cell, style=style) for cell in cells))
    return table

"""``sciagent data``: the datasets that questions can be tried on."""

from typing import TYPE_CHECKING, Annotated

import typer

from sciagent.cli.completion import complete_datasets
from sciagent.cli.options import JsonOption, examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from sciagent.contracts.dataset import Dataset

LIST_EXAMPLES = examples("sciagent data list", "sciagent data list --json")
FETCH_EXAMPLES = examples("sciagent data fetch fluorapatite")

application = typer.Typer(
    help="List and fetch datasets.", no_args_is_help=True, rich_markup_mode="rich"
)


@application.command("list", epilog=LIST_EXAMPLES)
def list_datasets(as_json: JsonOption = False) -> None:
    """List the datasets: what each is, where it is from, and its licence.

    With --json, the object has one key, datasets.
    """
    from sciagent import datasets
    from sciagent.cli.streams import results, write_json

    known = datasets.list_datasets()
    if as_json:
        write_json({"datasets": [each.model_dump(mode="json") for each in known]})
    else:
        results().print(_table(known), soft_wrap=False)


@application.command("fetch", epilog=FETCH_EXAMPLES)
def fetch(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The dataset.", autocompletion=complete_datasets,
            show_default=False,
        ),
    ],
) -> None:  # fmt: skip
    """Make sure that the files of a dataset are here and whole, and print where they are."""
    from sciagent import datasets

    for input_name, paths in datasets.fetch(name).items():
        for path in paths:
            typer.echo(f"{input_name}={path}")


def _table(known: "Sequence[Dataset]") -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("dataset", "question", "kind", "title", "source", "licence"):
        table.add_column(heading, overflow="fold")
    for each in known:
        cells = (each.name, each.question, each.kind, each.title, each.source, each.licence)
        table.add_row(*(Text(cell) for cell in cells))
    return table

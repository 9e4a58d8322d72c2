"""``sciagent export``: a run as one file to hand on."""

from pathlib import Path
from typing import Annotated

import typer

from sciagent.cli.options import RunArgument, examples
from sciagent.cli.places import located

EXAMPLES = examples(
    "sciagent export artifacts/20260101-fluorapatite-1a2b3c",
    "sciagent export artifacts/20260101-fluorapatite-1a2b3c --to fluorapatite.zip",
)


def export(
    run: RunArgument,
    target: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="FILE", help="File to write.", show_default="beside the run, .zip"
        ),
    ] = None,
) -> None:
    """Write a run as a zipped RO-Crate."""
    from sciagent import runs

    typer.echo(str(runs.export(located(run), target)))

"""``sciagent export``: a run as one file to hand on, or the works that its report cites."""

from pathlib import Path
from typing import Annotated

import typer

from sciagent.cli.options import RunArgument, examples
from sciagent.cli.places import located

EXAMPLES = examples(
    "sciagent export artifacts/20260101-fluorapatite-1a2b3c",
    "sciagent export artifacts/20260101-fluorapatite-1a2b3c --to fluorapatite.zip",
    "sciagent export artifacts/20260101-apatites-4d5e6f --bibliography bibtex --to apatites.bib",
)


def export(
    run: RunArgument,
    target: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="FILE", help="File to write.", show_default="beside the run, .zip"
        ),
    ] = None,
    bibliography: Annotated[
        str | None,
        typer.Option(
            "--bibliography",
            metavar="STYLE",
            help="Write the works that the report cites instead, to stdout if no file is given: "
            "bibtex, csl-json, harvard1, or path of a .csl file.",
            show_default="the whole run",
        ),
    ] = None,
) -> None:
    """Write a run as a zipped RO-Crate, or the works that its report cites."""
    from sciagent import runs
    from sciagent.runs.exporting import export_bibliography

    if bibliography is None:
        typer.echo(str(runs.export(located(run), target)))
        return
    text = export_bibliography(located(run), bibliography, target)
    typer.echo(text if target is None else str(target), nl=target is not None)

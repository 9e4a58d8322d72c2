"""The typer application: which subcommands there are, in the order `--help` lists them."""

import sys
from typing import Annotated

import typer

from sciagent.cli import (
    ask,
    batch,
    compare,
    data,
    diff,
    doctor,
    evidence,
    export,
    library,
    resume,
    run,
    show,
    stop,
    verify,
)
from sciagent.cli import eval as eval_
from sciagent.cli import list as list_
from sciagent.cli.options import examples

EXAMPLES = examples(
    "sciagent data list",
    "sciagent run powder_diffraction/refine --dataset fluorapatite",
    'sciagent ask "Which R_wp does the dataset sc2au6 refine to?"',
    "sciagent list",
    "sciagent verify RUN --rerun",
)

application = typer.Typer(
    name="sciagent",
    help="Answer questions over fields of science with reports whose every claim is checked.",
    epilog=EXAMPLES,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from sciagent import __version__

        typer.echo(f"sciagent {__version__}")
        raise typer.Exit


def _configure_logging(debug: bool) -> None:
    if debug:
        import logging

        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)


@application.callback(invoke_without_command=True)
def sciagent(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    _debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            envvar="SCIAGENT_DEBUG",
            callback=_configure_logging,
            help="Log to stderr, and show the trace of an error.",
        ),
    ] = False,
) -> None:
    """Say what there is when no subcommand is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


application.command("run", epilog=run.EXAMPLES)(run.run)
application.command("evidence", epilog=evidence.EXAMPLES)(evidence.evidence)
application.command("ask", epilog=ask.EXAMPLES)(ask.ask)
application.command("batch", epilog=batch.EXAMPLES)(batch.batch)
application.command("resume", epilog=resume.EXAMPLES)(resume.resume)
application.command("stop", epilog=stop.EXAMPLES)(stop.stop)
application.command("verify", epilog=verify.EXAMPLES)(verify.verify)
application.command("show", epilog=show.EXAMPLES)(show.show)
application.command("list", epilog=list_.EXAMPLES)(list_.list_runs)
application.command("diff", epilog=diff.EXAMPLES)(diff.diff)
application.command("compare", epilog=compare.EXAMPLES)(compare.compare)
application.command("eval", epilog=eval_.EXAMPLES)(eval_.evaluate)
application.command("export", epilog=export.EXAMPLES)(export.export)
application.add_typer(library.application, name="library")
application.add_typer(data.application, name="data")
application.command("doctor", epilog=doctor.EXAMPLES)(doctor.doctor)


def invoke(arguments: list[str]) -> None:
    """Run one command; usage errors exit with 2, other errors are raised."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a terminal that lacks Å gets a question mark, not an error
            reconfigure(errors="replace")
    typer.main.get_command(application)(arguments, prog_name="sciagent")

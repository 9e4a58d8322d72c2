"""``sciagent stop``: ask a running run to stop."""

import os

import typer

from sciagent.cli.options import RunArgument, examples
from sciagent.cli.places import located

EXAMPLES = examples("sciagent stop artifacts/20260101-fluorapatite-1a2b3c")


def stop(run: RunArgument) -> None:
    """Ask the process that works on a run to stop; the run can be resumed.

    The request lies in the run's inbox until its owner has written it into the journal.
    """
    from sciagent import runs

    path = located(run)
    command = runs.stop(path, author=os.environ.get("USER", ""))
    typer.echo(f"Asked {path} to stop (command {command.id}).")

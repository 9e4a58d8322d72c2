"""``sciagent verify``: check every claim of a run."""

from typing import Annotated

import typer

from sciagent.cli.options import JsonOption, RunArgument, examples
from sciagent.cli.places import located

EXAMPLES = examples(
    "sciagent verify artifacts/20260101-fluorapatite-1a2b3c",
    "sciagent verify artifacts/20260101-fluorapatite-1a2b3c --rerun",
    "sciagent verify artifacts/20260101-fluorapatite-1a2b3c --claim final.r_wp",
)


def verify(
    run: RunArgument,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Run the accepted path again in a clean kernel.")
    ] = False,
    claim: Annotated[
        str | None, typer.Option(metavar="ID", help="Check this claim only.", show_default="all")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check that every claim of a report is what its evidence says.

    Exit codes: 0 all is well, 1 something is not, 2 bad input.
    """
    from sciagent import runs
    from sciagent.cli.streams import results, write_json
    from sciagent.cli.verdicts import counts, print_verification

    verification = runs.verify(located(run), rerun=rerun, claim=claim)
    if as_json:
        write_json(counts(verification))
    else:
        print_verification(results(), verification)
    raise typer.Exit(0 if verification.ok else 1)

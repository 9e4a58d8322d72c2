"""A session of gathering evidence: show what is asked and read, then what it came to."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from sciagent.cli.failures import FAILURE, STOPPED
from sciagent.cli.session import STATUS_STYLES
from sciagent.cli.streams import messages, results, write_json
from sciagent.contracts.claim import CitationClaim
from sciagent.contracts.events import Event, Noted
from sciagent.contracts.ports import Observer

if TYPE_CHECKING:
    from sciagent.runs import Run

_SHOWN = 10


@contextmanager
def gathering(*, quiet: bool) -> Iterator[Observer]:
    """Show on stderr what is asked and read; after Ctrl-C say how to go on."""
    begun: list[str] = []

    def observe(event: Event) -> None:
        if event.kind == "run_started":
            begun.append(getattr(event.body, "run", ""))
        elif isinstance(event.body, Noted) and not quiet:
            messages().print(Text(event.body.text), soft_wrap=True)

    try:
        yield observe
    except KeyboardInterrupt:
        said = f" Go on with: sciagent resume {shlex.quote(begun[0])}" if begun else ""
        messages().print(Text(f"Stopped.{said}", style="yellow"), soft_wrap=True)
        raise typer.Exit(STOPPED) from None


def conclude_evidence(run: "Run", *, as_json: bool) -> None:
    """Say what was found, and exit with the code for it."""
    status = run.summary.status
    claims = run.claims.claims if run.claims else ()
    found = [claim for claim in claims if isinstance(claim, CitationClaim)]
    works = len({claim.citation.work for claim in found})
    if as_json:
        passages = [
            {
                "statement": each.statement,
                "work": each.citation.work,
                "page": each.citation.quote.page,
                "status": each.citation.status,
            }
            for each in found
        ]
        write_json({"run": str(run.path), "status": status, "works": works, "passages": passages})
    else:
        console = results()
        console.print(Text(status, style=STATUS_STYLES[status]))
        for each in found[:_SHOWN]:
            place = f"{each.citation.work}, page {each.citation.quote.page}"
            console.print(Text(f"“{each.statement}” ({place})"), soft_wrap=True)
        console.print(f"{len(found)} passages of {works} works", soft_wrap=True)
        console.print(f"report: {run.report}", soft_wrap=True)
        console.print(f"check it with: sciagent verify {shlex.quote(str(run.path))}")
    if status in {"stopped", "running"}:
        command = f"sciagent resume {shlex.quote(str(run.path))}"
        messages().print(Text(f"Stopped. Go on with: {command}", style="yellow"), soft_wrap=True)
        raise typer.Exit(STOPPED)
    raise typer.Exit(0 if status in {"completed", "abstained"} else FAILURE)

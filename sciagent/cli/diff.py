"""``sciagent diff``: what a run changed, and what of it is taken over."""

import getpass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciagent.cli.options import JsonOption, RunArgument, examples
from sciagent.cli.places import located

if TYPE_CHECKING:
    from sciagent.runs.changed_files import Differences, UserChange

EXAMPLES = examples(
    "sciagent diff artifacts/20260101-question-1a2b3c",
    "sciagent diff artifacts/20260101-question-1a2b3c --accept data/folders/analysis/fit.py",
    "sciagent diff artifacts/20260101-question-1a2b3c --accept-all",
)

AcceptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--accept", metavar="PATH", help="Take this change over into your folder; again for more."
    ),
]
RevertOption = Annotated[
    list[str] | None,
    typer.Option("--revert", metavar="PATH", help="Undo this change in the run; again for more."),
]


def diff(
    run: RunArgument,
    accept: AcceptOption = None,
    revert: RevertOption = None,
    accept_all: Annotated[
        bool, typer.Option("--accept-all", help="Take all changes over into your folders.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Accept also over what you changed meanwhile.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a run changed in your folders and its own; accept or revert it file by file.

    An agent works on copies of the folders that it was given with --folder:
    yours change only by --accept. A sealed run cannot be changed, so that
    --revert is refused there.
    """
    from sciagent import runs
    from sciagent.cli.streams import write_json

    path = located(run)
    found = runs.differences(path)
    chosen = [each.file.path for each in found.user if accept_all and not each.decision]
    decisions = runs.Decisions(
        accept=tuple(dict.fromkeys([*(accept or ()), *chosen])), revert=tuple(revert or ()),
        author=getpass.getuser(), force=force,
    )  # fmt: skip
    if decisions.accept or decisions.revert:
        runs.decide(path, decisions)
        found = runs.differences(path)
    if as_json:
        write_json(_as_json(found))
    else:
        _print(found)


def _print(found: "Differences") -> None:
    from rich.syntax import Syntax
    from rich.text import Text

    from sciagent.cli.streams import results

    console = results()
    if not found.user and not found.own:
        console.print("The run changed no file.")
    for change in found.user:
        console.print(Text(_headline(change), style="bold"), soft_wrap=True)
        if change.text:
            console.print(Syntax(visible(change.text), "diff", background_color="default"))
    if found.own:
        console.print(Text("In the run's own folder:", style="bold"))
    for each in found.own:
        line = f"  {each.path}  {_size(each.size_bytes)}  by {', '.join(each.by)}"
        console.print(Text(_one_line(line)), soft_wrap=True)


def _headline(change: "UserChange") -> str:
    file = change.file
    by = f" by {', '.join(change.cells)}" if change.cells else ""
    said = change.decision or "not accepted"
    both = "" if file.is_untouched_by_user or change.decision else ", you changed it too"
    sizes = "" if change.text else f", {_sizes(change)}"
    return _one_line(f"{file.change}: {file.path} of {file.source}{by} ({said}{both}{sizes})")


def _sizes(change: "UserChange") -> str:
    now = _size(change.size_bytes)
    if change.file.change == "added" or change.decision:
        return now
    return f"yours {_size(change.user_size_bytes)}, now {now}"


def _size(size_bytes: int | None) -> str:
    return "removed" if size_bytes is None else f"{size_bytes} bytes"


def _one_line(text: str) -> str:
    return visible(text).replace("\n", "\\n")


def visible(text: str) -> str:
    """Text in which nothing is hidden from who must judge it, nor steers the terminal.

    Whatever is not drawn, such as control codes and marks of direction, is written as an escape.
    """
    return "".join(
        each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text
    )


def _as_json(found: "Differences") -> dict[str, Any]:
    return {
        "user": [
            {
                "path": each.file.path,
                "source": str(each.file.source),
                "change": each.file.change,
                "sha256": each.file.sha256,
                "cells": each.cells,
                "decision": each.decision,
                "size_bytes": each.size_bytes,
                "user_size_bytes": each.user_size_bytes,
                "text": each.text,
            }
            for each in found.user
        ],
        "own": [
            {"path": each.path, "by": each.by, "size_bytes": each.size_bytes} for each in found.own
        ],
    }

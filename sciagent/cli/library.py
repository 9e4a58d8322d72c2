"""``sciagent library``: your own papers and notes, searched on this machine alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from sciagent.cli.failures import FAILURE, STOPPED
from sciagent.cli.options import JsonOption, QuietOption, examples
from sciagent.cli.streams import messages, results, write_json
from sciagent.contracts.errors import InputError

if TYPE_CHECKING:
    from sciagent.literature.library.library import Library

ADD_EXAMPLES = examples(
    "sciagent library add ~/papers",
    "sciagent library add thesis.pdf references.bib",
    "sciagent library add ~/papers --workers 2",
)
SEARCH_EXAMPLES = examples(
    'sciagent library search "thermal expansion of apatite"',
    'sciagent library search "thermal expansion" --limit 3 --json',
)
LIST_EXAMPLES = examples("sciagent library list", "sciagent library list --json")
REMOVE_EXAMPLES = examples("sciagent library remove ~/papers/old.pdf")
STATUS_EXAMPLES = examples("sciagent library status")

application = typer.Typer(
    help="Search your own papers and notes, without a network.", no_args_is_help=True,
    rich_markup_mode="rich",
)  # fmt: skip

PathsArgument = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Files, folders or .bib files.")
]
LibraryOption = Annotated[
    Path | None,
    typer.Option(
        "--library", metavar="FILE", help="Another library.", show_default="your own"
    ),
]  # fmt: skip
LimitOption = Annotated[int, typer.Option(metavar="N", min=1, help="Passages at most.")]
WorkersOption = Annotated[
    int, typer.Option(metavar="N", min=1, max=64, help="Processes that read.")
]


@application.command("add", epilog=ADD_EXAMPLES)
def add(
    paths: PathsArgument,
    library: LibraryOption = None,
    workers: WorkersOption = 1,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Add PDFs, pages, texts and bibliographies; folders are gone through whole.

    A file is read once; what cannot be read is said and left out. Ctrl-C keeps
    what was added, and the same command goes on from there.

    Exit codes: 0 all is in the library, 1 something could not be read, 2 bad
    input, 130 stopped.
    """
    from sciagent.literature.library.adding import add as add_files

    counts = {"added": 0, "updated": 0, "unchanged": 0, "failed": 0}
    failed: list[dict[str, str]] = []
    try:
        for each in add_files(_opened(library), paths, workers):
            counts[each.outcome] += 1
            if each.outcome == "failed":
                failed.append({"name": each.name, "why": each.detail})
            if not quiet:
                style = "red" if each.outcome == "failed" else ""
                line = Text(f"{each.outcome:9} {each.name}: {each.detail}", style=style)
                messages().print(line, soft_wrap=True)
    except KeyboardInterrupt:
        messages().print(Text("Stopped. What was added stays; run the command again to go on."))
        raise typer.Exit(STOPPED) from None
    if as_json:
        write_json({"counts": counts, "failed": failed})
    else:
        results().print(", ".join(f"{count} {name}" for name, count in counts.items() if count))
    raise typer.Exit(FAILURE if failed else 0)


@application.command("search", epilog=SEARCH_EXAMPLES)
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words to look for.")],
    limit: LimitOption = 10,
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the passages that fit words best, with their work and page."""
    found = _opened(library).search(query, limit)
    if as_json:
        write_json({"passages": [each.model_dump(mode="json") for each in found]})
        return
    for passage in found:
        head = Text(f"{passage.work}, page {passage.page}", style="bold")
        results().print(head, soft_wrap=True)
        results().print(Text(f"  {' '.join(passage.text.split())}"), soft_wrap=True)
    if not found:
        messages().print("Nothing in the library fits.")


@application.command("list", epilog=LIST_EXAMPLES)
def list_works(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """List all works of the library by title."""
    works = [work for work, _ in _opened(library).works()]
    if as_json:
        write_json({"works": [each.model_dump(mode="json") for each in works]})
        return
    for work in works:
        names = ", ".join(each.family for each in work.authors[:3])
        about = "; ".join(filter(None, (names, str(work.year or ""), work.doi)))
        line = Text(work.key, style="bold").append(f"  {work.title}", style="not bold")
        results().print(line.append(f"  ({about})" if about else "", style="dim"), soft_wrap=True)


@application.command("remove", epilog=REMOVE_EXAMPLES)
def remove(paths: PathsArgument, library: LibraryOption = None) -> None:
    """Take files, or all below folders, out of the library; the files stay."""
    count = _opened(library).remove(paths)
    if not count:
        names = ", ".join(map(str, paths))
        raise InputError(f"Nothing of {names} is in the library.", "See: sciagent library list.")
    results().print(f"{count} removed")


@application.command("status", epilog=STATUS_EXAMPLES)
def status(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Say where the library lies and how large it is."""
    opened = _opened(library)
    found = opened.status()
    if as_json:
        write_json({
            "library": str(opened.path), "documents": found.documents,
            "passages": found.passages, "size_mib": found.size_mib,
        })  # fmt: skip
        return
    text = f"{found.documents} documents, {found.passages} passages, {found.size_mib:.1f} MiB"
    results().print(f"{opened.path}: {text}", soft_wrap=True)


def _opened(path: Path | None) -> "Library":
    from sciagent.literature.library.library import Library

    return Library(path)

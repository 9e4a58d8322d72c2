"""``sciagent evidence``: gather quoted evidence on a query, without a model."""

from typing import Annotated

import typer

from sciagent.cli.options import JsonOption, OutOption, QuietOption, examples
from sciagent.cli.places import RUNS_FOLDER

EXAMPLES = examples(
    'sciagent evidence "thermal expansion of fluorapatite"',
    'sciagent evidence "thermal expansion of fluorapatite" --works 40 --passages 5',
    'sciagent evidence "thermal expansion of fluorapatite" --local-only',
    'sciagent evidence "thermal expansion of fluorapatite" --replay artifacts/20260101-a-1a2b3c',
)

QueryText = Annotated[
    str, typer.Argument(metavar="QUERY", help="Words to look for.", show_default=False)
]
WorksOption = Annotated[
    int, typer.Option(metavar="N", min=1, max=200, help="Works that are read at most.")
]
PassagesOption = Annotated[
    int, typer.Option(metavar="N", min=1, max=20, help="Quotes of each work at most.")
]
LocalOnlyOption = Annotated[
    bool | None,
    typer.Option(
        "--local-only/--no-local-only", show_default="as configured",
        help="Ask nothing but your own library.",
    ),
]  # fmt: skip
ReplayOption = Annotated[
    str | None,
    typer.Option(
        metavar="RUN", show_default="ask",
        help="Ask nobody: take what servers answered in this run.",
    ),
]  # fmt: skip


def evidence(
    query: QueryText,
    works: WorksOption = 20,
    passages: PassagesOption = 3,
    local_only: LocalOnlyOption = None,
    replay: ReplayOption = None,
    out: OutOption = RUNS_FOLDER,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Gather evidence from the literature: works, quoted passages and a bibliography.

    No model is needed. Your own library and the open indexes are searched, works
    that are open are read, and the sentences that fit the query best are quoted
    with page and place, so that verify can look each of them up. What servers
    answered is kept in the run: --replay makes the same evidence again.

    Exit codes: 0 evidence was found or there is none, 1 failed, 2 bad input,
    130 stopped.
    """
    from sciagent import runs
    from sciagent.cli.gathering import conclude_evidence, gathering

    asked = {"local_only": local_only, **_replayed(replay)}
    with gathering(quiet=quiet) as observer:
        run = runs.gather(
            query, works=works, passages=passages, settings=asked, out=out, observer=observer
        )
    conclude_evidence(run, as_json=as_json)


def _replayed(run: str | None) -> dict[str, str]:
    """Settings by which what a run kept is asked in place of servers."""
    if run is None:
        return {}
    from sciagent.cli.places import located
    from sciagent.contracts.errors import InputError
    from sciagent.runs.retrieval import RESPONSES

    folder = located(run) / RESPONSES
    if not folder.is_dir():
        raise InputError(
            f"The run {run} kept no answers of servers.", "Name one made in the mode `record`."
        )
    return {"literature.mode": "replay", "literature.responses": str(folder.resolve())}

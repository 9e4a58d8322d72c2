"""``sciagent eval``: ask the questions of a public evaluation."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sciagent.cli.ask import LocalOnlyOption
from sciagent.cli.failures import FAILURE, STOPPED
from sciagent.cli.live_line import LiveLine
from sciagent.cli.options import (
    BaseUrlOption,
    JsonOption,
    ModelOption,
    QuietOption,
    UnsandboxedOption,
    VerificationOption,
    examples,
)
from sciagent.cli.streams import messages

if TYPE_CHECKING:
    from sciagent.runs.evaluation import EvaluationSummary, IterationSummary, Standing

EXAMPLES = examples(
    "sciagent eval gaia.jsonl results --limit 3",
    "sciagent eval gaia.jsonl results --iterations 3 --parallel 8",
    "sciagent eval gaia.jsonl results --max-calls 50 --timeout-s 1800 --json",
)


class ProfileName(StrEnum):
    """Whose tools, limits and files."""

    A1 = "a1"


QuestionsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT", show_default=False,
        help="File with an object of question and answer on each line.",
    ),
]  # fmt: skip
ResultsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="OUT", show_default=False,
        help="Folder of the results; rows go to OUT/<model>/<data set>/iterN.jsonl.",
    ),
]  # fmt: skip
ProfileOption = Annotated[
    ProfileName,
    typer.Option("--profile", metavar="NAME", help="Whose protocol: a1 is that of Agents-A1."),
]
IterationsOption = Annotated[
    int, typer.Option("--iterations", metavar="N", min=1, help="How often each question is asked.")
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit", metavar="N", min=1, help="Ask the first N questions only.",
        show_default="all",
    ),
]  # fmt: skip
ParallelOption = Annotated[
    int, typer.Option("--parallel", metavar="N", min=1, help="Questions asked side by side.")
]
DatasetOption = Annotated[
    str | None,
    typer.Option(
        "--dataset", metavar="NAME", help="Name of the data set.",
        show_default="the file's, or of the folder of a standardized_data.jsonl",
    ),
]  # fmt: skip
MaxCallsOption = Annotated[
    int, typer.Option("--max-calls", metavar="N", min=1, help="Calls of the model for a question.")
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout-s", metavar="S", min=1.0, help="Seconds for a question.")
]
MaxTokensOption = Annotated[
    int,
    typer.Option(
        "--max-tokens", metavar="N", min=1,
        help="Length of a conversation at which its answer is asked for.",
    ),
]  # fmt: skip


def evaluate(
    questions: QuestionsArgument,
    out: ResultsArgument,
    profile: ProfileOption = ProfileName.A1,
    iterations: IterationsOption = 1,
    limit: LimitOption = None,
    parallel: ParallelOption = 1,
    dataset: DatasetOption = None,
    max_calls: MaxCallsOption = 300,
    timeout_s: TimeoutOption = 9000.0,
    max_tokens: MaxTokensOption = 131072,
    base_url: BaseUrlOption = None,
    model: ModelOption = None,
    verification: VerificationOption = None,
    local_only: LocalOnlyOption = None,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Ask the questions of a public evaluation, and write a row for each.

    The tools, limits and files are those that the public evaluation of
    Agents-A1 uses; its programs judge the files.

    Questions that have a row are not asked again: the same command goes on
    where an earlier one was stopped or killed, and asks those again whose
    endpoint had failed. Ctrl-C lets the questions that were begun come to
    their end; pressed again, it gives them up.

    Exit codes: 0 all questions have a row, 1 the endpoint failed for some,
    2 bad input, 130 stopped.
    """
    from sciagent.cli.asking import stopping_on_interrupt
    from sciagent.runs import Surroundings, load_configuration
    from sciagent.runs import evaluation as rules
    from sciagent.runs.evaluation_agent import Limits

    configuration = load_configuration({
        "endpoint.base_url": base_url, "endpoint.model": model,
        "agent.verification": verification, "local_only": local_only,
    })  # fmt: skip
    limits = Limits(max_calls=max_calls, timeout_s=timeout_s, max_tokens=max_tokens)
    settings = rules.EvaluationSettings(
        profile=profile.value, limits=limits, iterations=iterations, first=limit,
        parallel=parallel, dataset=dataset,
    )  # fmt: skip
    with stopping_on_interrupt() as stopped, _Watch(quiet=quiet) as watch:
        around = Surroundings(cancelled=stopped, allow_unsandboxed=allow_unsandboxed)
        try:
            summary = rules.evaluate(
                questions, out, settings, configuration, surroundings=around, watcher=watch
            )
        except KeyboardInterrupt:
            _say_how_to_go_on()
            raise typer.Exit(STOPPED) from None
    _present(summary, as_json=as_json)
    if summary.stopped:
        _say_how_to_go_on()
        raise typer.Exit(STOPPED)
    raise typer.Exit(FAILURE if summary.failed else 0)


class _Watch(LiveLine):
    """Shows how an evaluation stands, on stderr."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._said_waiting = False

    def __call__(self, standing: "Standing") -> None:
        self.show(f"{standing.ended} of {standing.rows} rows, {standing.running} being made")
        if standing.stopping and standing.running and not self._said_waiting:
            self._said_waiting = True
            text = f"Waiting for {standing.running} to end; press Ctrl-C again to give up on them."
            messages().print(text, soft_wrap=True)


def _say_how_to_go_on() -> None:
    text = "Stopped. Rows that had finished are kept; the same command goes on from there."
    messages().print(text, soft_wrap=True)


def _present(summary: "EvaluationSummary", *, as_json: bool) -> None:
    from sciagent.cli.streams import results, write_json

    if summary.tools_without_port:
        names = ", ".join(summary.tools_without_port)
        text = f"Nothing was behind these tools, so that they only gave errors: {names}."
        messages().print(text, style="yellow", soft_wrap=True)
    if as_json:
        write_json(summary.model_dump(mode="json"))
        return
    console = results()
    console.print(f"{summary.model} on {summary.dataset}, {summary.questions} questions")
    for each in summary.iterations:
        console.print(f"\n{shlex.quote(each.file)}")
        for line in _lines(each):
            console.print(f"  {line}")
    console.print(
        "\nExact match compares letters only and is a lower bound: answers in other words count "
        "as wrong. The programs of the evaluation judge the files by a model."
    )


def _lines(iteration: "IterationSummary") -> list[str]:
    missing = f", {iteration.missing} missing" if iteration.missing else ""
    lines = [f"{iteration.rows} rows{missing}"]
    lines += [f"{count} {name}" for name, count in iteration.terminations.items()]
    if iteration.exact_match_accuracy is not None:
        share = f"{iteration.exact_match_accuracy:.1%}"
        lines.append(f"{iteration.exact_matches} exact matches ({share}; exact match only)")
    return lines

"""``sciagent ask``: put a question to an agent."""

from enum import StrEnum
from typing import Annotated

import typer

from sciagent.cli.options import (
    ApprovalName,
    BaseUrlOption,
    BudgetWallOption,
    FolderOption,
    InputOption,
    JsonOption,
    ModelOption,
    OutOption,
    QuietOption,
    ReadOption,
    UnsandboxedOption,
    VerificationOption,
    examples,
)
from sciagent.cli.places import RUNS_FOLDER

EXAMPLES = examples(
    'sciagent ask "Which R_wp does the dataset sc2au6 refine to?"',
    'sciagent ask "What is in scan.xye?" --input pattern=scan.xye --approve auto-safe',
    'sciagent ask "..." --base-url http://localhost:8000/v1 --model Sage-A1.5 --verification',
    'sciagent ask "Mend the fit in fit.py" --folder analysis --read measurements',
    'sciagent ask "What limits the yield of Suzuki couplings?" --report deep',
    'sciagent ask "..." --local-only --budget-tokens 200000 --json',
)

QuestionText = Annotated[
    str, typer.Argument(metavar="QUESTION", help="The question, in words.", show_default=False)
]
SubagentsOption = Annotated[
    bool | None,
    typer.Option(
        "--subagents/--no-subagents", help="Let the agent delegate.", show_default="as configured"
    ),
]
ApproveOption = Annotated[
    ApprovalName | None,
    typer.Option(
        metavar="MODE", show_default="as configured",
        help="Who decides what a tool may do: ask (you, each time), auto-safe (you, if the action "
        "may depend on text from outside) or auto (nobody).",
    ),
]  # fmt: skip
LocalOnlyOption = Annotated[
    bool | None,
    typer.Option(
        "--local-only/--no-local-only", show_default="as configured",
        help="Refuse every connection but the one to the endpoint.",
    ),
]  # fmt: skip
BudgetTokensOption = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens", metavar="N", min=1, help="Tokens at most.", show_default="no limit"
    ),
]
BudgetTurnsOption = Annotated[
    int | None,
    typer.Option(
        "--budget-turns", metavar="N", min=1, help="Answers of the model at most.",
        show_default="300",
    ),
]  # fmt: skip


class ReportKind(StrEnum):
    """What is made of the question."""

    ANSWER = "answer"
    DEEP = "deep"


ReportOption = Annotated[
    ReportKind,
    typer.Option(
        help="answer, or deep: a survey of the literature in chapters, every statement quoted."
    ),
]


def ask(
    question: QuestionText,
    base_url: BaseUrlOption = None,
    model: ModelOption = None,
    verification: VerificationOption = None,
    subagents: SubagentsOption = None,
    approve: ApproveOption = None,
    local_only: LocalOnlyOption = None,
    budget_tokens: BudgetTokensOption = None,
    budget_turns: BudgetTurnsOption = None,
    budget_wall_s: BudgetWallOption = None,
    report: ReportOption = ReportKind.ANSWER,
    inputs: InputOption = None,
    read: ReadOption = None,
    folder: FolderOption = None,
    allow_unsandboxed: UnsandboxedOption = False,
    out: OutOption = RUNS_FOLDER,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Let an agent answer a question, and write a verified report.

    The agent works with tools: it looks at files, drives studies, and records
    claims. What it says and does is shown on stderr; the answer goes to stdout.
    Ctrl-C stops it so that it can be resumed. Settings that are not given here
    are those of the configuration file and the environment.

    Exit codes: 0 answered, 1 failed, 2 bad input, 3 budget reached without a
    claim, 130 stopped.
    """
    from sciagent import runs
    from sciagent.cli.asking import Ground, asking, conclude_ask
    from sciagent.cli.assignments import input_paths

    asked = {
        "endpoint.base_url": base_url, "endpoint.model": model,
        "agent.verification": verification, "agent.subagents": subagents,
        "agent.budget.tokens": budget_tokens, "agent.budget.turns": budget_turns,
        "agent.budget.wall_s": budget_wall_s, "local_only": local_only,
        "approval": approve.value if approve else None,
    }  # fmt: skip
    settings = runs.ask_settings(question, asked).model_copy(update={"report": report.value})
    ground = Ground.of(read, folder, allow_unsandboxed)
    with asking(quiet=quiet, ground=ground) as surroundings:
        run = runs.ask(
            settings, inputs=input_paths(inputs or ()), surroundings=surroundings, out=out
        )
    conclude_ask(run, as_json=as_json)

"""Arguments and options that several subcommands share, and how examples are written."""

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sciagent.cli.completion import complete_runs
from sciagent.contracts.errors import InputError


class PolicyName(StrEnum):
    """Who proposes."""

    BUILTIN = "builtin"
    HUMAN = "human"
    MODEL = "model"


class ApprovalName(StrEnum):
    """Who decides what a tool may do."""

    ASK = "ask"
    AUTO_SAFE = "auto-safe"
    AUTO = "auto"


RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Path of the run's workspace, or its name in artifacts/.",
        autocompletion=complete_runs,
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object to stdout.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
OutOption = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help="Folder of the runs.", file_okay=False),
]
BudgetTrialsOption = Annotated[
    int | None,
    typer.Option(
        "--budget-trials", metavar="N", min=1, help="Trials at most.", show_default="no limit"
    ),
]
BudgetCpuOption = Annotated[
    float | None,
    typer.Option(
        "--budget-cpu-s", metavar="S", help="CPU seconds at most.", show_default="no limit"
    ),
]
BudgetWallOption = Annotated[
    float | None,
    typer.Option(
        "--budget-wall-s", metavar="S", help="Seconds of the clock at most.",
        show_default="no limit",
    ),
]  # fmt: skip

InputOption = Annotated[
    list[str] | None,
    typer.Option(
        "--input", metavar="KEY=PATH",
        help="A file of your own; again for more, or for inputs that take several.",
    ),
]  # fmt: skip
ReadOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--read", metavar="PATH",
        help="A folder or file that the agent's code may read; again for more.",
    ),
]  # fmt: skip
FolderOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--folder", metavar="DIR",
        help="A folder that the agent's code may change, in a copy: sciagent diff takes changes "
        "over. Again for more.",
    ),
]  # fmt: skip
UnsandboxedOption = Annotated[
    bool,
    typer.Option(
        "--allow-unsandboxed",
        help="Agree that the agent's code runs unconfined where there is no sandbox.",
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--base-url", metavar="URL", help="Address of the model's endpoint, up to /v1.",
        show_default="as configured",
    ),
]  # fmt: skip
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="NAME", help="Name of the model there.", show_default="as configured"
    ),
]
VerificationOption = Annotated[
    bool | None,
    typer.Option(
        "--verification/--no-verification", help="Ask the model for reviews of itself.",
        show_default="as configured",
    ),
]  # fmt: skip


def refuse_options_but(context: typer.Context, taken: Collection[str], what: str) -> None:
    """Refuse options that were given and would not count.

    Parameters
    ----------
    context
        Of the command.
    taken
        Names of the parameters that count.
    what
        What does not take the others.

    Raises
    ------
    InputError
        If one of the others was given.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name not in taken and source is not None and source.name == "COMMANDLINE":
            option = parameter.opts[0]
            raise InputError(f"{what} takes no {option}.", f"Leave {option} away.")


def examples(*lines: str) -> str:
    """Write the examples that stand below a subcommand's help."""
    return "\n".join(["Examples:", *(f"  {line}" for line in lines)])

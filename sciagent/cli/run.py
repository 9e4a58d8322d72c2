"""``sciagent run``: study a question."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sciagent.cli.completion import complete_datasets, complete_questions
from sciagent.cli.options import (
    BaseUrlOption,
    BudgetCpuOption,
    BudgetTrialsOption,
    BudgetWallOption,
    InputOption,
    JsonOption,
    ModelOption,
    OutOption,
    PolicyName,
    QuietOption,
    VerificationOption,
    examples,
    refuse_options_but,
)
from sciagent.cli.places import RUNS_FOLDER
from sciagent.cli.workflow import run_workflow_notebook

EXAMPLES = examples(
    "sciagent run powder_diffraction/refine --dataset fluorapatite",
    "sciagent run powder_diffraction/refine --dataset sc2au6 --budget-trials 40 --json",
    "sciagent run powder_diffraction/refine --dataset fluorapatite --policy human",
    "sciagent run workflows/powder_diffraction__refine.ipynb --set dataset=sc2au6",
    "sciagent run powder_diffraction/refine --dataset sc2au6 --policy model --model Sage-A1.5",
)


QuestionArgument = Annotated[
    str,
    typer.Argument(
        metavar="DOMAIN/QUESTION", help="The question to study, or a workflow notebook.",
        autocompletion=complete_questions, show_default=False,
    ),
]  # fmt: skip
DatasetOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Take files and settings from this dataset.",
        autocompletion=complete_datasets,
    ),
]  # fmt: skip
SettingOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the question; again for more."),
]
PolicyOption = Annotated[
    PolicyName,
    typer.Option(help="Who proposes: the field's own strategy, you at this terminal, or a model."),
]
ParallelOption = Annotated[
    int, typer.Option(metavar="N", min=1, help="Trials that may run side by side.")
]
SeedOption = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of all random numbers.")]


OF_NOTEBOOKS = frozenset({"question", "settings", "inputs", "out", "as_json", "quiet"})
"""Options that a notebook takes."""


def run(
    context: typer.Context,
    question: QuestionArgument,
    dataset: DatasetOption = None,
    inputs: InputOption = None,
    settings: SettingOption = None,
    policy: PolicyOption = PolicyName.BUILTIN,
    base_url: BaseUrlOption = None,
    model: ModelOption = None,
    verification: VerificationOption = None,
    budget_trials: BudgetTrialsOption = None,
    budget_cpu_s: BudgetCpuOption = None,
    budget_wall_s: BudgetWallOption = None,
    parallel: ParallelOption = 1,
    seed: SeedOption = 0,
    out: OutOption = RUNS_FOLDER,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Study a question, or run a workflow notebook, and write a verified report.

    The workspace is made in the folder given by --out. Progress is shown on
    stderr; Ctrl-C stops the run so that it can be resumed. A notebook (.ipynb)
    takes --set for its parameters, --input for files that they name, --out,
    --json and --quiet.

    Exit codes: 0 completed or abstained, 1 failed, 2 bad input, 3 budget
    reached without a result, 130 stopped.
    """
    if question.endswith(".ipynb"):
        refuse_options_but(context, OF_NOTEBOOKS, "A notebook")
        run_workflow_notebook(question, settings, inputs, out, as_json=as_json, quiet=quiet)
    from sciagent import runs
    from sciagent.cli.assignments import input_paths, setting_values
    from sciagent.cli.prompter import human
    from sciagent.cli.session import conclude, watched
    from sciagent.contracts.study import Budget
    from sciagent.domains import registry

    schema = registry.question(question).settings.model_json_schema()
    request: dict[str, Any] = {
        "dataset": dataset, "parallel": parallel, "seed": seed, "out": out,
        "inputs": input_paths(inputs or ()) or None,
        "settings": setting_values(settings or (), schema) or None,
        "policy": human if policy is PolicyName.HUMAN else policy.value,
        "budget": Budget(trials=budget_trials, cpu_s=budget_cpu_s, wall_s=budget_wall_s),
    }  # fmt: skip
    if policy is PolicyName.MODEL:
        asked: dict[str, Any] = {"endpoint.base_url": base_url, "endpoint.model": model}
        asked["agent.verification"] = verification
        request["configuration"] = runs.load_configuration(asked)
    finished = watched(
        lambda observer: runs.run(question, observer=observer, **request),
        lambda name: Path(out) / name,
        quiet=quiet,
        live=policy is not PolicyName.HUMAN,
    )
    conclude(finished, as_json=as_json)

"""``sciagent resume``: go on with a run that was stopped or cut off."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciagent.cli.options import (
    BaseUrlOption,
    BudgetCpuOption,
    BudgetTrialsOption,
    BudgetWallOption,
    FolderOption,
    JsonOption,
    ModelOption,
    QuietOption,
    ReadOption,
    RunArgument,
    UnsandboxedOption,
    examples,
)
from sciagent.cli.places import located

if TYPE_CHECKING:
    from sciagent.cli.asking import Ground
    from sciagent.contracts.study import Budget
    from sciagent.runs import Run

EXAMPLES = examples(
    "sciagent resume artifacts/20260101-fluorapatite-1a2b3c",
    "sciagent resume artifacts/20260101-fluorapatite-1a2b3c --budget-trials 100",
)


def resume(
    run: RunArgument,
    budget_trials: BudgetTrialsOption = None,
    budget_cpu_s: BudgetCpuOption = None,
    budget_wall_s: BudgetWallOption = None,
    parallel: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Trials that may run side by side.", show_default="as before"
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    model: ModelOption = None,
    read: ReadOption = None,
    folder: FolderOption = None,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Go on with a run that was stopped or cut off, or give a finished one more budget.

    Nothing that had finished is executed again. A budget counts from the run's
    beginning; without one, that of the run stays. A question to an agent goes on
    with the endpoint it had, unless another is given; what its code may read and
    change is given again.
    """
    from sciagent import runs
    from sciagent.cli.asking import Ground
    from sciagent.cli.prompter import human
    from sciagent.cli.session import conclude, watched
    from sciagent.contracts.study import Budget

    path = located(run)
    given = Budget(trials=budget_trials, cpu_s=budget_cpu_s, wall_s=budget_wall_s)
    budget = None if given == Budget() else given
    opened = runs.open_run(path)
    asked = {"endpoint.base_url": base_url, "endpoint.model": model}
    if runs.is_ask(opened.request):
        ground = Ground.of(read, folder, allow_unsandboxed)
        _resume_ask(opened, ground, budget, asked, as_json=as_json, quiet=quiet)
    _resume_without_study(opened, budget, as_json=as_json, quiet=quiet)
    asks = opened.request.policy == "human"
    finished = watched(
        lambda observer: runs.resume(
            path,
            budget=budget,
            parallel=parallel,
            policy=human if asks else None,
            observer=observer,
            asked=asked,
        ),
        lambda _: path,
        quiet=quiet,
        live=not asks,
        earlier=opened.events(),
        budget=budget,
    )
    conclude(finished, as_json=as_json)


def _resume_ask(
    run: "Run",
    ground: "Ground",
    budget: "Budget | None",
    asked: dict[str, Any],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from sciagent import runs
    from sciagent.cli.asking import asking, conclude_ask

    with asking(quiet=quiet, earlier=run.events(), ground=ground) as surroundings:
        answered = runs.resume(run.path, budget=budget, asked=asked, surroundings=surroundings)
    conclude_ask(answered, as_json=as_json)


def _resume_without_study(
    run: "Run", budget: "Budget | None", *, as_json: bool, quiet: bool
) -> None:
    """Go on with evidence or a notebook and exit; return if the run is neither."""
    from sciagent import runs
    from sciagent.cli.gathering import conclude_evidence, gathering
    from sciagent.cli.workflow import CellDisplay, conclude_workflow

    if runs.gathers_evidence(run.request):
        with gathering(quiet=quiet) as observer:
            found = runs.resume(run.path, budget=budget, observer=observer)
        conclude_evidence(found, as_json=as_json)
    if run.request.is_workflow:
        done = runs.resume(run.path, budget=budget, observer=CellDisplay(quiet=quiet))
        conclude_workflow(done, as_json=as_json)

"""Starts, resumes and stops runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import JsonValue

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.events import SegmentOpened
from sciagent.contracts.ports import Observer
from sciagent.contracts.run import Command, RunRequest
from sciagent.contracts.study import Budget
from sciagent.runs.agents import require_usable
from sciagent.runs.asking import is_ask, resume_ask
from sciagent.runs.checking import checked
from sciagent.runs.configuration import Asked, Configuration, load_configuration, with_asked
from sciagent.runs.gathering import gathers_evidence, resume_gather
from sciagent.runs.given import Files, listed_files
from sciagent.runs.opened import Run, open_run
from sciagent.runs.owner import PolicyMaker, own
from sciagent.runs.ownership import tell_beginning
from sciagent.runs.surroundings import Surroundings
from sciagent.workspace.inbox import send_command
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import Layout
from sciagent.workspace.lock import OwnerLock
from sciagent.workspace.seal import is_sealed
from sciagent.workspace.workspace import create_workspace, open_workspace, read_request

PolicyName = Literal["builtin", "human", "model"]


def run(  # noqa: PLR0913 - all that a run can be asked, by keyword
    name: str,
    *,
    dataset: str | None = None,
    inputs: Files | None = None,
    settings: Mapping[str, Any] | None = None,
    policy: PolicyName | PolicyMaker = "builtin",
    budget: Budget | None = None,
    parallel: int = 1,
    seed: int = 0,
    out: str | Path = "artifacts",
    observer: Observer | None = None,
    configuration: Configuration | None = None,
) -> Run:
    """Study a question and leave a workspace with a verified report.

    Parameters
    ----------
    name
        ``domain/question``, such as ``powder_diffraction/refine``.
    dataset
        Named data that come with their settings; `inputs` and `settings` are put over them.
    inputs, settings
        Files by the name of the input, and settings that differ from their defaults.
    policy
        Who proposes: ``builtin``, ``model``, or a function that makes a policy for the problem.
    budget, parallel
        Limits on trials, CPU and wall seconds; trials that run side by side.
    seed
        Of all that is random.
    out
        Folder in which the workspace is made.
    observer
        Is told each event of the journal.

    Raises
    ------
    InputError
        If anything given cannot be used; no workspace is made then.
    """
    _check_policy(policy)
    if parallel < 1:
        raise InputError(f"{parallel} trials cannot run side by side.", "Give 1 or more.")
    given = checked(name, dataset, listed_files(inputs or {}), settings or {})
    request = RunRequest(
        question=name,
        dataset=dataset,
        settings=given.settings,
        policy=policy if isinstance(policy, str) else "human",
        driven_by=_driven_by(configuration) if policy == "model" else {},
        budget=budget or Budget(),
        parallel=parallel,
        seed=seed,
    )
    layout = create_workspace(Path(out), request, given.files)
    tell_beginning(layout, observer)
    around = Surroundings(observer=observer)
    own(layout, read_request(layout), policy=_maker(policy), surroundings=around)
    return open_run(layout.root)


def _driven_by(configuration: Configuration | None) -> dict[str, JsonValue]:
    """What a run keeps of the model that drives it."""
    chosen = configuration or load_configuration()
    require_usable(chosen.endpoint)
    return chosen.model_dump(mode="json")


def resume(  # noqa: PLR0913 - all that may change when a run goes on, by keyword
    path: str | Path,
    *,
    budget: Budget | None = None,
    parallel: int | None = None,
    policy: PolicyMaker | None = None,
    observer: Observer | None = None,
    asked: Asked | None = None,
    surroundings: Surroundings | None = None,
) -> Run:
    """Go on with a run that was stopped, interrupted or killed; or continue a finished one.

    Parameters
    ----------
    path
        Folder of the run.
    budget
        A finished run goes on only with a new budget, in a new segment of its journal. For an
        unfinished one, a new budget replaces the old.
    parallel
        Trials that run side by side from now on.
    policy
        Who proposes, for a run that a person decided.
    observer
        Is told each new event.
    asked
        For a run with a model: settings that hold from now on, such as ``endpoint.base_url``.
    surroundings
        For a run with a model: ports, and who is asked and told, in place of `observer`.

    Raises
    ------
    InputError
        If the run was a person's and no policy is given, or a budget is given for a question
        that an agent answers.
    WorkspaceError
        If another process owns the run, or its journal is damaged.
    """
    layout = open_workspace(Path(path))
    request = read_request(layout)
    around = surroundings or Surroundings(observer=observer)
    if request.is_workflow or is_ask(request) or gathers_evidence(request):
        return _resume_no_study(layout, request, budget, asked, around)
    if request.policy != "builtin" and policy is None and not request.driven_by:
        raise InputError(
            f"The run {layout.root.name} was decided by a {request.policy} policy.",
            "Resume it where there is somebody to ask, such as in a terminal.",
        )
    if is_sealed(layout.root) and budget is None:
        return open_run(layout.root)
    request = _changed(request, parallel, asked)
    if budget is not None:
        _open_segment(layout, budget)
    own(layout, request, policy=policy, surroundings=around)
    return open_run(layout.root)


def _resume_no_study(
    layout: Layout,
    request: RunRequest,
    budget: Budget | None,
    asked: Asked | None,
    around: Surroundings,
) -> Run:
    """Go on with a run of a notebook, with gathering evidence, or with what an agent answers."""
    if budget is not None:
        raise InputError(
            f"The budget of {layout.root.name} cannot be changed: it is not that of a study.",
            "Resume it without one, or ask again.",
        )
    if request.is_workflow:
        from sciagent.runs.workflow_run import resume_workflow

        return resume_workflow(layout.root, around.observer)
    if gathers_evidence(request):
        return resume_gather(layout.root, around.literature, around.observer)
    return resume_ask(layout.root, around, asked=asked)


def _changed(request: RunRequest, parallel: int | None, asked: Asked | None) -> RunRequest:
    """The request as it holds from now on."""
    changes: dict[str, Any] = {} if parallel is None else {"parallel": parallel}
    if request.driven_by and asked:
        driven = with_asked(Configuration.model_validate(request.driven_by), asked)
        changes["driven_by"] = driven.model_dump(mode="json")
    return request.model_copy(update=changes)


def stop(path: str | Path, author: str = "") -> Command:
    """Ask the owner of a run to stop cleanly; the run can be resumed."""
    return send_command(open_workspace(Path(path)), "stop", author=author)


def _open_segment(layout: Layout, budget: Budget) -> None:
    with OwnerLock(layout), JournalFile.open(layout.journal) as journal:
        journal.append(SegmentOpened(reason="It is continued with a new budget.", budget=budget))


def _check_policy(policy: PolicyName | PolicyMaker) -> None:
    if not isinstance(policy, str):
        return
    if policy not in get_args(PolicyName):
        raise UnknownNameError.among("policy", policy, get_args(PolicyName))
    if policy == "human":
        raise InputError(
            f"The policy {policy!r} needs somebody to ask.",
            "Give a function that makes a policy, such as `human_policy(prompter)`.",
        )


def _maker(policy: PolicyName | PolicyMaker) -> PolicyMaker | None:
    return None if isinstance(policy, str) else policy

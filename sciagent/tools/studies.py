"""Tools that list, inspect and drive studies."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from sciagent.contracts.domain import Question
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.model import Contract, canonical_json
from sciagent.contracts.study import Action, ActionSpec, Proposal
from sciagent.contracts.tree import StudyView, Trial
from sciagent.contracts.units import symbol
from sciagent.datasets.registry import DatasetRegistry
from sciagent.domains import registry
from sciagent.tools.confinement import opened_below
from sciagent.tools.ports import Studies
from sciagent.tools.tool import ToolContext, tool

_SHOWN_TRIALS = 30


def _port(context: ToolContext) -> Studies:
    if context.studies is None:
        raise InputError(
            "This agent cannot run studies.", "Use what is in the workspace, or run code."
        )
    return context.studies


def _named(port: Studies, study: str) -> str:
    """The study meant; the only one if none is named."""
    names = list(port.names())
    if not study and len(names) == 1:
        return names[0]
    if study not in names:
        raise UnknownNameError.among("study", study, names)
    return study


@tool(read_only=True, approval="never")
def list_questions(_context: ToolContext, domain: str = "") -> str:
    """List the questions that can be studied, and the datasets that are at hand.

    Parameters
    ----------
    domain
        Only those of one field of science.
    """
    questions = registry.questions()
    lines = [
        f"{name}: {asked.title}. {asked.summary}"
        for name, asked in sorted(questions.items())
        if not domain or name.partition("/")[0] == domain
    ]
    if domain and not lines:
        fields = {name.partition("/")[0] for name in questions}
        raise UnknownNameError.among("field", domain, fields)
    datasets = DatasetRegistry().list_datasets()
    lines += [f"dataset {each.name} ({each.question}): {each.title}" for each in datasets
              if not domain or each.question.partition("/")[0] == domain]  # fmt: skip
    return "\n".join(lines)


@tool(read_only=True, approval="never")
def inspect_question(_context: ToolContext, question: str) -> str:
    """Describe a question: its inputs, its settings with units, and the guide of its field.

    Parameters
    ----------
    question
        As list_questions names it.
    """
    asked = registry.question(question)
    field = registry.domain_of(question)
    guide = field.guide.read_text(encoding="utf-8") if field.guide.is_file() else ""
    settings = canonical_json(asked.settings.model_json_schema())
    return "\n".join(
        [f"{question}: {asked.title}", asked.summary, *_inputs(asked),
         f"settings (JSON schema): {settings}", "", guide]
    )  # fmt: skip


def _inputs(asked: Question) -> list[str]:
    return [
        f"input {each.name}: {each.summary}"
        f" ({'required' if each.required else 'optional'}{', several' if each.many else ''})"
        for each in asked.inputs
    ]


class StudyArguments(Contract):
    """What to study, and with which files and settings."""

    question: str = Field(description="As list_questions names it.")
    dataset: str = Field(
        default="", description="Dataset that gives the files; empty if inputs are given."
    )
    inputs: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Paths in the workspace by the name of the input."
    )
    settings: dict[str, JsonValue] = Field(
        default_factory=dict, description="By name, as inspect_question describes them."
    )


@tool(read_only=False, approval="ask")
def start_study(context: ToolContext, wanted: StudyArguments) -> str:
    """Open a study that you will drive with propose_trial."""
    asked = registry.question(wanted.question)
    registry.checked_settings(asked, wanted.settings)
    for paths in wanted.inputs.values():
        for path in paths:
            with opened_below(context.root, path):
                pass
    port = _port(context)
    study = port.start(
        wanted.question, dataset=wanted.dataset, inputs=wanted.inputs, settings=wanted.settings
    )
    return f"The study {study!r} is open.\n{_described(port, study)}"


@tool(read_only=True, approval="never")
def inspect_study(context: ToolContext, study: str = "", trial: int = 0) -> str:
    """Show a study: its trials, what may be proposed next and what is left of its budget.

    Parameters
    ----------
    study
        Its name; may be empty if there is only one.
    trial
        Number of a trial to show in full; 0 for the whole study.
    """
    port = _port(context)
    study = _named(port, study)
    if not trial:
        return _described(port, study)
    view = port.view(study)
    numbers = {str(each.number): each for each in view.trials}
    if str(trial) not in numbers:
        raise UnknownNameError.among("trial", str(trial), numbers)
    return "\n".join([_full(numbers[str(trial)]), _offered(port.actions(study, trial))])


class TrialArguments(Contract):
    """One thing to try."""

    action: str = Field(description="One that inspect_study offers.")
    arguments: dict[str, JsonValue] = Field(description="Of the action.")
    rationale: str = Field(min_length=1, description="Why it is worth trying.")
    expected: str = Field(default="", description="What should be seen if you are right.")
    hypothesis: str = Field(default="", description="What you believe to be true.")
    parent: int = Field(
        default=0, ge=0, description="Trial it starts from; 0 for what inspect_study names."
    )
    study: str = Field(default="", description="Its name; may be empty if there is only one.")


@tool(read_only=False, approval="never")
def propose_trial(context: ToolContext, trial: TrialArguments) -> str:
    """Propose one trial; it is run, checked, and accepted or rejected."""
    port = _port(context)
    study = _named(port, trial.study)
    view = port.view(study)
    start = trial.parent or (view.head.number if view.head is not None else None)
    offered = {each.name for each in port.actions(study, start)}
    if trial.action not in offered:
        raise UnknownNameError.among("action", trial.action, offered)
    proposal = Proposal(
        parent=start,
        action=Action(name=trial.action, arguments=trial.arguments),
        rationale=trial.rationale,
        hypothesis=trial.hypothesis,
        expected=trial.expected,
    )
    decided = port.propose(study, proposal)
    return f"{_full(decided)}\n{_left(port.view(study))}"


@tool(read_only=False, approval="never")
def hand_back_study(
    context: ToolContext, trials: Annotated[int, Field(ge=0)] = 0, study: str = ""
) -> str:
    """Let the built-in policy go on with a study from where it stands.

    Parameters
    ----------
    trials
        How many trials it may use; 0 for as many as the budget allows.
    study
        Its name; may be empty if there is only one.
    """
    port = _port(context)
    study = _named(port, study)
    port.hand_back(study, trials or None)
    return _described(port, study)


@tool(read_only=False, approval="never")
def finish_study(context: ToolContext, reason: str, abstain: bool = False, study: str = "") -> str:
    """End a study with its best trial, or abstain if no answer can be stood behind.

    Parameters
    ----------
    reason
        Why nothing more is tried.
    abstain
        Whether no answer is given.
    study
        Its name; may be empty if there is only one.
    """
    port = _port(context)
    conclusion = port.finish(_named(port, study), reason, abstain=abstain)
    best = f" Its result is trial {conclusion.best}." if conclusion.best is not None else ""
    return f"The study ended as {conclusion.status}: {conclusion.reason}{best}"


def _described(port: Studies, study: str) -> str:
    view = port.view(study)
    objective = view.objective
    start = view.head.number if view.head is not None else None
    unit = symbol(objective.unit) or "no unit"
    lines = [
        f"Study {view.study}: {objective.direction} {objective.metric} in {unit}.",
        f"Changes smaller than {objective.noise:g} count as none.",
        f"The next trial starts from {'nothing' if start is None else f'trial {start}'}.",
        _left(view),
    ]
    hidden = len(view.trials) - _SHOWN_TRIALS
    if hidden > 0:
        lines.append(f"{hidden} earlier trials are not shown; ask for one by its number.")
    lines += [_row(each, objective.metric) for each in view.trials[-_SHOWN_TRIALS:]]
    return "\n".join([*lines, _offered(port.actions(study, start))])


def _left(view: StudyView) -> str:
    known = {"trials": view.trials_left, "s of CPU time": view.cpu_left_s, "s": view.wall_left_s}
    left = [f"{value:g} {unit}" for unit, value in known.items() if value is not None]
    return f"Left: {', '.join(left)}." if left else "There is no limit."


def _row(trial: Trial, metric: str) -> str:
    outcome = trial.outcome
    value = "running"
    if outcome is not None:
        found = outcome.metrics.get(metric)
        value = f"{found.value:g} {symbol(found.unit)}" if found is not None else outcome.status
    verdict: str = trial.decision.verdict if trial.decision is not None else "undecided"
    if trial.invalidated is not None:
        verdict = f"invalidated ({trial.invalidated})"
    action = trial.proposal.action
    return (
        f"trial {trial.number} from {trial.proposal.parent or 'nothing'}: {action.name} "
        f"{canonical_json(action.arguments)}: {value}, {verdict}"
    )


def _full(trial: Trial) -> str:
    """All that may be seen of a trial: never its selection values."""
    lines = [_row(trial, ""), f"why: {trial.proposal.rationale}"]
    outcome = trial.outcome
    if outcome is not None:
        for name, metric in outcome.metrics.items():
            spread = f" ± {metric.uncertainty:g}" if metric.uncertainty is not None else ""
            lines.append(f"  {name} = {metric.value:g}{spread} {symbol(metric.unit)}")
        lines += [f"  note: {note}" for note in outcome.notes]
        lines += [f"  file: trials/{trial.number:04d}/{each.path}" for each in outcome.files]
        if outcome.error is not None:
            lines.append(f"  failed ({outcome.error.kind}): {outcome.error.message}")
        if outcome.correction is not None:
            lines.append(f"  may mend it: {outcome.correction.key}")
    if trial.decision is not None:
        lines += [f"  {trial.decision.verdict}: {reason}" for reason in trial.decision.reasons]
        lines += [
            f"  check {each.name}: {'passed' if each.passed else 'failed'}. {each.detail}"
            for each in trial.decision.checks
        ]
    return "\n".join(lines)


def _offered(actions: Sequence[ActionSpec]) -> str:
    lines = [
        f"  {each.name}: {each.summary} {canonical_json(each.arguments_schema)}" for each in actions
    ]
    return "\n".join(["Actions that may be proposed:", *lines])


STUDIES = (
    list_questions, inspect_question, start_study, inspect_study, propose_trial, hand_back_study,
    finish_study,
)  # fmt: skip

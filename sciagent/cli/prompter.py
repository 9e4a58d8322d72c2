"""Asks a person at a terminal, or a file piped to stdin, what to try next."""

from collections.abc import Callable, Sequence

from pydantic import JsonValue
from rich.console import Console
from rich.text import Text

from sciagent.cli.assignments import property_of, split_assignment, types_of, value_from_text
from sciagent.cli.progress import action_text
from sciagent.cli.streams import messages
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.ports import Problem
from sciagent.contracts.study import Abstain, Action, ActionSpec, Batch, Finish, Proposal
from sciagent.contracts.tree import StudyView, Trial
from sciagent.contracts.units import symbol
from sciagent.study.human import HumanPolicy

Answer = Batch | Finish | Abstain
ActionsOf = Callable[[Trial | None], Sequence[ActionSpec]]
RECENT = 8
"""Trials that are listed before each question."""


class TerminalPrompter:
    """Asks for one proposal at a time.

    Parameters
    ----------
    console
        Where questions are written (stderr, so that stdout stays for results).
    actions_of
        Gives the actions that may be proposed from a trial, or to begin with.
    read_line
        Reads one answer; raises `EOFError` when there are no more, which stops the run so that
        it can be resumed.
    """

    def __init__(
        self, console: Console, actions_of: ActionsOf, read_line: Callable[[], str] = input
    ) -> None:
        self._console = console
        self._actions_of = actions_of
        self._read_line = read_line

    def choose(self, view: StudyView, actions: tuple[ActionSpec, ...]) -> Answer:
        """Show the tree and the offered actions, and return the person's choice.

        Raises
        ------
        KeyboardInterrupt
            If there is nothing more to read.
        """
        parent, offered = view.head, tuple(actions)
        self._show(view, parent, offered)
        while True:
            word, _, rest = self._ask("action").strip().partition(" ")
            if not word:
                continue
            try:
                if word in {"finish", "abstain"}:
                    return self._end(word, rest.strip())
                if word == "back":
                    parent = _accepted(view, rest.strip())
                    offered = tuple(self._actions_of(parent))
                    self._show(view, parent, offered)
                else:
                    return self._propose(view, parent, _chosen(offered, word))
            except InputError as error:
                self._say(str(error), "red")

    def _propose(self, view: StudyView, parent: Trial | None, spec: ActionSpec) -> Batch:
        action = Action(name=spec.name, arguments=self._arguments(spec))
        number = parent.number if parent is not None else None
        if view.tried(number, action):
            self._say(f"{action_text(action)} was tried from here before.", "yellow")
        rationale = self._ask("why")
        return Batch(
            proposals=(Proposal(parent=number, action=action, rationale=rationale.strip()),)
        )

    def _arguments(self, spec: ActionSpec) -> dict[str, JsonValue]:
        schema = spec.arguments_schema
        properties = schema.get("properties")
        known = properties if isinstance(properties, dict) else {}
        if not known:
            return {}
        for name in known:
            self._say(f"    {argument_text(spec, name)}", "dim")
        arguments: dict[str, JsonValue] = {}
        while text := self._ask("argument KEY=VALUE, or an empty line").strip():
            try:
                key, value = split_assignment(text, f"{next(iter(known))}=VALUE")
                if key not in known:
                    raise UnknownNameError.among("argument", key, known)
                arguments[key] = value_from_text(value, property_of(schema, key), schema)
            except InputError as error:
                self._say(str(error), "red")
        _require(spec, arguments)
        return arguments

    def _end(self, word: str, reason: str) -> Finish | Abstain:
        reason = reason or self._ask("why").strip() or "No reason was given."
        return Finish(reason=reason) if word == "finish" else Abstain(reason=reason)

    def _show(self, view: StudyView, parent: Trial | None, actions: Sequence[ActionSpec]) -> None:
        self._say("")
        for trial in view.trials[-RECENT:]:
            self._say(trial_text(view, trial), "" if trial.accepted else "dim")
        place = f"Next from trial {parent.number}" if parent is not None else "From the start"
        self._say(f"{place}{_left(view)}:", "bold")
        for place_number, spec in enumerate(actions, start=1):
            self._say(f"  {place_number:>2}  {spec.name}: {spec.summary}")
        self._say("  a number or name, or: back N, finish, abstain", "dim")

    def _ask(self, what: str) -> str:
        self._console.print(Text(f"{what}> ", style="cyan"), end="", soft_wrap=True)
        try:
            return self._read_line()
        except EOFError as error:
            self._say("\nThere are no more answers to read.", "yellow")
            raise KeyboardInterrupt from error

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style=style), soft_wrap=True)


def human(problem: Problem) -> HumanPolicy:
    """Let the person at this terminal propose."""
    return HumanPolicy(problem, TerminalPrompter(messages(), problem.actions))


def trial_text(view: StudyView, trial: Trial) -> str:
    """A decided trial in one line."""
    mark = "✓" if trial.accepted else "✗"
    origin = "" if trial.proposal.parent is None else f" from {trial.proposal.parent}"
    text = f"{mark} {trial.number}{origin}: {action_text(trial.proposal.action)}"
    measured = trial.outcome.metrics.get(view.objective.metric) if trial.outcome else None
    if measured is not None:
        text += f": {view.objective.metric} {measured.value:.4g} {symbol(measured.unit)}".rstrip()
    if trial.decision is not None and not trial.accepted:
        text += f" ({'; '.join(trial.decision.reasons)})"
    return text


def argument_text(spec: ActionSpec, name: str) -> str:
    """What an argument may be, from its schema, such as ``cycles: integer, default 5``."""
    whole = spec.arguments_schema
    schema = property_of(whole, name)
    items = schema.get("items")
    choices = schema.get("enum") or (items.get("enum") if isinstance(items, dict) else None)
    parts = [" or ".join(sorted(types_of(schema, whole))) or "any value"]
    if isinstance(choices, list):
        parts.append("of " + " | ".join(map(str, choices)))
    if "unit" in schema:
        parts.append(f"in {schema['unit']}")
    if "default" in schema:
        parts.append(f"default {schema['default']}")
    if "description" in schema:
        parts.append(str(schema["description"]))
    return f"{name}: {', '.join(parts)}"


def _chosen(actions: Sequence[ActionSpec], word: str) -> ActionSpec:
    if word.isdecimal() and 1 <= int(word) <= len(actions):
        return actions[int(word) - 1]
    for spec in actions:
        if spec.name == word:
            return spec
    raise UnknownNameError.among("action", word, (spec.name for spec in actions))


def _accepted(view: StudyView, text: str) -> Trial:
    numbers = [trial.number for trial in view.trials if trial.accepted]
    if not text.isdecimal() or int(text) not in numbers:
        listing = ", ".join(map(str, numbers)) or "none yet"
        raise InputError(
            f"There is no accepted trial {text!r} to go back to.",
            f"Write back N with one of the accepted trials: {listing}.",
        )
    return view.trial(int(text))


def _require(spec: ActionSpec, arguments: dict[str, JsonValue]) -> None:
    required = spec.arguments_schema.get("required")
    missing = [
        name
        for name in (required if isinstance(required, list) else [])
        if isinstance(name, str) and name not in arguments
    ]
    if missing:
        raise InputError(
            f"The action {spec.name!r} needs {', '.join(missing)}.", "Choose the action again."
        )


def _left(view: StudyView) -> str:
    return "" if view.trials_left is None else f" ({view.trials_left} trials left)"

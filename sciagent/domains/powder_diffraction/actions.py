"""The actions of a refinement: how they are written, declared and read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.study import Action, ActionSpec
from sciagent.domains.powder_diffraction.types import GroupName, PhaseKey

START = "start"
RELEASE = "release"
EXCHANGE = "exchange"
ADD_PHASE = "add_phase"
LE_BAIL = "le_bail"
FINAL_REFIT = "final_refit"


@dataclass(frozen=True, slots=True)
class Freedom:
    """Which groups of which phases are free: all that tells what an action would change."""

    phases: tuple[PhaseKey, ...]
    groups: tuple[GroupName, ...]

    def after(self, action: Action) -> "Freedom":
        """Freedom of the model that an action makes from this one."""
        if action.name == ADD_PHASE:
            phase = candidate_of(action)
            return Freedom((*self.phases, phase), (*self.groups, f"scale.{phase}"))
        dropped = instead_of(action)
        kept = [name for name in self.groups if name != dropped]
        added = [name for name in groups_in(action) if name not in kept]
        return Freedom(self.phases, tuple(dict.fromkeys([*kept, *added])))


def first_freedom(phases: Sequence[PhaseKey]) -> Freedom:
    """Freedom of the first trial: the scales alone."""
    return Freedom(tuple(phases), tuple(f"scale.{phase}" for phase in phases))


def release(*groups: GroupName) -> Action:
    """Free these groups together."""
    return Action(name=RELEASE, arguments={"groups": list(groups)})


def exchange(*groups: GroupName, instead_of: GroupName) -> Action:
    """Free these groups and put another back to its start."""
    return Action(name=EXCHANGE, arguments={"groups": list(groups), "instead_of": instead_of})


def add_phase(candidate: PhaseKey) -> Action:
    """Add a candidate phase with its scale free."""
    return Action(name=ADD_PHASE, arguments={"candidate": candidate})


def groups_in(action: Action) -> tuple[GroupName, ...]:
    """Groups that an action frees.

    Raises
    ------
    InputError
        If they are not given as a list of names.
    """
    if action.name not in {RELEASE, EXCHANGE}:
        return ()
    groups = action.arguments.get("groups")
    if not isinstance(groups, list) or not groups or not all(isinstance(g, str) for g in groups):
        raise InputError(
            f"The action {action.name!r} needs `groups`, a list of parameter groups.",
            "Name at least one group, such as background.",
        )
    return tuple(str(name) for name in groups)


def instead_of(action: Action) -> GroupName:
    """Group that an exchange puts back; empty for other actions."""
    return str(action.arguments.get("instead_of", "")) if action.name == EXCHANGE else ""


def candidate_of(action: Action) -> PhaseKey:
    """Phase that an action adds; empty for other actions."""
    return str(action.arguments.get("candidate", "")) if action.name == ADD_PHASE else ""


def check_arguments(action: Action, groups: Sequence[GroupName], phases: Sequence[str]) -> None:
    """Refuse names that do not exist.

    Raises
    ------
    UnknownNameError
        If a group or a candidate is not known.
    """
    for name in (*groups_in(action), *filter(None, [instead_of(action)])):
        if name not in groups:
            raise UnknownNameError.among("parameter group", name, groups)
    if action.name == ADD_PHASE and candidate_of(action) not in phases:
        raise UnknownNameError.among("candidate phase", candidate_of(action), phases)


def in_words(action: Action) -> str:
    """An action as people say it."""
    if action.name == RELEASE:
        return f"release {' + '.join(groups_in(action))}"
    if action.name == EXCHANGE:
        return f"release {' + '.join(groups_in(action))} instead of {instead_of(action)}"
    if action.name == ADD_PHASE:
        return f"add the phase {candidate_of(action)}"
    return action.name.replace("_", " ")


def declared(groups: Sequence[GroupName], candidates: Sequence[PhaseKey]) -> tuple[ActionSpec, ...]:
    """Declare the actions that may be proposed from a trial."""
    named = _names(groups)
    several: JsonValue = {"type": "array", "items": named, "minItems": 1}
    specs = [
        ActionSpec(
            name=RELEASE,
            summary="Refine more groups of parameters, together with those that are free.",
            arguments_schema=_schema(groups=several),
        ),
        ActionSpec(
            name=EXCHANGE,
            summary="Refine groups instead of another, which goes back to its start.",
            arguments_schema=_schema(groups=several, instead_of=named),
        ),
        ActionSpec(
            name=LE_BAIL,
            summary="Fit the lines with free intensities: evidence on cell and wavelength only.",
        ),
        ActionSpec(
            name=FINAL_REFIT,
            summary="Refine what is free once more, on all channels and to full convergence.",
            acceptance="not_worse",
        ),
    ]
    if candidates:
        specs.insert(
            2,
            ActionSpec(
                name=ADD_PHASE,
                summary="Add one of the candidate phases, for lines that nothing explains.",
                arguments_schema=_schema(candidate=_names(candidates)),
            ),
        )
    return tuple(specs)


def declared_start() -> tuple[ActionSpec, ...]:
    """Declare the only action that needs no trial to start from."""
    return (ActionSpec(name=START, summary="Refine nothing but the scale of each phase."),)


def _names(names: Sequence[str]) -> JsonValue:
    enum: list[JsonValue] = [*names]
    return {"type": "string", "enum": enum}


def _schema(**properties: Any) -> dict[str, JsonValue]:
    required: list[JsonValue] = [*sorted(properties)]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }

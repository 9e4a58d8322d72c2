"""One trial: from the state of its parent, by an action, to a fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sciagent.contracts.errors import InputError
from sciagent.contracts.study import Action
from sciagent.domains.powder_diffraction import engine
from sciagent.domains.powder_diffraction.actions import (
    ADD_PHASE,
    EXCHANGE,
    FINAL_REFIT,
    LE_BAIL,
    RELEASE,
    START,
    Freedom,
    candidate_of,
    first_freedom,
    groups_in,
    instead_of,
)
from sciagent.domains.powder_diffraction.groups import (
    AXIAL,
    AXIAL_PATHS,
    owner_of,
    start_values,
)
from sciagent.domains.powder_diffraction.least_squares import (
    Mode,
    holds_parameters,
    least_squares,
)
from sciagent.domains.powder_diffraction.pattern import Pattern
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.types import (
    Fit,
    GroupName,
    ModelState,
    ParameterPath,
    PhaseSource,
)

MODES: dict[str, Mode] = {LE_BAIL: "le_bail", FINAL_REFIT: "final"}


@dataclass(frozen=True)
class Measurement:
    """What a refinement is given.

    Attributes
    ----------
    settings, pattern
        Of the measurement.
    phases, candidates
        Structures that the model starts with, and those that may be added.
    """

    settings: RefinementSettings
    pattern: Pattern
    phases: tuple[PhaseSource, ...]
    candidates: tuple[PhaseSource, ...]

    @cached_property
    def instrument(self) -> engine.ModelJson:
        """The instrument before anything is refined."""
        return engine.instrument_model(self.settings, self.pattern)

    def sources(self, keys: Sequence[str]) -> list[PhaseSource]:
        """Structures by their keys."""
        known = {source.key: source for source in (*self.phases, *self.candidates)}
        return [known[key] for key in keys]


@dataclass(frozen=True, slots=True)
class Step:
    """A fit with what it came from.

    Attributes
    ----------
    action
        What was done.
    origin
        The model of the same phases before anything was refined.
    begin
        The state the least squares began with.
    fit
        What they gave.
    new
        Groups that the action freed.
    """

    action: Action
    origin: ModelState
    begin: ModelState
    fit: Fit
    new: tuple[GroupName, ...]

    @property
    def state(self) -> ModelState:
        """The state the step leads to."""
        return self.begin.model_copy(
            update={"structure": self.fit.structure, "instrument": self.fit.instrument}
        )

    def owner(self, path: ParameterPath) -> GroupName:
        """Group that a parameter belongs to."""
        return owner_of(path, self.begin.groups, self.begin.phases)


def take_step(given: Measurement, action: Action, parent: ModelState | None) -> Step:
    """Carry an action out.

    Raises
    ------
    InputError
        If the action cannot be carried out from this state.
    ConvergenceError
        If the least squares break down.
    """
    begin = first_state(given) if parent is None else _begin(given, action, parent)
    before = parent.groups if parent is not None else ()
    return Step(
        action=action,
        origin=origin_of(given, begin),
        begin=begin,
        fit=least_squares(begin, given.pattern, MODES.get(action.name, "training")),
        new=tuple(name for name in begin.groups if name not in before),
    )


def first_state(given: Measurement) -> ModelState:
    """The model with nothing but the scales free, each phase with its share of the counts."""
    pattern = given.pattern
    instrument = given.instrument
    structure = engine.structure_model(given.phases)
    scales = [
        engine.linear_scale(engine.only_phase(structure, i), instrument, pattern, pattern.intensity)
        / len(given.phases)
        for i in range(len(given.phases))
    ]
    freedom = first_freedom([source.key for source in given.phases])
    return ModelState(
        structure=engine.with_scales(structure, scales),
        instrument=instrument,
        phases=freedom.phases,
        groups=freedom.groups,
        lines=engine.observed_lines(pattern, instrument),
    )


def origin_of(given: Measurement, state: ModelState) -> ModelState:
    """The model of a state's phases as it was given, with nothing refined."""
    return ModelState(
        structure=engine.structure_model(given.sources(state.phases)),
        instrument=given.instrument,
        phases=state.phases,
        groups=(),
    )


def _begin(given: Measurement, action: Action, parent: ModelState) -> ModelState:
    """The state an action's least squares begin with."""
    if action.name == START:
        raise InputError("A study starts once.", "Propose another action.")
    freedom = Freedom(parent.phases, parent.groups).after(action)
    if action.name == ADD_PHASE:
        return _with_phase(given, parent, candidate_of(action), freedom)
    begin = parent.model_copy(update={"groups": freedom.groups})
    if action.name == EXCHANGE:
        begin = _put_back(given, begin, parent, instead_of(action))
    if action.name in {RELEASE, EXCHANGE}:
        new = [name for name in groups_in(action) if name not in parent.groups]
        _check_new(begin, new)
        begin = engine.with_values(begin, start_values(new, parent.lines))
    return begin


def _check_new(begin: ModelState, new: Sequence[GroupName]) -> None:
    if not new:
        raise InputError("All these groups are free already.", "Release others.")
    if not holds_parameters(begin, new):
        raise InputError(
            f"{' + '.join(new)} holds no parameter that symmetry leaves free.",
            "Release another group.",
        )


def _put_back(
    given: Measurement, begin: ModelState, parent: ModelState, dropped: GroupName
) -> ModelState:
    """Give the parameters of a group their first values again."""
    if dropped.startswith("coordinates"):
        raise InputError("Coordinates are not put back.", "Propose from an earlier trial.")
    if dropped not in parent.groups:
        raise InputError(f"{dropped} is not free.", "Release the other group instead.")
    origin = origin_of(given, begin)
    values = engine.parameter_values(origin.structure, origin.instrument)
    values = {
        path: value
        for path, value in values.items()
        if owner_of(path, [dropped], parent.phases) or (dropped == AXIAL and path in AXIAL_PATHS)
    }
    return engine.with_values(begin, values)


def _with_phase(
    given: Measurement, parent: ModelState, candidate: str, freedom: Freedom
) -> ModelState:
    """The state with a candidate phase, scaled to what the other phases leave over."""
    if candidate in parent.phases:
        raise InputError(f"The phase {candidate} is in the model.", "Add another one.")
    pattern = given.pattern
    added = engine.structure_model(given.sources([candidate]))
    left = pattern.intensity - engine.predicted(
        parent.structure, parent.instrument, pattern.two_theta
    )
    scale = engine.linear_scale(added, parent.instrument, pattern, left)
    return parent.model_copy(
        update={
            "structure": engine.joined(parent.structure, engine.with_scales(added, [scale])),
            "phases": freedom.phases,
            "groups": freedom.groups,
        }
    )

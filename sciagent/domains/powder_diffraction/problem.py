"""The question `refine` as the loop sees it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciagent.contracts.domain import Inputs
from sciagent.contracts.errors import InputError
from sciagent.contracts.ports import Context
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import (
    ActionSpec,
    Check,
    Conclusion,
    Objective,
    Outcome,
    Proposal,
)
from sciagent.contracts.tree import StudyView, Trial
from sciagent.domains.powder_diffraction.actions import (
    START,
    check_arguments,
    declared,
    declared_start,
)
from sciagent.domains.powder_diffraction.checks import checks_of
from sciagent.domains.powder_diffraction.conclusion import NOTE_ON_LINES, conclude
from sciagent.domains.powder_diffraction.engine import read_instrument_file
from sciagent.domains.powder_diffraction.groups import groups_of_phase, instrument_groups
from sciagent.domains.powder_diffraction.limits import (
    HELD_OUT_NOISE_PERCENT,
    NOTABLE_CORRELATION,
    R_WP_NOISE_PERCENT,
    published_limits,
)
from sciagent.domains.powder_diffraction.measures import Measures, measure
from sciagent.domains.powder_diffraction.pattern import judged_pattern, read_columns
from sciagent.domains.powder_diffraction.refinement import Measurement, Step, take_step
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.structures import phase_sources
from sciagent.domains.powder_diffraction.tables import LIMITS, STATE, write_tables
from sciagent.domains.powder_diffraction.types import GroupName, ModelState

HELD_OUT_R_WP = "held_out_r_wp"
_LINES_NAMED = 6
_PAIRS_NAMED = 3


@dataclass(frozen=True)
class RefinementProblem:
    """A powder refinement (a `Problem`): the objective is R_wp in per cent.

    R_wp is always taken over all channels of the range, so that every trial can be compared with
    every other; what a trial was *fitted* to are the training channels, and only a final refit is
    fitted to all.
    """

    given: Measurement

    objective = Objective(metric="r_wp", unit="%", direction="minimise", noise=R_WP_NOISE_PERCENT)
    selection = Objective(
        metric=HELD_OUT_R_WP, unit="%", direction="minimise", noise=HELD_OUT_NOISE_PERCENT
    )
    repeatable = True

    @property
    def groups(self) -> tuple[GroupName, ...]:
        """Groups of parameters that may be released, in the order of the method."""
        phases = (*self.given.phases, *self.given.candidates)
        of_phases = [name for source in phases for name in groups_of_phase(source.key)]
        return (*instrument_groups(self.given.settings), *of_phases)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Keys of the phases that may be added."""
        return tuple(source.key for source in self.given.candidates)

    def actions(self, trial: Trial | None) -> tuple[ActionSpec, ...]:
        """Declare the start, or all that may be done from a trial."""
        return declared_start() if trial is None else declared(self.groups, self.candidates)

    def run(self, proposal: Proposal, context: Context) -> Outcome:
        """Carry a proposal out and write its files."""
        check_arguments(proposal.action, self.groups, self.candidates)
        parent = _read_state(context.parent_directory)
        if parent is None and proposal.action.name != START:
            raise InputError(f"{proposal.action.name!r} needs a trial to start from.")
        step = take_step(self.given, proposal.action, parent)
        measures = measure(step, self.given.pattern, parent)
        _write(step, measures, self.given, context.directory)
        selection: dict[str, Quantity] = {}
        if measures.held_out_r_wp_percent is not None:
            selection[HELD_OUT_R_WP] = Quantity(value=measures.held_out_r_wp_percent, unit="%")
        return Outcome(
            status="ok",
            metrics=measures.metrics,
            selection=selection,
            notes=tuple(_notes(step, measures)),
        )

    def checks(self, outcome: Outcome) -> tuple[Check, ...]:
        """Judge an outcome by bounds, signs, correlations and information."""
        return checks_of(outcome)

    def conclude(self, view: StudyView) -> Conclusion:
        """Stand behind the result, or abstain where the lines are not described."""
        return conclude(view)


def build(inputs: Inputs, settings: Any) -> RefinementProblem:
    """Read and judge what was given; nothing is computed yet.

    Raises
    ------
    InputError
        If the pattern or a structure cannot be used.
    """
    assert isinstance(settings, RefinementSettings)
    if settings.geometry == "debye_scherrer" and settings.wavelength_angstrom is None:
        raise InputError(
            "The Debye-Scherrer geometry needs a wavelength.",
            "Set wavelength_angstrom, such as 0.413909.",
        )
    (path,) = inputs["pattern"]
    columns = read_columns(Path(path))
    if columns is None:
        columns = read_instrument_file(Path(path))
    pattern = judged_pattern(columns, settings, Path(path).name)
    phases = phase_sources([Path(each) for each in inputs["structure"]])
    candidates = phase_sources([Path(each) for each in inputs.get("candidates", ())], phases)
    return RefinementProblem(Measurement(settings, pattern, tuple(phases), tuple(candidates)))


def _read_state(folder: Path | None) -> ModelState | None:
    if folder is None:
        return None
    return ModelState.model_validate_json((folder / STATE).read_bytes())


def _write(step: Step, measures: Measures, given: Measurement, folder: Path) -> None:
    state = step.state.model_copy(update={"fit": measures.summary})
    (folder / STATE).write_text(state.model_dump_json() + "\n", encoding="utf-8")
    write_tables(step, given.pattern, measures.match.unexplained, folder)
    if step.action.name == START:
        limits = {name: each.model_dump(mode="json") for name, each in published_limits().items()}
        (folder / LIMITS).write_text(json.dumps(limits, indent=1) + "\n", encoding="utf-8")


def _notes(step: Step, measures: Measures) -> list[str]:
    notes = []
    missing = measures.match.unexplained
    if missing:
        named = ", ".join(f"{line.two_theta_deg:.2f}" for line in missing[:_LINES_NAMED])
        more = f" and {len(missing) - _LINES_NAMED} more" if len(missing) > _LINES_NAMED else ""
        notes.append(f"{NOTE_ON_LINES}, strongest first: {named}{more} degrees two-theta.")
    strong = [c for c in step.fit.correlations if abs(c.rho) > NOTABLE_CORRELATION]
    if strong:
        named = "; ".join(f"{c.first} and {c.second} {c.rho:.4f}" for c in strong[:_PAIRS_NAMED])
        notes.append(f"Correlated: {named}.")
    return notes

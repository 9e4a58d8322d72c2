"""The built-in policy: the order of the method, with every rejected step proposed again.

It needs no model and keeps no state. From each accepted trial it goes once through all steps that
make sense there, in order, beginning behind the step that was accepted last; the first that is
accepted makes a new trial to start from. When a whole round is rejected it compares rivals, then
collects the evidence of a Le Bail fit, and refines once more on all channels or abstains.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sciagent.contracts.study import Abstain, Action, Batch, Finish, Proposal
from sciagent.contracts.tree import StudyView, Trial
from sciagent.domains.powder_diffraction.actions import (
    ADD_PHASE,
    EXCHANGE,
    FINAL_REFIT,
    LE_BAIL,
    RELEASE,
    START,
    Freedom,
    add_phase,
    candidate_of,
    exchange,
    first_freedom,
    groups_in,
    in_words,
    instead_of,
    release,
)
from sciagent.domains.powder_diffraction.conclusion import reason_to_abstain
from sciagent.domains.powder_diffraction.groups import (
    WIDTH,
    Group,
    are_rivals,
    group_of,
    groups_of_phase,
    instrument_groups,
    phase_of,
)
from sciagent.domains.powder_diffraction.limits import LINES_IN_PLACE_FRACTION, MAX_CORRELATION
from sciagent.domains.powder_diffraction.problem import RefinementProblem
from sciagent.domains.powder_diffraction.types import GroupName

PHYSICAL = ("biso", "doublet_ratio", "polarization", "transparency")
"""Checks of groups that can be put back when they leave their bounds."""
_CORRELATION_WITH = "correlation_with."


@dataclass(frozen=True)
class MethodPolicy:
    """Proposes in the order of the method, or in a shuffled one (a `Policy`)."""

    problem: RefinementProblem

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        """Say what to try next; the same view gives the same answer."""
        head = view.head
        if head is None:
            if view.trials:
                return Finish(reason="The first trial failed, so that there is nothing to refine.")
            return Batch(proposals=(_proposal(None, Action(name=START)),))
        if head.proposal.action.name == FINAL_REFIT:
            return Finish(reason="No further step improves the model.")
        untried = [a for a in self._round(view, head) if not view.tried(head.number, a)]
        if untried:
            return Batch(proposals=tuple(_proposal(head, action) for action in untried))
        return self._after_round(view, head)

    def _after_round(self, view: StudyView, head: Trial) -> Batch | Finish | Abstain:
        """Go on when every ordinary step was rejected."""
        rivals = [a for a in self._exchanges(view, head) if not view.tried(head.number, a)]
        if rivals:
            return Batch(proposals=tuple(_proposal(head, a) for a in rivals), rule="best")
        evidence = Action(name=LE_BAIL)
        if not view.tried(head.number, evidence):
            return Batch(proposals=(_proposal(head, evidence),))
        reason = reason_to_abstain(view, head)
        if reason:
            return Abstain(reason=reason)
        refit = Action(name=FINAL_REFIT)
        if view.tried(head.number, refit):
            return Finish(reason="The refit on all channels was rejected.")
        return Batch(proposals=(_proposal(head, refit),))

    @cached_property
    def order(self) -> tuple[Action, ...]:
        """All steps there are, in the order of the method or in a shuffled one."""
        steps = list(self._method())
        seed = self.problem.given.settings.proposal_order_seed
        if seed:
            random.Random(seed).shuffle(steps)
        return tuple(steps)

    def _method(self) -> Iterator[Action]:
        instrument = instrument_groups(self.problem.given.settings)
        phases = [source.key for source in self.problem.given.phases]
        cells = [f"cell.{phase}" for phase in phases]
        shift = "displacement" if "displacement" in instrument else "zero_shift"
        for name in ("background", WIDTH, "lorentzian_width", "gaussian_width"):
            yield release(name)
        # A cell that is off drags the widths along and the widths hide the cell: all at once.
        yield release(*cells, shift, WIDTH)
        yield release(shift)
        for name in ("axial_divergence", "transparency", "polarization", "doublet_ratio"):
            if name in instrument:
                yield release(name)
        for phase in phases:
            yield from _of_phase(phase)
        for candidate in self.problem.candidates:
            yield add_phase(candidate)
            yield from _of_phase(candidate)

    def _round(self, view: StudyView, head: Trial) -> list[Action]:
        """Steps that make sense from a trial, beginning behind the one that led to it."""
        freedom = self._freedom(view, head)
        begin = self.order.index(head.proposal.action) + 1 if self._is_step(head) else 0
        turned = self.order[begin:] + self.order[:begin]
        sensible = [step for step in turned if self._makes_sense(step, view, head, freedom)]
        # Steps of several groups come to the same as others once some of these are free.
        distinct: dict[str, Action] = {}
        for step in sensible:
            distinct.setdefault(_gain(step, freedom), step)
        return list(distinct.values())

    def _is_step(self, trial: Trial) -> bool:
        return trial.proposal.action in self.order

    def _freedom(self, view: StudyView, trial: Trial) -> Freedom:
        freedom = first_freedom([source.key for source in self.problem.given.phases])
        for each in view.path(trial)[1:]:
            freedom = freedom.after(each.proposal.action)
        return freedom

    def _makes_sense(self, step: Action, view: StudyView, head: Trial, freedom: Freedom) -> bool:
        """Whether a step can change anything, and can be judged, from a trial."""
        if step.name == ADD_PHASE:
            known = candidate_of(step) in freedom.phases
            return not known and head.metric("unexplained_lines") > 0 and _in_place(head)
        groups = groups_in(step)
        new = [name for name in groups if name not in freedom.groups]
        if not new or any(phase_of(n) and phase_of(n) not in freedom.phases for n in groups):
            return False
        if any(group_of(name).changes_intensities for name in new) and not _in_place(head):
            return False
        if "polarization" in new and not self._vibrations_are_free(freedom):
            return False
        return not _is_empty(step, view)

    def _vibrations_are_free(self, freedom: Freedom) -> bool:
        """Whether Biso explains what it can, before the instrument is made to explain the same."""
        return all(f"biso.{source.key}" in freedom.groups for source in self.problem.given.phases)

    def _exchanges(self, view: StudyView, head: Trial) -> list[Action]:
        """Rivals, compared when all else is settled, as what is missing may favour the wrong one.

        Zero shift against displacement always; and a step that was rejected for what an older
        group does, without that group: the two correlate and explain the same, or the older one
        left its bounds when the new one came.
        """
        free = self._freedom(view, head).groups
        found = []
        cells = any(name.startswith("cell.") for name in free)
        if cells and "displacement" in free and "zero_shift" not in free:
            found.append(exchange("zero_shift", instead_of="displacement"))
        for trial in _rejected_from(view, head):
            action = trial.proposal.action
            if action.name != RELEASE:
                continue
            olds = (*_correlated_rivals(trial, free), *_out_of_bounds(trial, free))
            found += [exchange(*groups_in(action), instead_of=name) for name in olds]
        return _unique(found)


def _of_phase(phase: str) -> Iterator[Action]:
    cell, biso, coordinates, occupancies = groups_of_phase(phase)
    yield release(cell)
    yield release(biso)
    yield release(coordinates)
    yield release(occupancies)


def _gain(step: Action, freedom: Freedom) -> str:
    """What a step changes; equal for steps that come to the same from here."""
    after = freedom.after(step)
    return f"{sorted(after.groups)} {after.phases}"


def _in_place(trial: Trial) -> bool:
    """Whether enough lines are where the model puts them for intensities to be judged."""
    return trial.metric("lines_beyond_chance") >= 100.0 * LINES_IN_PLACE_FRACTION


def _is_empty(step: Action, view: StudyView) -> bool:
    """Whether the step was found to hold no parameter at all."""
    for trial in view.trials:
        outcome = trial.outcome
        if trial.proposal.action == step and outcome is not None and outcome.error is not None:
            return outcome.error.kind.startswith("input")
    return False


def _rejected_from(view: StudyView, head: Trial) -> Iterator[Trial]:
    for trial in view.trials:
        decided = trial.decision is not None and trial.decision.verdict == "rejected"
        if trial.proposal.parent == head.number and decided:
            yield trial


def _failed_checks(trial: Trial) -> set[str]:
    checks = trial.decision.checks if trial.decision is not None else ()
    return {check.name for check in checks if check.hard and not check.passed}


def _correlated_rivals(trial: Trial, free: Sequence[GroupName]) -> Iterator[GroupName]:
    """Older groups that a rejected one could replace: rivals it correlates with."""
    if _failed_checks(trial) != {"correlation"} or trial.outcome is None:
        return
    groups = groups_in(trial.proposal.action)
    for name, value in trial.outcome.metrics.items():
        old = name.removeprefix(_CORRELATION_WITH)
        if name == old or value.value <= MAX_CORRELATION or old not in free:
            continue
        if all(are_rivals(old, group) for group in groups):
            yield old


def _out_of_bounds(trial: Trial, free: Sequence[GroupName]) -> Iterator[GroupName]:
    """Older groups that left their bounds when the new one came."""
    failed = _failed_checks(trial)
    for name in sorted(failed):
        if name in free and group_of_check(name):
            others = failed - {name, "correlation"}
            if not others:
                yield name


def group_of_check(name: str) -> bool:
    """Whether a check is about a group that can be put back."""
    return name.partition(".")[0] in PHYSICAL


def _unique(actions: Sequence[Action]) -> list[Action]:
    return list({action.key: action for action in actions}.values())


def _proposal(head: Trial | None, action: Action) -> Proposal:
    if head is None:
        return Proposal(
            parent=None,
            action=action,
            rationale="The scale alone shows how far the given structure carries.",
            expected="A poor fit that is a fair start.",
        )
    return Proposal(
        parent=head.number,
        action=action,
        rationale=_rationale(action),
        hypothesis=_hypothesis(action),
        expected=_expected(action),
    )


def _kinds(action: Action) -> list[Group]:
    return list({group_of(name).kind: group_of(name) for name in groups_in(action)}.values())


def _rationale(action: Action) -> str:
    if action.name == ADD_PHASE:
        return "Lines are left that no phase of the model explains."
    if action.name == LE_BAIL:
        return "Free intensities show what is left to the cell and the wavelength."
    if action.name == FINAL_REFIT:
        return "No further step improves the model; the held-out channels are given back to it."
    reasons = " ".join(group.rationale for group in _kinds(action))
    if action.name == EXCHANGE:
        return f"{reasons} It may explain the same as {instead_of(action)}, and better."
    return reasons


def _hypothesis(action: Action) -> str:
    if action.name in {LE_BAIL, FINAL_REFIT}:
        return ""
    return f"The pattern asks to {in_words(action)}."


def _expected(action: Action) -> str:
    if action.name == ADD_PHASE:
        return "Unexplained lines find a reflection."
    if action.name == LE_BAIL:
        return "R_wp near that of the refinement if the cell is right."
    if action.name == FINAL_REFIT:
        return "R_wp does not rise."
    return " ".join(group.expected for group in _kinds(action))

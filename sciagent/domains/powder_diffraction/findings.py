"""What a concluded refinement has to report, gathered from its trials."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sciagent.contracts.claim import ClaimRequest, Statement
from sciagent.contracts.tree import StudyFile, StudyView, Trial
from sciagent.domains.powder_diffraction.actions import LE_BAIL, RELEASE, groups_in
from sciagent.domains.powder_diffraction.claims import (
    TrialClaims,
    atom_claims,
    cell_claims,
    comparison,
    conclusion_claim,
    data_claims,
    instrument_claims,
    limit_claims,
    line_claims,
    reason_claim,
)
from sciagent.domains.powder_diffraction.conclusion import le_bail_of, reason_to_abstain
from sciagent.domains.powder_diffraction.limits import published_limits
from sciagent.domains.powder_diffraction.problem import RefinementProblem

LINES_SHOWN = 8
STUDY = "study.json"
_AGREEMENT = ("r_wp", "r_exp", "gof", "r_wp_background_subtracted")
_CHECKED = {
    "lines_explained": 1, "lines_beyond_chance": 1, "unexplained_lines": 0, "max_correlation": 3,
    "shift_over_esd": 4, "durbin_watson": 2, "esd_inflation": 2,
}  # fmt: skip
_CHECKED_OF_PHASES = {"biso_min": 2, "cell_change": 3}


@dataclass(frozen=True)
class Findings:
    """The parts of a report on one trial.

    Attributes
    ----------
    view
        The study.
    best
        The trial that is reported.
    problem
        The refinement.
    directory
        The workspace.
    """

    view: StudyView
    best: Trial
    problem: RefinementProblem
    directory: Path

    @cached_property
    def final(self) -> TrialClaims:
        """The trial that is reported."""
        subject = " + ".join(self.phases)
        return TrialClaims(self.best, subject, "", "final")

    @cached_property
    def start(self) -> TrialClaims:
        """The trial that the study began with."""
        return TrialClaims(self.view.path(self.best)[0], self.final.subject, "scale only", "start")

    @cached_property
    def le_bail(self) -> TrialClaims | None:
        """The Le Bail fit beside the trial that is reported."""
        trial = le_bail_of(self.view, self.best)
        if trial is None:
            return None
        return TrialClaims(trial, self.final.subject, "free intensities", "le_bail")

    @cached_property
    def phases(self) -> tuple[str, ...]:
        """Keys of the phases in the model."""
        metrics = self.best.outcome.metrics if self.best.outcome else {}
        names = [name.split(".", 1) for name in metrics if name.startswith("cell_change.")]
        return tuple(phase for _, phase in names)

    @cached_property
    def abstained(self) -> bool:
        """Whether the model is no description of the pattern."""
        return bool(reason_to_abstain(self.view, self.best))

    @cached_property
    def rejected(self) -> tuple[Trial, ...]:
        """Trials rejected in the last round, and the last try to free occupancies."""
        starts = {self.best.number, self.best.proposal.parent}
        rejected = [each for each in self.view.trials if _is_rejected(each)]
        chosen = [each for each in rejected if each.proposal.parent in starts]
        frees = [each for each in rejected if _frees_occupancies(each)]
        chosen += [each for each in frees[-1:] if each not in chosen]
        return tuple(sorted(chosen, key=lambda each: each.number))

    @cached_property
    def occupancies(self) -> Trial | None:
        """The last rejected try to free occupancies, of the phases that were given if there is."""
        frees = [each for each in self.rejected if _frees_occupancies(each)]
        given = {f"occupancies.{source.key}" for source in self.problem.given.phases}
        of_given = [each for each in frees if given & set(groups_in(each.proposal.action))]
        chosen = of_given or frees
        return chosen[-1] if chosen else None

    @cached_property
    def numbers(self) -> tuple[ClaimRequest, ...]:
        """All numbers and texts of the report."""
        return tuple(self._numbers())

    def _numbers(self) -> Iterator[ClaimRequest]:
        for name in _AGREEMENT:
            yield self.final.metric(name)
        yield self.final.metric("parameters", 0)
        yield self.start.metric("r_wp")
        if self.le_bail is not None:
            yield self.le_bail.metric("r_wp")
            yield self.le_bail.metric("r_wp_background_subtracted")
        if not self.abstained:
            for phase in self.phases:
                yield from cell_claims(self.final, phase)
            yield from instrument_claims(self.final)
            yield from atom_claims(self.final, self.directory)
        yield from data_claims(self.final, self.directory)
        for name, decimals in self._checked():
            yield self.final.metric(name, decimals, identifier=f"check.{name}")
        yield from line_claims(self.final, self.directory, LINES_SHOWN)
        yield from limit_claims(self.start.trial)
        study = StudyFile.model_validate_json((self.directory / STUDY).read_bytes())
        for trial in self.rejected:
            yield reason_claim(study, trial)
        yield conclusion_claim()

    def _checked(self) -> Iterator[tuple[str, int]]:
        for name, decimals in _CHECKED.items():
            if name in self.final.metrics:
                yield name, decimals
        for name, decimals in _CHECKED_OF_PHASES.items():
            for phase in self.phases:
                yield f"{name}.{phase}", decimals

    def have(self, prefix: str) -> bool:
        """Whether the report has a number or text whose ID begins so."""
        return any(each.id.startswith(prefix) for each in self.numbers)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Comparisons, each in the direction that is true."""
        return tuple(self._statements())

    def _statements(self) -> Iterator[Statement]:
        pairs = [("fall", "R_wp against the start", "final.r_wp", "start.r_wp")]
        if self.le_bail is not None:
            words = "R_wp against free intensities"
            pairs.append(("intensities", words, "final.r_wp", "le_bail.r_wp"))
        if "shift_over_esd" in self.final.metrics:
            pairs.append(
                ("shift", "last shift", "check.shift_over_esd", "limit.shift_over_esd_max")
            )
        pairs.append(
            ("correlation", "strongest correlation", "check.max_correlation",
             "limit.max_correlation")
        )  # fmt: skip
        subtracted = "final.r_wp_background_subtracted"
        pairs.append(("description", "R_wp less background", subtracted, "limit.unexplained"))
        pairs += [
            (f"vibration.{phase}", "smallest Biso", f"check.biso_min.{phase}", "limit.biso_min")
            for phase in self.phases
        ]
        for identifier, words, left, right in pairs:
            yield comparison(
                identifier, words, (left, self._value(left)), (right, self._value(right))
            )

    def _value(self, identifier: str) -> float:
        """Value behind the ID of a number."""
        prefix, _, name = identifier.partition(".")
        if prefix == "limit":
            return published_limits()[name].value
        trials = {"final": self.final, "check": self.final, "start": self.start}
        if self.le_bail is not None:
            trials["le_bail"] = self.le_bail
        return trials[prefix].metrics[name].value

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Claims that the report must carry."""
        always = ("final.r_wp", "final.r_exp", "conclusion")
        if self.abstained:
            return (*always, "final.r_wp_background_subtracted", "check.lines_explained")
        cells = [each.id for phase in self.phases for each in cell_claims(self.final, phase)]
        return (*always, "start.r_wp", "final.gof", "check.max_correlation", *cells)


def _is_rejected(trial: Trial) -> bool:
    decided = trial.decision is not None and trial.decision.verdict == "rejected"
    return decided and trial.proposal.action.name != LE_BAIL


def _frees_occupancies(trial: Trial) -> bool:
    action = trial.proposal.action
    return action.name == RELEASE and any(g.startswith("occupancies") for g in groups_in(action))

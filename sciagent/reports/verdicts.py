"""The verdict on one claim from the evidence as it lies there, without computing anything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sciagent.contracts.claim import (
    CitationClaim,
    Claim,
    FigureClaim,
    InferenceClaim,
    NumberClaim,
    Source,
    Statement,
    TextClaim,
    Verdict,
    VerdictName,
)
from sciagent.contracts.errors import InputError
from sciagent.contracts.literature import Work
from sciagent.contracts.study import Outcome
from sciagent.reports.citations import CitationJudge
from sciagent.reports.digits import plain_decimal
from sciagent.reports.evidence import Evidence
from sciagent.reports.pointers import PointerError, value_in_json
from sciagent.reports.resolve import sides_of
from sciagent.reports.statements import holds, words_between
from sciagent.workspace.layout import OUTCOME, TRIALS


def trial_of_path(path: str) -> int | None:
    """Number of the trial whose folder a path lies in."""
    parts = path.split("/")
    return int(parts[1]) if len(parts) > 2 and parts[0] == TRIALS and parts[1].isdigit() else None


@dataclass(frozen=True)
class Judge:
    """Judges claims by one workspace's artifacts and by the outcomes its journal recorded."""

    claims: Sequence[Claim]
    evidence: Evidence
    outcomes: Mapping[int, Outcome] = field(default_factory=dict)
    works: Mapping[str, Work] = field(default_factory=dict)

    @cached_property
    def _citations(self) -> CitationJudge:
        return CitationJudge(self.claims, self.evidence.root, self.works)

    def judge(self, claim: Claim) -> Verdict:
        """Give the verdict on a claim."""
        try:
            verdict, detail = self._judged(claim)
        except PointerError as error:
            verdict, detail = "unresolved", error.message
        except InputError as error:
            verdict, detail = "unresolved", str(error)
        return Verdict(claim=claim.id, verdict=verdict, detail=detail)

    def _judged(self, claim: Claim) -> tuple[VerdictName, str]:
        if isinstance(claim, CitationClaim):
            return self._citations.judge(claim)
        if isinstance(claim, InferenceClaim):
            return "inference", "The author's inference: no source is given for it."
        if isinstance(claim, Statement):
            return self._statement(claim)
        if isinstance(claim, FigureClaim):
            faults = self._faults_of_figure(claim)
            good = f"{claim.path} and its data are intact."
        else:
            faults = self._faults_of_value(claim)
            good = f"{claim.source.path} holds {_shown(claim)} at {claim.source.pointer}."
        return ("mismatch", faults[0]) if faults else ("matched", good)

    def _statement(self, claim: Statement) -> tuple[VerdictName, str]:
        left, right = sides_of(claim, tuple(self.claims))
        for side in (left, right):
            verdict = self.judge(side)
            if verdict.verdict != "matched":
                return verdict.verdict, f"{side.id}: {verdict.detail}"
        comparison = f"{_shown(left)} {words_between(claim, left)} {_shown(right)}"
        if holds(claim, left.value, right.value):
            return "matched", f"{comparison}."
        return "mismatch", f"It is not true that {comparison}."

    def _faults_of_figure(self, claim: FigureClaim) -> list[str]:
        faults = [fault for source in claim.data if (fault := self._stale(source))]
        if self.evidence.sha256(claim.path) != claim.image_sha256:
            faults.append(f"{claim.path} is not the image that was drawn.")
        return faults

    def _stale(self, source: Source) -> str:
        if self.evidence.sha256(source.path) == source.sha256:
            return ""
        return f"{source.path} was changed after the claim was made (stale artifact)."

    def _faults_of_value(self, claim: NumberClaim | TextClaim) -> list[str]:
        place = claim.source
        if isinstance(claim, TextClaim):
            faults = _differing("text", claim.value, self.evidence.word(place.path, place.pointer))
        else:
            faults = self._faults_of_number(claim)
        for key, said in (("subject", claim.subject), ("quantity", claim.quantity)):
            named = self.evidence.beside(place.path, place.pointer, key)
            if named is not None:
                faults += _differing(key, said, named)
        trial, of_path = claim.produced_by.trial, trial_of_path(place.path)
        if trial is not None and of_path is not None and trial != of_path:
            faults.append(f"It is said to come from trial {trial}, but stands in {place.path}.")
        return [*faults, *filter(None, [self._stale(place)])]

    def _faults_of_number(self, claim: NumberClaim) -> list[str]:
        path, pointer = claim.source.path, claim.source.pointer
        faults = _differing("value", claim.value, self.evidence.number(path, pointer))
        unit = self.evidence.beside(path, pointer, "unit")
        if unit is not None:
            faults += _differing("unit", claim.unit, unit)
        if claim.uncertainty_pointer is not None:
            found = self.evidence.number(path, claim.uncertainty_pointer)
            faults += _differing("uncertainty", claim.uncertainty, found)
        elif claim.uncertainty is not None:
            faults.append("Its uncertainty names no place that it was read from.")
        return faults + self._faults_by_journal(claim)

    def _faults_by_journal(self, claim: NumberClaim) -> list[str]:
        """The outcome that the journal recorded is a second, independent copy."""
        trial = trial_of_path(claim.source.path)
        outcome = self.outcomes.get(trial) if trial is not None else None
        if outcome is None or not claim.source.path.endswith(f"/{OUTCOME}"):
            return []
        try:
            recorded = value_in_json(outcome.model_dump(mode="json"), claim.source.pointer)
        except PointerError:
            return [f"The journal recorded no {claim.source.pointer} of trial {trial}."]
        if isinstance(recorded, int | float) and float(recorded) == claim.value:
            return []
        return [f"The journal recorded {recorded} for trial {trial}, the claim is {claim.value}."]


def _shown(claim: NumberClaim | TextClaim) -> str:
    if isinstance(claim, TextClaim):
        return repr(claim.value)
    return f"{plain_decimal(claim.value)} {claim.unit}"


def _differing(what: str, claimed: Any, found: Any) -> list[str]:
    if claimed == found:
        return []
    return [f"The {what} claimed is {claimed}, the artifact holds {found}."]

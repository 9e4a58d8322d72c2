"""Powder diffraction as the rest of the package sees it."""

from pathlib import Path

from sciagent.contracts.domain import Domain, InputSpec, Question
from sciagent.contracts.ports import Policy, Problem
from sciagent.domains.powder_diffraction.figures import DRAWINGS
from sciagent.domains.powder_diffraction.policy import MethodPolicy
from sciagent.domains.powder_diffraction.problem import RefinementProblem, build
from sciagent.domains.powder_diffraction.report import report
from sciagent.domains.powder_diffraction.settings import RefinementSettings
from sciagent.domains.powder_diffraction.simulation import simulate

PATTERN_SUFFIXES = (".xye", ".xy", ".dat", ".txt", ".csv", ".xra", ".fxye", ".gsa", ".xrdml",
                    ".raw", ".brml", ".ras", ".rasx", ".udf", ".uxd", ".chi")  # fmt: skip


def _policy(problem: Problem) -> Policy:
    assert isinstance(problem, RefinementProblem)
    return MethodPolicy(problem)


DOMAIN = Domain(
    name="powder_diffraction",
    title="Powder diffraction",
    summary="Crystal structures refined against powder patterns by the Rietveld method.",
    extra="diffraction",
    questions=(
        Question(
            name="refine",
            title="Refinement of crystal structures against a powder pattern",
            summary="Refines cell, profile and atoms from a poor start to a model that is checked, "
            "adds phases for unexplained lines, or abstains.",
            inputs=(
                InputSpec(
                    name="pattern",
                    summary="powder pattern: two-theta, counts and, if known, sigma",
                    suffixes=PATTERN_SUFFIXES,
                ),
                InputSpec(
                    name="structure",
                    summary="a CIF for each phase that is known to be there",
                    many=True,
                    suffixes=(".cif",),
                ),
                InputSpec(
                    name="candidates",
                    summary="a CIF for each phase that may be there too",
                    required=False,
                    many=True,
                    suffixes=(".cif",),
                ),
            ),
            settings=RefinementSettings,
            build=build,
            policy=_policy,
            report=report,
            drawings=DRAWINGS,
            packages=("rietx", "rietx-kernels", "gemmi"),
        ),
    ),
    guide=Path(__file__).with_name("guide.md"),
    simulate=simulate,
)

"""The numbers that a report of a refinement states: where each stands, and how it is printed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sciagent.contracts.claim import ClaimRequest, Statement
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.tree import StudyFile, Trial
from sciagent.contracts.units import Unit
from sciagent.domains.powder_diffraction.actions import in_words
from sciagent.domains.powder_diffraction.limits import published_limits
from sciagent.domains.powder_diffraction.tables import (
    ATOMS,
    FIT,
    LIMITS,
    UNEXPLAINED,
    read_table,
)

TOLERANCE_OVER_ESD = 0.1
"""Another machine may round differently, but not by a tenth of an uncertainty."""
TOLERANCES = {"%": 0.005, "Ao": 2e-5, "Ao2": 0.01, "deg": 0.002, "um": 0.5, "1": 0.005}
"""For values without an uncertainty, by unit."""
_COUNTED = {"{count}", "{channel}"}
_ATOM_COLUMNS: dict[str, tuple[str, Unit]] = {
    "x": ("x", "1"), "y": ("y", "1"), "z": ("z", "1"),
    "occupancy": ("occupancy", "1"), "biso_angstrom2": ("Biso", "Ao2"),
}  # fmt: skip
_LABELS = {
    "r_wp": "R_wp", "r_exp": "R_exp", "gof": "goodness of fit",
    "r_wp_background_subtracted": "R_wp less background", "chi2": "χ²",
    "parameters": "refined parameters", "channels": "channels",
    "durbin_watson": "Durbin-Watson statistic", "esd_inflation": "inflation of uncertainties",
    "shift_over_esd": "largest last shift over its uncertainty",
    "max_correlation": "strongest correlation", "lines_explained": "line area explained",
    "lines_beyond_chance": "line area explained beyond chance",
    "unexplained_lines": "unexplained lines", "biso_min": "smallest Biso",
    "cell_change": "largest change of a cell length", "weight": "weight fraction",
    "displacement": "specimen displacement", "zero_shift": "zero shift",
    "axial_divergence": "axial divergence S/L", "transparency": "specimen transparency",
    "polarization": "polarization fraction", "doublet_ratio": "Kα2 : Kα1",
}  # fmt: skip
_LIMIT_LABELS = {
    "max_correlation": "strongest correlation allowed of a new parameter",
    "biso_min": "smallest Biso allowed",
    "biso_max": "largest Biso allowed",
    "cell_change_max": "largest change of a cell length allowed",
    "shift_over_esd_max": "last shift over its uncertainty at convergence",
    "unexplained": "R_wp less background above which a model is no description",
    "between_codes": "agreement of cell lengths between programs",
}


def decimals_from_uncertainty(uncertainty: float | None, otherwise: int) -> int:
    """Decimals that print an uncertainty with two significant digits."""
    if not uncertainty:
        return otherwise
    return max(0, min(9, 1 - math.floor(math.log10(uncertainty))))


@dataclass(frozen=True)
class TrialClaims:
    """Makes requests for the values of one trial.

    Attributes
    ----------
    trial
        The trial.
    subject
        What its values are said of.
    condition
        Under which they hold.
    prefix
        First part of the claims' IDs.
    """

    trial: Trial
    subject: str
    condition: str
    prefix: str

    @property
    def folder(self) -> str:
        """Folder of the trial, relative to the workspace."""
        return f"trials/{self.trial.number:04d}"

    @property
    def metrics(self) -> dict[str, Quantity]:
        """Metrics of the trial."""
        return self.trial.outcome.metrics if self.trial.outcome else {}

    def metric(self, name: str, decimals: int = 2, *, identifier: str = "") -> ClaimRequest:
        """Request a metric; decimals follow the uncertainty where there is one."""
        value = self.metrics[name]
        kind, _, phase = name.partition(".")
        pointer = f"/metrics/{name}"
        unsure = value.uncertainty is not None and value.uncertainty > 0
        return ClaimRequest(
            id=identifier or f"{self.prefix}.{name}",
            subject=phase or self.subject,
            quantity=_LABELS.get(kind, kind.replace("_", " ").replace("cell", "cell length")),
            condition=self.condition,
            path=f"{self.folder}/outcome.json",
            pointer=f"{pointer}/value",
            unit=value.unit,
            decimals=decimals_from_uncertainty(value.uncertainty, decimals),
            tolerance=_tolerance(value.unit, value.uncertainty),
            trial=self.trial.number,
            uncertainty_pointer=f"{pointer}/uncertainty" if unsure else None,
        )

    def place(
        self, identifier: str, quantity: str, at: tuple[str, str], unit: Unit, decimals: int
    ) -> ClaimRequest:
        """Request a number at ``(file of the trial, pointer)``."""
        return ClaimRequest(
            id=identifier, subject=self.subject, quantity=quantity, condition="",
            path=f"{self.folder}/{at[0]}", pointer=at[1], unit=unit, decimals=decimals,
            tolerance=_tolerance(unit, None), trial=self.trial.number,
        )  # fmt: skip


def _tolerance(unit: Unit, uncertainty: float | None) -> float:
    if uncertainty:
        return TOLERANCE_OVER_ESD * uncertainty
    return 0.0 if unit in _COUNTED else TOLERANCES.get(unit, 1e-9)


def cell_claims(claims: TrialClaims, phase: str) -> Iterator[ClaimRequest]:
    """Cell parameters that symmetry leaves different from each other, and weight fraction."""
    metrics = claims.metrics
    seen: list[float] = []
    for axis in ("a", "b", "c"):
        name = f"cell_{axis}.{phase}"
        if metrics[name].value not in seen:
            seen.append(metrics[name].value)
            found = claims.metric(name, 4, identifier=f"cell.{phase}.{axis}")
            given = "" if found.uncertainty_pointer else "as given, not refined"
            yield found.model_copy(update={"condition": given})
    for angle in ("alpha", "beta", "gamma"):
        name = f"cell_{angle}.{phase}"
        if metrics[name].uncertainty:
            yield claims.metric(name, 3, identifier=f"cell.{phase}.{angle}").model_copy(
                update={"quantity": f"cell angle {angle}"}
            )
    if f"weight.{phase}" in metrics:
        yield claims.metric(f"weight.{phase}", 2, identifier=f"cell.{phase}.weight")


def instrument_claims(claims: TrialClaims) -> Iterator[ClaimRequest]:
    """Properties of the instrument that were refined."""
    for name in ("displacement", "zero_shift", "transparency", "axial_divergence",
                 "polarization", "doublet_ratio"):  # fmt: skip
        if name in claims.metrics:
            found = claims.metric(name, 4, identifier=f"instrument.{name}")
            yield found.model_copy(update={"subject": "instrument and specimen"})


def atom_claims(claims: TrialClaims, directory: Path) -> Iterator[ClaimRequest]:
    """Coordinates, occupancies and displacement parameters that were refined."""
    table = read_table(directory / claims.folder / ATOMS)
    for row, atom in enumerate(table):
        for column, (quantity, unit) in _ATOM_COLUMNS.items():
            esd = float(atom[f"{column}_esd"]) if atom[f"{column}_esd"] else None
            if not esd:
                continue
            yield ClaimRequest(
                id=f"atom.{atom['phase']}.{row}.{quantity.lower()}",
                subject=f"{atom['label']} in {atom['phase']}",
                quantity=quantity,
                path=f"{claims.folder}/{ATOMS}",
                pointer=f"{row},{column}",
                unit=unit,
                decimals=decimals_from_uncertainty(esd, 4),
                tolerance=_tolerance(unit, esd),
                trial=claims.trial.number,
                uncertainty_pointer=f"{row},{column}_esd",
            )


def data_claims(claims: TrialClaims, directory: Path) -> Iterator[ClaimRequest]:
    """Wavelength and range of the pattern."""
    last = len(read_table(directory / claims.folder / FIT)) - 1
    yield claims.metric("wavelength", 6, identifier="data.wavelength")
    yield claims.place("data.first", "first angle", (FIT, "0,two_theta_deg"), "deg", 2)
    yield claims.place("data.last", "last angle", (FIT, f"{last},two_theta_deg"), "deg", 2)
    yield claims.metric("channels", 0, identifier="data.channels")


def line_claims(claims: TrialClaims, directory: Path, most: int) -> Iterator[ClaimRequest]:
    """Observed lines that no reflection explains, strongest first."""
    table = read_table(directory / claims.folder / UNEXPLAINED)
    for row in range(min(len(table), most)):
        yield claims.place(
            f"line.{row}", f"unexplained line {row + 1}", (UNEXPLAINED, f"{row},two_theta_deg"),
            "deg", 2,
        )  # fmt: skip


def limit_claims(first: Trial) -> Iterator[ClaimRequest]:
    """Limits of the method, as the first trial wrote them down."""
    for name, limit in published_limits().items():
        decimals = 0 if limit.unit in {"[ppm]", "%"} else 2
        yield ClaimRequest(
            id=f"limit.{name}", subject="method", quantity=_LIMIT_LABELS[name],
            path=f"trials/{first.number:04d}/{LIMITS}", pointer=f"/{name}/value",
            unit=limit.unit, decimals=decimals, tolerance=0.0, trial=first.number,
        )  # fmt: skip


def comparison(
    identifier: str, quantity: str, left: tuple[str, float], right: tuple[str, float]
) -> Statement:
    """State which of two numbers is smaller, whichever it is."""
    operator: Literal["lt", "ge"] = "lt" if left[1] < right[1] else "ge"
    return Statement(
        id=identifier, subject="comparison", quantity=quantity, left=left[0],
        operator=operator, right=right[0],
    )  # fmt: skip


def reason_claim(study: StudyFile, trial: Trial) -> ClaimRequest:
    """Why a trial was rejected, as the study recorded it."""
    trials = study.studies[0].trials
    place = next(i for i, each in enumerate(trials) if each.number == trial.number)
    return ClaimRequest(
        id=f"rejected.{trial.number:04d}", subject=in_words(trial.proposal.action),
        quantity="rejected", kind="text", path="study.json",
        pointer=f"/studies/0/trials/{place}/decision/reasons/0",
        unit="1", decimals=0, tolerance=0.0,
    )  # fmt: skip


def conclusion_claim() -> ClaimRequest:
    """How the study ended, as it was recorded."""
    return ClaimRequest(
        id="conclusion", subject="study", quantity="conclusion", kind="text", path="study.json",
        pointer="/studies/0/conclusion/reason", unit="1", decimals=0, tolerance=0.0,
    )  # fmt: skip

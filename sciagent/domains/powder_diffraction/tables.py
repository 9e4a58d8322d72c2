"""Files of a trial that people read: CSV tables and the refined structure."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from sciagent.domains.powder_diffraction import engine
from sciagent.domains.powder_diffraction.pattern import Pattern
from sciagent.domains.powder_diffraction.refinement import Step
from sciagent.domains.powder_diffraction.types import Line

STATE = "state.json"
FIT = "fit.csv"
REFLECTIONS = "reflections.csv"
PARAMETERS = "parameters.csv"
ATOMS = "atoms.csv"
CORRELATIONS = "correlations.csv"
UNEXPLAINED = "unmatched_lines.csv"
STRUCTURE = "structure.cif"
LIMITS = "limits.json"


def write_tables(step: Step, pattern: Pattern, unexplained: Sequence[Line], folder: Path) -> None:
    """Write all tables of a step into the folder of its trial."""
    _write_fit(step, pattern, folder / FIT)
    _write_reflections(step, folder / REFLECTIONS)
    _write_atoms(step, folder / ATOMS)
    parameters = [
        [p.path, step.owner(p.path), repr(p.value), _text(p.uncertainty), p.unit]
        for p in step.fit.parameters
    ]
    _write(folder / PARAMETERS, ["path", "group", "value", "esd", "unit"], parameters)
    pairs = [[c.first, c.second, f"{c.rho:.6f}"] for c in step.fit.correlations]
    _write(folder / CORRELATIONS, ["first", "second", "rho"], pairs)
    lines = [
        [f"{x.two_theta_deg:.4f}", f"{x.fwhm_deg:.4f}", f"{100 * x.share_fraction:.4f}"]
        for x in unexplained
    ]
    _write(folder / UNEXPLAINED, ["two_theta_deg", "fwhm_deg", "share_percent"], lines)
    engine.write_cif(step.fit.structure, folder / STRUCTURE)


def _write_fit(step: Step, pattern: Pattern, path: Path) -> None:
    fit = step.fit
    columns = (pattern.two_theta, pattern.intensity, fit.calculated, fit.background, pattern.sigma)
    rows = (
        [f"{x:.5g}" if x == round(x, 2) else f"{x:.5f}", f"{observed:.10g}", f"{calculated:.2f}",
         f"{background:.2f}", f"{observed - calculated:.2f}", f"{sigma:.6g}"]
        for x, observed, calculated, background, sigma in zip(*columns, strict=True)
    )  # fmt: skip
    header = ["two_theta_deg", "observed", "calculated", "background", "difference", "sigma"]
    _write(path, header, rows)


def _write_reflections(step: Step, path: Path) -> None:
    places = {phase: place for place, phase in enumerate(step.begin.phases)}
    rows = (
        [each.phase, each.emission_line, *each.hkl, f"{each.d_angstrom:.6f}",
         f"{each.two_theta_deg:.5f}", each.multiplicity, f"{each.intensity:.6g}"]
        for each in sorted(
            step.fit.reflections, key=lambda r: (places[r.phase], r.two_theta_deg, r.hkl)
        )
    )  # fmt: skip
    header = ["phase", "emission_line", "h", "k", "l", "d_angstrom", "two_theta_deg",
              "multiplicity", "intensity"]  # fmt: skip
    _write(path, header, rows)


def _write_atoms(step: Step, path: Path) -> None:
    columns = {"x": "x", "y": "y", "z": "z", "occupancy": "occ", "biso_angstrom2": "biso"}
    structure = cast("dict[str, Any]", step.fit.structure)
    rows = []
    for key, phase in zip(step.begin.phases, structure["phases"], strict=True):
        for atom in phase["atoms"]:
            row = [key, atom["label"], atom["species"]]
            for name in columns.values():
                row += [repr(float(atom[name]["value"])), _text(atom[name]["stderr"])]
            rows.append(row)
    header = ["phase", "label", "element"]
    for name in columns:
        header += [name, f"{name}_esd"]
    _write(path, header, rows)


def _text(value: Any) -> str:
    """A number to its last bit; empty where there is none or it is nothing."""
    return repr(float(value)) if isinstance(value, int | float) and value else ""


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def read_table(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV table by the names of its columns."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))

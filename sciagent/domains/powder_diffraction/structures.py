"""Crystal structures: judged before the engine reads them, and given short names."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sciagent.contracts.errors import InputError
from sciagent.domains.powder_diffraction.types import PhaseSource

_NAMELESS = {"", "global", "image0", "publication_text", "unknown", "i"}
_ANGLE_AND_LENGTH_TAGS = tuple(
    [f"_cell_length_{axis}" for axis in "abc"]
    + [f"_cell_angle_{angle}" for angle in ("alpha", "beta", "gamma")]
)
_SYMMETRY_TAGS = (
    "_symmetry_space_group_name_H-M",
    "_space_group_name_H-M_alt",
    "_symmetry_space_group_name_Hall",
    "_space_group_name_Hall",
    "_symmetry_Int_Tables_number",
    "_space_group_IT_number",
)
_OPERATION_TAGS = ("_symmetry_equiv_pos_as_xyz", "_space_group_symop_operation_xyz")


def phase_sources(paths: Sequence[Path], taken: Sequence[PhaseSource] = ()) -> list[PhaseSource]:
    """Judge CIFs and give each phase a key that no other has.

    Parameters
    ----------
    paths
        One CIF per phase; its first data block is read.
    taken
        Phases that have their keys already.

    Raises
    ------
    InputError
        If a CIF cannot be read, lacks cell, symmetry or atoms, is disordered, or names an
        unknown element.
    """
    keys = {phase.key for phase in taken}
    sources = []
    for path in paths:
        name = checked_phase_name(path)
        stem = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "phase"
        key, number = stem, 1
        while key in keys:
            number += 1
            key = f"{stem}_{number}"
        keys.add(key)
        sources.append(PhaseSource(key=key, name=name, path=str(path.resolve())))
    return sources


def checked_phase_name(path: Path) -> str:
    """Judge a CIF and say how its phase is called."""
    block = _first_block(path)
    _check_cell(block, path.name)
    _check_symmetry(block, path.name)
    sites = _checked_sites(block, path.name)
    _check_disorder(block, path.name)
    for label, symbol in sites:
        _check_element(label, symbol, path.name)
    return _name_of(block, path)


def _first_block(path: Path) -> Any:
    import gemmi

    content = path.read_bytes()
    if not content.strip():
        raise InputError(f"The structure {path.name} is empty.", "Give a CIF.")
    try:
        document = gemmi.cif.read_string(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"The structure {path.name} is not text in UTF-8.", "Give a CIF as text."
        ) from error
    except (ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(
            f"The structure {path.name} cannot be read as a CIF: {reason}.",
            "Give a file that begins with a data_ block.",
        ) from error
    if len(document) == 0:
        raise InputError(f"The structure {path.name} holds no data_ block.", "Give a CIF.")
    return document[0]


def _check_cell(block: Any, name: str) -> None:
    values = [_number(block.find_value(tag)) for tag in _ANGLE_AND_LENGTH_TAGS]
    missing = [t for t, v in zip(_ANGLE_AND_LENGTH_TAGS, values, strict=True) if v is None]
    if missing:
        raise InputError(
            f"{name} has no unit cell: {missing[0]} is missing.",
            "Give a CIF with all six cell parameters.",
        )
    if any(value is not None and value <= 0 for value in values):
        raise InputError(f"A cell parameter in {name} is not above zero.", "Mend the cell.")


def _check_symmetry(block: Any, name: str) -> None:
    import gemmi

    if any(len(block.find_values(tag)) for tag in _OPERATION_TAGS):
        return
    given = [value for tag in _SYMMETRY_TAGS if (value := block.find_value(tag)) is not None]
    if not given:
        raise InputError(
            f"{name} gives no space group.", "Add _space_group_name_H-M_alt to the CIF."
        )
    if gemmi.make_small_structure_from_block(block).spacegroup is None:
        symbol = gemmi.cif.as_string(given[0])
        raise InputError(
            f"{name} gives the space group {symbol!r}, which does not exist.",
            "Write its Hermann-Mauguin symbol, such as 'P 63/m m c'.",
        )


def _checked_sites(block: Any, name: str) -> list[tuple[str, str]]:
    import gemmi

    sites = gemmi.make_small_structure_from_block(block).sites
    if not len(sites) or not len(block.find_values("_atom_site_fract_x")):
        raise InputError(
            f"{name} has no atom sites.", "Give a CIF with an _atom_site_fract_x loop."
        )
    for site in sites:
        position = (site.fract.x, site.fract.y, site.fract.z)
        if not all(map(math.isfinite, position)):
            raise InputError(
                f"The position of atom {site.label} in {name} is not known.",
                "Give its coordinates or remove it.",
            )
    return [(site.label, site.type_symbol or site.label) for site in sites]


def _check_disorder(block: Any, name: str) -> None:
    groups = set(block.find_values("_atom_site_disorder_group"))
    real = sorted(groups - {".", "?", "0"})
    if real:
        raise InputError(
            f"{name} is disordered: it has atoms in the disorder group {real[0]}, "
            "which stand for each other.",
            "Give an ordered model, such as the major group alone.",
        )


def _check_element(label: str, symbol: str, name: str) -> None:
    import gemmi

    match = re.match(r"[A-Z][a-z]?", symbol.strip())
    letters = match[0] if match else symbol
    if gemmi.Element(letters).atomic_number == 0:
        raise InputError(
            f"Atom {label} in {name} is of the unknown element {letters!r}.",
            "Write the element's symbol in _atom_site_type_symbol.",
        )


def _name_of(block: Any, path: Path) -> str:
    name = str(block.name)
    if name.lower() not in _NAMELESS and re.search(r"[A-Za-z]", name):
        return name
    formula = block.find_value("_chemical_formula_sum")
    if formula and formula.strip("'\" ?."):
        return str(formula.strip("'\"")).replace(" ", "")
    return path.stem


def _number(text: str | None) -> float | None:
    """Number of a CIF value, without its uncertainty."""
    try:
        value = float((text or "").partition("(")[0])
    except ValueError:
        return None
    return value if math.isfinite(value) else None

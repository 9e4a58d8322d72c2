from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError
from sciagent.domains.powder_diffraction.structures import phase_sources
from tests.domains.powder_diffraction.samples import CIF, written


def sources(folder: Path, *contents: str | bytes) -> list[tuple[str, str]]:
    paths = [written(folder, text, f"phase{i}.cif") for i, text in enumerate(contents)]
    return [(each.key, each.name) for each in phase_sources(paths)]


def test_a_phase_is_named_after_its_data_block(tmp_path: Path) -> None:
    assert sources(tmp_path, CIF) == [("salt", "salt")]
    assert sources(tmp_path, CIF.replace("data_salt", "data_Sc2Au6-start")) == [
        ("sc2au6_start", "Sc2Au6-start")
    ]


def test_a_block_without_a_name_is_named_after_its_formula_or_file(tmp_path: Path) -> None:
    nameless = CIF.replace("data_salt", "data_1000236")
    with_formula = nameless.replace("loop_", "_chemical_formula_sum 'Na Cl'\nloop_")
    assert sources(tmp_path, with_formula) == [("nacl", "NaCl")]
    assert sources(tmp_path, nameless) == [("phase0", "phase0")]


def test_phases_of_one_name_get_different_keys(tmp_path: Path) -> None:
    assert [key for key, _ in sources(tmp_path, CIF, CIF, CIF)] == ["salt", "salt_2", "salt_3"]


def without(tag: str) -> str:
    return "\n".join(line for line in CIF.splitlines() if not line.startswith(tag))


DISORDERED = CIF.replace("_atom_site_occupancy", "_atom_site_disorder_group").replace(
    "Cl1 Cl 0.5 0.5 0.5 1 0.9", "Cl1 Cl 0.5 0.5 0.5 2 0.9"
)
BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "is empty"),
    "no CIF": ("nothing", "cannot be read as a CIF"),
    "binary": (b"\xff\xfe\x00data_", "is not text in UTF-8"),
    "no cell": (without("_cell_length_b"), "has no unit cell: _cell_length_b is missing"),
    "cell of question marks": (CIF.replace("_a 5.64", "_a ?"), "has no unit cell"),
    "cell of nothing": (CIF.replace("_a 5.64", "_a 0"), "not above zero"),
    "no symmetry": (without("_symmetry"), "gives no space group"),
    "wrong symmetry": (CIF.replace("F m -3 m", "Q m"), "'Q m', which does not exist"),
    "no atoms": (CIF.partition("loop_")[0], "has no atom sites"),
    "no position": (CIF.replace("Na1 Na 0 0 0", "Na1 Na ? 0 0"), "atom Na1 .* is not known"),
    "disorder": (DISORDERED, "is disordered"),
    "no element": (CIF.replace("Na1 Na", "Xx1 Xx"), "unknown element 'Xx'"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_structure_is_refused_in_one_sentence_with_a_remedy(
    kind: str, tmp_path: Path
) -> None:
    content, words = BAD[kind]
    with pytest.raises(InputError, match=words) as refused:
        sources(tmp_path, content)
    assert "phase0.cif" in refused.value.message
    assert refused.value.remedy


def test_charges_and_numbers_behind_an_element_are_read_past(tmp_path: Path) -> None:
    charged = CIF.replace("Na1 Na ", "Na1 Na1+ ").replace("Cl1 Cl ", "Cl1 Cl1- ")
    assert sources(tmp_path, charged) == [("salt", "salt")]

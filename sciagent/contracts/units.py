"""The closed list of units, as UCUM codes (https://ucum.org), compared exactly.

A value carries its unit as one of these codes and nothing converts implicitly: a percentage
is never compared with a fraction, nor an angstrom with a nanometre. Units that UCUM spells in
square brackets keep the brackets.
"""

from typing import Literal, get_args

Unit = Literal[
    "1", "%", "[ppm]", "[ppth]", "{count}", "{trial}", "{channel}", "{file}", "{token}",
    "Ao", "nm", "um", "mm", "cm", "m", "pm", "[px_i]", "{voxel}",
    "Ao2", "Ao3", "nm2", "um2", "um3", "cm2",
    "deg", "deg2", "rad", "mrad",
    "fs", "ps", "ns", "us", "ms", "s", "min", "h", "d",
    "Hz", "kHz", "MHz", "cm-1",
    "K", "Cel", "Pa", "kPa", "bar", "atm",
    "g", "mg", "ug", "kg", "u", "g/mol", "g/cm3",
    "mol", "mmol", "mol/L", "mmol/L", "umol/L", "L", "mL", "uL", "mL/min",
    "J", "kJ", "kJ/mol", "kcal/mol", "eV", "meV", "[hartree]", "kW.h", "kW", "MW",
    "V", "mV", "A", "mA", "uA", "A/cm2", "mA/cm2", "uA/cm2", "C", "mA.h", "F", "uF", "uF/cm2",
    "Ohm", "Ohm.cm2", "S/cm", "V/s", "mV/s", "V/dec", "mV/dec", "[e]", "D",
    "B", "KiBy", "MiBy", "GiBy",
    "[USD]", "[EUR]", "[USD]/kg", "[EUR]/kg", "[USD]/a", "[EUR]/a", "[USD]/kW", "[EUR]/kW",
    "[USD]/MW.h", "[EUR]/MW.h", "kg/h", "kg/a", "kW.h/kg", "a", "%/a",
]  # fmt: skip
"""A UCUM code of the closed list."""

UNITS: tuple[str, ...] = get_args(Unit)

SYMBOLS: dict[str, str] = {
    "1": "", "[ppm]": "ppm", "[ppth]": "per mille", "{count}": "", "{trial}": "",
    "{channel}": "", "{file}": "", "{token}": "", "{voxel}": "voxel",
    "Ao": "Å", "Ao2": "Å²", "Ao3": "Å³", "nm2": "nm²", "um": "µm", "um2": "µm²", "um3": "µm³",
    "cm2": "cm²", "[px_i]": "px", "deg": "°", "deg2": "°²", "us": "µs", "cm-1": "cm⁻¹",
    "Cel": "°C", "ug": "µg", "uL": "µL", "g/cm3": "g/cm³", "umol/L": "µmol/L",
    "[hartree]": "Eh", "uA": "µA", "A/cm2": "A/cm²", "mA/cm2": "mA/cm²", "uA/cm2": "µA/cm²",
    "uF": "µF", "uF/cm2": "µF/cm²", "Ohm": "Ω", "Ohm.cm2": "Ω cm²", "[e]": "e",
    "KiBy": "KiB", "MiBy": "MiB", "GiBy": "GiB", "[USD]": "USD", "[EUR]": "EUR",
    "[USD]/kg": "USD/kg", "[EUR]/kg": "EUR/kg", "[USD]/a": "USD/a", "[EUR]/a": "EUR/a",
    "[USD]/kW": "USD/kW", "[EUR]/kW": "EUR/kW", "[USD]/MW.h": "USD/MWh",
    "[EUR]/MW.h": "EUR/MWh", "kW.h": "kWh", "kW.h/kg": "kWh/kg", "mA.h": "mAh",
}  # fmt: skip
"""How people see a unit, where it differs from the code."""


def symbol(unit: Unit) -> str:
    """Spell a unit as people write it ("Ao" becomes "Å"; counts have no symbol)."""
    return SYMBOLS.get(unit, unit)

"""Which files of a workspace may stand behind a claim, and what they hold."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from sciagent.contracts.claim import ClaimRequest, NumberClaim, TextClaim
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.contracts.units import SYMBOLS, UNITS
from sciagent.reports.evidence import Evidence
from sciagent.reports.lint import raw_numbers_in_caption
from sciagent.reports.pointers import PointerError, pointer_from_parts
from sciagent.reports.resolve import read_pointer, resolve_number
from sciagent.tools.confinement import opened_below, parts_of
from sciagent.tools.effects import EffectLedger
from sciagent.workspace.layout import CLAIMS, INBOX, JOURNAL, SOURCES, VERIFICATION

_NO_EVIDENCE = frozenset({CLAIMS, VERIFICATION, JOURNAL, INBOX, SOURCES})
_NO_EVIDENCE_IN_DATA = frozenset({"notes", "report", "spill"})
_TRIAL = re.compile(r"trials/(\d{4,})/")
_SHOWN_POINTERS = 20


def require_evidence(root: Path, path: str, effects: EffectLedger) -> str:
    """Check that a file may stand behind a claim, and give its path in canonical form.

    Raises
    ------
    InputError
        If it is no file of the workspace, is made of words and not of results, or was written
        with `write_file`: what a model typed proves nothing.
    """
    parts = parts_of(path)
    canonical = str(PurePosixPath(*parts))
    own = parts[:1] == ("data",) and parts[1:2] and parts[1] in _NO_EVIDENCE_IN_DATA
    if own or (parts and parts[0] in _NO_EVIDENCE):
        raise InputError(
            f"{path!r} holds no results.", "Point at a trial's outcome or a file that code saved."
        )
    with opened_below(root, canonical):
        pass
    typed = {_canonical(each.get("path")) for each in effects.arguments_of("write_file")}
    if canonical in typed:
        raise InputError(
            f"{path!r} was written by hand with write_file.",
            "Let code compute the number and save it to another file.",
        )
    return canonical


def _canonical(path: object) -> str:
    return str(PurePosixPath(path)) if isinstance(path, str) else ""


def trial_of_path(path: str) -> int | None:
    """Number of the trial that a file belongs to."""
    match = _TRIAL.match(path)
    return int(match[1]) if match else None


def require_unit(unit: str) -> None:
    """Refuse a unit that is not of the closed list.

    Raises
    ------
    UnknownNameError
        With the code meant, where the unit is spelled as people write it.
    """
    if unit in UNITS:
        return
    meant = [code for code, spelled in SYMBOLS.items() if spelled == unit]
    if meant:
        raise UnknownNameError(f"There is no unit {unit!r}.", f"Its code is {meant[0]!r}.")
    raise UnknownNameError.among("unit", unit, UNITS)


def require_plain_label(**words: str) -> None:
    """Refuse numbers in what a claim is labelled by: they would be printed unchecked."""
    for name, text in words.items():
        typed = raw_numbers_in_caption(text)
        if typed:
            raise InputError(
                f"The {name} holds the number {typed[0]!r}.",
                "Say what it is; the number itself comes from the file.",
            )


def resolved(root: Path, request: ClaimRequest) -> NumberClaim | TextClaim:
    """Read the value of a claim from its file, as it is now.

    Raises
    ------
    PointerError
        If the place does not exist; the message lists some that do.
    InputError
        If the unit beside the value is another, or the tolerance is larger than the value.
    """
    try:
        claim = resolve_number(request, Evidence(root), code_sha256="")
    except PointerError as error:
        raise PointerError(error.message, f"{error.remedy} {_hint(root, request.path)}".strip()) \
            from error  # fmt: skip
    if isinstance(claim, NumberClaim) and claim.tolerance > abs(claim.value) > 0.0:
        raise InputError(
            f"The tolerance {claim.tolerance:g} is larger than the value {claim.value:g}.",
            "Give what the value may differ by when it is computed again.",
        )
    return claim


def _hint(root: Path, path: str) -> str:
    if not path.endswith(".json"):
        return ""
    try:
        found = list(_number_pointers(read_pointer(root / path, ""), []))
    except PointerError:
        return ""
    more = " and others" if len(found) > _SHOWN_POINTERS else ""
    return f"Numbers stand at: {', '.join(found[:_SHOWN_POINTERS])}{more}." if found else ""


def _number_pointers(value: Any, parts: list[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _number_pointers(each, [*parts, str(key)])
    elif isinstance(value, list):
        for place, each in enumerate(value[:_SHOWN_POINTERS]):
            yield from _number_pointers(each, [*parts, str(place)])
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield pointer_from_parts(parts)

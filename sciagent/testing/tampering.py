"""Spoils a finished workspace in one place, and says what a verification must then name."""

import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciagent.contracts.claim import Verification
from sciagent.workspace.layout import (
    CLAIMS,
    JOURNAL,
    MUTABLE_AFTER_SEAL,
    REPORT_HTML,
    REPORT_MARKDOWN,
)

_DIGIT = re.compile(r"(?<![0-9a-f])[0-9](?![0-9a-f]{8})")


@dataclass(frozen=True)
class Defect:
    """What was spoiled.

    Attributes
    ----------
    kind
        How it was spoiled.
    path
        The file that was changed, as a finding must name it.
    claims
        Claims of which a verdict must tell, besides.
    """

    kind: str
    path: str
    claims: tuple[str, ...] = ()

    def named_by(self, verification: Verification) -> bool:
        """Whether a verification fails, and names the file and the claims."""
        paths = {finding.path for finding in verification.findings}
        bad = {
            verdict.claim
            for verdict in verification.verdicts
            if verdict.verdict not in {"matched", "reproduced", "quoted"}
        }
        return not verification.ok and self.path in paths and set(self.claims) <= bad


def spoil(root: Path, seed: int) -> Defect:
    """Spoil a workspace in one place; the kinds of defects follow each other with the seed."""
    kind = tuple(KINDS)[seed % len(KINDS)]
    return KINDS[kind](root, random.Random(seed))


def spoiled_copy(root: Path, folder: Path, seed: int) -> tuple[Path, Defect]:
    """Copy a workspace and spoil the copy."""
    copy = folder / f"{root.name}-{seed}"
    shutil.copytree(root, copy)
    return copy, spoil(copy, seed)


def _files(root: Path, *, suffixes: tuple[str, ...] = ()) -> list[Path]:
    kept_out = {JOURNAL, ".lock", *MUTABLE_AFTER_SEAL}
    found = [path for path in sorted(root.rglob("*")) if path.is_file()]
    found = [path for path in found if path.relative_to(root).as_posix() not in kept_out]
    return [path for path in found if not suffixes or path.suffix in suffixes]


def _change_digit(text: str, dice: random.Random) -> str:
    places = [match.start() for match in _DIGIT.finditer(text)]
    place = dice.choice(places)
    other = dice.choice([digit for digit in "0123456789" if digit != text[place]])
    return text[:place] + other + text[place + 1 :]


def _digit_in(path: Path, dice: random.Random) -> None:
    path.write_text(_change_digit(path.read_text(encoding="utf-8"), dice), encoding="utf-8")


def _digit_in_artifact(root: Path, dice: random.Random) -> Defect:
    texts = _files(root / "trials", suffixes=(".json", ".csv"))
    path = dice.choice([text for text in texts if _DIGIT.search(text.read_text())])
    _digit_in(path, dice)
    return Defect("digit in an artifact", path.relative_to(root).as_posix())


def _digit_in_claim(root: Path, dice: random.Random) -> Defect:
    content, claim = _number_claim(root, dice)
    claim["value"] = claim["value"] + 10.0 ** (-claim["decimals"]) * dice.choice([1, 2, 5])
    _write_claims(root, content)
    return Defect("digit in a claim", CLAIMS, (claim["id"],))


def _digit_in_journal(root: Path, dice: random.Random) -> Defect:
    journal = root / JOURNAL
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    place = dice.randrange(len(lines))
    lines[place] = _change_digit(lines[place], dice)
    journal.write_text("".join(lines), encoding="utf-8")
    return Defect("digit in the journal", JOURNAL)


def _digit_in_report(root: Path, dice: random.Random) -> Defect:
    name = dice.choice([REPORT_MARKDOWN, REPORT_HTML])
    _digit_in(root / name, dice)
    return Defect("digit in a report", name)


def _last_line_removed(root: Path, _dice: random.Random) -> Defect:
    journal = root / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    return Defect("last journal line removed", JOURNAL)


def _subjects_swapped(root: Path, dice: random.Random) -> Defect:
    content = _read_claims(root)
    claims = [claim for claim in content["claims"] if claim["kind"] == "number"]
    first = dice.choice(claims)
    others = [c for c in claims if _label(c) != _label(first)]
    second = dice.choice(others)
    for part in ("subject", "quantity", "condition"):
        first[part], second[part] = second[part], first[part]
    _write_claims(root, content)
    return Defect("subjects swapped", CLAIMS, (first["id"], second["id"]))


def _label(claim: dict[str, Any]) -> tuple[str, str, str]:
    return claim["subject"], claim["quantity"], claim["condition"]


def _unit_slipped(root: Path, dice: random.Random) -> Defect:
    content, claim = _number_claim(root, dice)
    slips = {"%": "1", "Ao": "nm", "um": "nm", "1": "%", "mm": "um", "Ao2": "nm2"}
    claim["unit"] = slips.get(claim["unit"], "1")
    _write_claims(root, content)
    return Defect("unit slipped", CLAIMS, (claim["id"],))


def _artifact_stale(root: Path, dice: random.Random) -> Defect:
    content, claim = _number_claim(root, dice)
    path = root / claim["source"]["path"]
    artifact = json.loads(path.read_text(encoding="utf-8"))
    artifact["wall_s"] = artifact.get("wall_s", 0.0) + 1.0
    path.write_text(json.dumps(artifact), encoding="utf-8")
    same = [c["id"] for c in content["claims"] if c.get("source") == claim["source"]]
    return Defect("stale artifact", claim["source"]["path"], tuple(same))


def _key_missing(root: Path, dice: random.Random) -> Defect:
    content, claim = _number_claim(root, dice)
    path = root / claim["source"]["path"]
    artifact = json.loads(path.read_text(encoding="utf-8"))
    holder = artifact
    *parents, key = claim["source"]["pointer"].removeprefix("/").split("/")
    for part in parents:
        holder = holder[int(part)] if isinstance(holder, list) else holder[part]
    del holder[key]
    path.write_text(json.dumps(artifact), encoding="utf-8")
    del content
    return Defect("missing key", claim["source"]["path"], (claim["id"],))


def _rounding_wrong(root: Path, dice: random.Random) -> Defect:
    content, claim = _number_claim(root, dice)
    claim["decimals"] += dice.choice([-1, 1])
    _write_claims(root, content)
    return Defect("wrong rounding", CLAIMS, (claim["id"],))


def _file_added(root: Path, dice: random.Random) -> Defect:
    folder = dice.choice([root, root / "trials", root / "figures"])
    path = folder / f"extra-{dice.randrange(1000)}.txt"
    path.write_text("A file that was not there.\n")
    return Defect("file added", path.relative_to(root).as_posix())


def _file_removed(root: Path, dice: random.Random) -> Defect:
    path = dice.choice(_files(root))
    path.unlink()
    return Defect("file removed", path.relative_to(root).as_posix())


def _read_claims(root: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((root / CLAIMS).read_text(encoding="utf-8"))
    return content


def _number_claim(root: Path, dice: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    content = _read_claims(root)
    claims = [
        claim
        for claim in content["claims"]
        if claim["kind"] == "number" and claim["source"]["path"].endswith(".json")
    ]
    return content, dice.choice(claims)


def _write_claims(root: Path, content: dict[str, Any]) -> None:
    (root / CLAIMS).write_text(json.dumps(content, indent=1), encoding="utf-8")


KINDS: dict[str, Callable[[Path, random.Random], Defect]] = {
    "digit in an artifact": _digit_in_artifact,
    "digit in a claim": _digit_in_claim,
    "digit in the journal": _digit_in_journal,
    "digit in a report": _digit_in_report,
    "last journal line removed": _last_line_removed,
    "subjects swapped": _subjects_swapped,
    "unit slipped": _unit_slipped,
    "stale artifact": _artifact_stale,
    "missing key": _key_missing,
    "wrong rounding": _rounding_wrong,
    "file added": _file_added,
    "file removed": _file_removed,
}

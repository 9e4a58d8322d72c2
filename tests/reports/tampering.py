"""Ways to spoil a workspace, as a careless or dishonest hand would."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sciagent.contracts.claim import Verdict, Verification
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.seal import seal


def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    """Change a JSON file in place."""
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, indent=1))


def edit_claim(root: Path, identifier: str, **changes: Any) -> None:
    """Change fields of one claim of `claims.json`."""

    def change(document: Any) -> None:
        claim = next(each for each in document["claims"] if each["id"] == identifier)
        claim.update(changes)

    edit_json(root / "claims.json", change)


def replace_text(path: Path, old: str, new: str) -> None:
    """Replace text that must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def seal_again(root: Path) -> None:
    """Seal what was tampered with, so that only the claims themselves can show it."""
    with JournalFile.open(root / "events.jsonl") as journal:
        seal(journal, root, "completed")


def verdict_of(verification: Verification, claim: str) -> Verdict:
    """The verdict on one claim."""
    return next(each for each in verification.verdicts if each.claim == claim)

"""Outputs that are too long for a conversation: kept whole in a file, shown in part."""

from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from sciagent.contracts.model import sha256_text
from sciagent.workspace.atomic import write_atomic

SPILL_FOLDER = "data/spill"
GAP = "\n[...]\n"

# Reading tools run side by side and may spill the same text.
_WRITING = Lock()


@dataclass(frozen=True, slots=True)
class SpillLimits:
    """Characters of an output that are shown.

    Attributes
    ----------
    whole
        An output of up to this many is shown whole.
    head, tail
        Of a longer one, so many from its beginning and its end.
    """

    whole: int = 16_000
    head: int = 8_000
    tail: int = 4_000


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of an output, and what the harness says about the rest."""

    text: str
    notice: str = ""


def spill(text: str, root: Path, limits: SpillLimits) -> Shown:
    """Shorten an output that is too long, and keep all of it in the workspace.

    Parameters
    ----------
    text
        The output, already without secrets.
    root
        The workspace.
    limits
        What counts as too long.
    """
    if len(text) <= limits.whole:
        return Shown(text)
    content = text.encode("utf-8", "replace").decode()
    path = f"{SPILL_FOLDER}/{sha256_text(content)[:16]}.txt"
    kept = f"All of it: read_file or find_text with path {path!r}."
    try:
        with _WRITING:
            if not (root / path).is_file():
                write_atomic(root / path, content)
    except OSError as error:
        kept = f"The rest could not be kept ({error.strerror or type(error).__name__})."
    head, tail = text[: limits.head], text[len(text) - limits.tail :]
    notice = (
        f"This output has {len(text)} characters; only the first {limits.head} and the last "
        f"{limits.tail} are shown. {kept}"
    )
    return Shown(f"{head}{GAP}{tail}", notice)

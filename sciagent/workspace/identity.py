"""Names of runs and identifiers that sort by the time they were made."""

import re
import secrets
import time
import unicodedata
from datetime import UTC, datetime

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80
_LENGTH = 26
_ULID = re.compile(rf"[0-7][{_ALPHABET}]{{{_LENGTH - 1}}}")
_SLUG_LENGTH = 40


class _LastUlid:
    """The greatest identifier this process has given out, as a number."""

    value = 0


def new_ulid(moment_ms: int | None = None) -> str:
    """Make a ULID (https://github.com/ulid/spec): 48 bits of time, 80 random bits.

    Identifiers of one process are strictly increasing, also within a millisecond and when the
    clock is set back.

    Parameters
    ----------
    moment_ms
        Milliseconds since the epoch; None means now.
    """
    if moment_ms is None:
        moment_ms = time.time_ns() // 1_000_000
    number = (moment_ms << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
    if number <= _LastUlid.value:
        number = _LastUlid.value + 1
    _LastUlid.value = number
    return "".join(_ALPHABET[(number >> 5 * place) & 31] for place in reversed(range(_LENGTH)))


def is_ulid(text: str) -> bool:
    """Whether a text is a ULID in its canonical, upper-case spelling."""
    return _ULID.fullmatch(text) is not None


def slug_from_text(text: str) -> str:
    """Reduce a text to lower-case ASCII words joined by hyphens, at most 40 characters."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_text.lower())
    return "-".join(words)[:_SLUG_LENGTH].strip("-") or "run"


def new_run_name(slug: str, now: datetime) -> str:
    """Name a run ``<yyyymmdd>-<slug>-<id>``; the date is that of `now` in UTC.

    The last part is random (40 bits), so that two runs started at once differ.
    """
    part = new_ulid()[-8:].lower()
    return f"{now.astimezone(UTC):%Y%m%d}-{slug_from_text(slug)}-{part}"

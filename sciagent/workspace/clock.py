"""Times as they stand in files: UTC, ISO 8601, milliseconds."""

from datetime import UTC, datetime


def utc_timestamp(moment: datetime | None = None) -> str:
    """Write a moment, or now, such as ``2026-11-30T17:05:09.120Z``.

    Parameters
    ----------
    moment
        An aware time; it is converted to UTC. None means now.
    """
    moment = datetime.now(UTC) if moment is None else moment.astimezone(UTC)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"

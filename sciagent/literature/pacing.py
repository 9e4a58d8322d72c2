"""Keeps all requests of this process polite: pauses between them, and rest where it is asked for.

What waits for each other is a lane: the requests to one index, or to one site. A lane rests when
its server says that there were too many requests, or that it is overloaded; and an index that
failed several times in a row is left alone for a time, so that nobody waits for it in vain.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any

from sciagent.contracts.errors import RandomError

TOO_MANY = 429
OVERLOADED = 503
_REST_S = 30.0
"""Of a server that asks for rest and does not say for how long."""
_LONGEST_REST_S = 3600.0


class RestingError(RandomError):
    """A server is not asked for a time, because it wanted that or failed too often.

    Parameters
    ----------
    message, remedy
        As for every error.
    retry_after_s
        When it may be asked again.
    is_limit
        Whether it said that there were too many requests.
    """

    kind = "random.resting"

    def __init__(
        self, message: str, remedy: str = "", retry_after_s: float = 0.0, is_limit: bool = False
    ) -> None:
        super().__init__(message, remedy)
        self.retry_after_s = retry_after_s
        self.is_limit = is_limit

    def __reduce__(self) -> tuple[type["RestingError"], tuple[Any, ...]]:
        return type(self), (self.message, self.remedy, self.retry_after_s, self.is_limit)


class LateError(RandomError):
    """There is not enough time left to ask."""

    kind = "random.late"


@dataclass(slots=True)
class _Lane:
    free_at: float = 0.0
    rests_until: float = 0.0
    why: str = ""
    is_limit: bool = False
    failures: int = 0


class Pacing:
    """Says when each lane may be used; several threads may ask it.

    Parameters
    ----------
    clock
        Monotonic, in seconds.
    sleep
        Waits for some seconds.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._lanes: defaultdict[str, _Lane] = defaultdict(_Lane)
        self._lock = Lock()

    def wait(self, lane: str, spacing_s: float, until: float) -> None:
        """Wait for a turn in a lane.

        Parameters
        ----------
        lane
            Its name.
        spacing_s
            Least time to the turn after this one.
        until
            By the clock, when the turn must have come.

        Raises
        ------
        RestingError
            If the lane rests.
        LateError
            If the turn would come too late; it is not taken then.
        """
        with self._lock:
            self._require_awake(lane)
            now, state = self._clock(), self._lanes[lane]
            turn = max(now, state.free_at)
            if turn > until:
                raise LateError(f"The turn of {lane} would come after the deadline.")
            state.free_at = turn + spacing_s
        if turn > now:
            self._sleep(turn - now)
            # It may have been told to rest while this request was waiting.
            self.require_awake(lane)

    def require_awake(self, lane: str) -> None:
        """Check that a lane does not rest.

        Raises
        ------
        RestingError
            If it does.
        """
        with self._lock:
            self._require_awake(lane)

    def _require_awake(self, lane: str) -> None:
        state = self._lanes[lane]
        left = state.rests_until - self._clock()
        if left > 0.0:
            raise RestingError(
                f"{lane} is not asked now: {state.why}.", f"Ask again in {left:.0f} s.",
                left, state.is_limit,
            )  # fmt: skip

    def answered(self, lane: str, status: int, retry_after_s: float | None) -> None:
        """Let a lane rest if its server wants that.

        Parameters
        ----------
        lane
            Its name.
        status
            Of HTTP.
        retry_after_s
            What the server said, if anything.
        """
        if status not in {TOO_MANY, OVERLOADED}:
            return
        rest = _REST_S if retry_after_s is None else retry_after_s
        why = "it had too many requests" if status == TOO_MANY else "it is overloaded"
        with self._lock:
            self._rest(lane, min(rest, _LONGEST_REST_S), why, is_limit=status == TOO_MANY)

    def failed(self, lane: str, most: int, pause_s: float) -> None:
        """Count a failure; after `most` in a row the lane rests."""
        with self._lock:
            state = self._lanes[lane]
            state.failures += 1
            if state.failures >= most:
                why = f"it failed {state.failures} times in a row"
                self._rest(lane, pause_s, why, is_limit=False)

    def succeeded(self, lane: str) -> None:
        """Forget earlier failures."""
        with self._lock:
            self._lanes[lane].failures = 0

    def _rest(self, lane: str, seconds: float, why: str, *, is_limit: bool) -> None:
        state = self._lanes[lane]
        until = self._clock() + seconds
        if until > state.rests_until:
            state.rests_until, state.why, state.is_limit = until, why, is_limit


def retry_after(headers: Mapping[str, str], retrieved: str) -> float | None:
    """Read when a server may be asked again.

    Parameters
    ----------
    headers
        Names in lower case.
    retrieved
        When it answered (ISO 8601): a date is counted from there, so that a recorded answer says
        the same for ever.

    Returns
    -------
    float or None
        Seconds, not negative; None if it says nothing that can be read (RFC 9110, section 10.2.3).
    """
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return min(float(said), _LONGEST_REST_S * 24)
    try:
        moment = parsedate_to_datetime(said)
        start = datetime.fromisoformat(retrieved)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - start).total_seconds())


PACING = Pacing()
"""The one of this process."""

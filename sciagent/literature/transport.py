"""The one way by which the literature is reached: polite, bounded, guarded, and replayable."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from threading import Lock
from typing import Self
from urllib.parse import urljoin, urlsplit

import httpx

import sciagent
from sciagent.contracts.errors import InputError, LimitError, RandomError
from sciagent.contracts.literature import RetrievalMode
from sciagent.literature.address_guard import require_web_address
from sciagent.literature.connections import GuardedTransport, ending_by, last_moment
from sciagent.literature.pacing import PACING, TOO_MANY, Pacing, retry_after
from sciagent.literature.response_store import Response, ResponseStore, normalised_address
from sciagent.literature.settings import RetrievalSettings
from sciagent.workspace.clock import utc_timestamp

ANYTHING = "*/*"
_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BYTES_PER_MIB = 1024 * 1024
_SERVER_ERROR = 500
_UNSAFE = re.compile(r"[^!-~]+")


class UnreachableError(RandomError):
    """A server did not answer, or not to the end."""

    kind = "random.unreachable"


class NotRecordedError(InputError):
    """Only what was recorded may be read, and this was not."""

    kind = "input.not_recorded"


class TooLargeError(LimitError):
    """An answer is larger, or takes longer, than it may."""

    kind = "limit.answer"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a request is made, apart from what is asked.

    Attributes
    ----------
    lane
        Requests of one lane wait for each other and rest together; empty: those to one site.
    spacing_s
        Least time to the next request of the lane.
    headers
        Say who asks. They are neither kept nor compared, and go to no other site by a redirect.
    permit
        Is given each address before it is asked, and raises if it must not be.
    """

    lane: str = ""
    spacing_s: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    permit: Callable[[str], None] | None = None


_PLAIN = Manner()


class Transport:
    """Fetches addresses; several threads may use it.

    Equal requests are made once: the answers are kept while it lives, and in the store if there is
    one. Not so where a server says that it cannot answer now.

    Parameters
    ----------
    settings
        Mode, contact and bounds.
    store
        Keeps the answers in the mode ``record``, and gives them in ``replay``.
    pacing
        Says when each server may be asked; there is one for the whole process.

    Raises
    ------
    InputError
        If the mode needs a store and there is none.
    """

    def __init__(
        self,
        settings: RetrievalSettings,
        store: ResponseStore | None = None,
        pacing: Pacing = PACING,
    ) -> None:
        if settings.mode in {"record", "replay"} and store is None:
            raise InputError(f"The mode {settings.mode!r} needs a store.", "Name its folder.")
        self._settings = settings
        self._store = store
        self._pacing = pacing
        self._known: dict[tuple[str, str], Response] = {}
        self._doubted: set[tuple[str, str]] = set()
        self._lock = Lock()
        self._client: httpx.Client | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    @property
    def mode(self) -> RetrievalMode:
        """Whether servers are asked, and answers kept."""
        return self._settings.mode

    @property
    def pacing(self) -> Pacing:
        """Says when each server may be asked."""
        return self._pacing

    def get(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        accept: str = ANYTHING,
        manner: Manner = _PLAIN,
    ) -> Response:
        """Fetch an address, or read what it answered before.

        Parameters
        ----------
        url
            With ``http`` or ``https``.
        params
            Added to its query.
        accept
            Media types that are wanted.
        manner
            How it is asked for.

        Returns
        -------
        Response
            Whatever its status of HTTP is.

        Raises
        ------
        RefusedAddressError
            If it leads, also by a redirect, to what is not of the public web.
        NotRecordedError
            In the modes ``replay`` and ``offline``, if it was not recorded.
        UnreachableError
            If no whole answer comes.
        TooLargeError
            If the answer is larger or takes longer than it may.
        RestingError, LateError
            If the server is not to be asked now, or no time is left for it.
        """
        require_web_address(url)
        full = str(httpx.URL(url).copy_merge_params(dict(params))) if params else url
        key = (normalised_address(full), accept)
        with self._lock:
            known = self._known.get(key)
        response = known or self._stored(full, accept) or self._fetched(full, accept, manner)
        with self._lock:
            return response if is_passing(response) else self._known.setdefault(key, response)

    def doubt(
        self, url: str, params: Mapping[str, str] | None = None, accept: str = ANYTHING
    ) -> None:
        """Ask anew next time: what came could not be read."""
        full = str(httpx.URL(url).copy_merge_params(dict(params))) if params else url
        key = (normalised_address(full), accept)
        if self.mode in {"live", "record"}:
            with self._lock:
                self._known.pop(key, None)
                self._doubted.add(key)

    def _stored(self, url: str, accept: str) -> Response | None:
        mode = self._settings.mode
        found = self._store.get(url, accept) if self._store and mode != "live" else None
        if found is None and mode in {"replay", "offline"}:
            raise NotRecordedError(
                f"{normalised_address(url)} was not recorded, and nothing is asked in the mode "
                f"{mode!r}.",
                "Record it first, or use another mode.",
            )
        if mode == "record" and found is not None:
            with self._lock:
                doubted = (normalised_address(url), accept) in self._doubted
            return None if doubted or is_passing(found) else found
        return found

    def _fetched(self, url: str, accept: str, manner: Manner) -> Response:
        place = url
        with ending_by(time.monotonic() + self._settings.deadline_s):
            for _ in range(_MOST_REDIRECTS + 1):
                require_web_address(place)
                if manner.permit is not None:
                    manner.permit(place)
                is_same = origin(place) == origin(url)
                response = self._asked(place, accept, manner if is_same else _PLAIN)
                target = response.headers.get("location")
                if response.status not in _REDIRECTS or not target:
                    return self._kept(url, accept, response)
                place = _joined(place, target)
        raise UnreachableError(
            f"{normalised_address(url)} redirects again and again.", "Use another address."
        )

    def _kept(self, url: str, accept: str, response: Response) -> Response:
        if self._store is None or self._settings.mode != "record":
            return response
        self._store.put(url, accept, response)
        # As it will be read back.
        return replace(response, url=normalised_address(response.url))

    def _asked(self, url: str, accept: str, manner: Manner) -> Response:
        lane = manner.lane or origin(url)
        self._pacing.wait(lane, manner.spacing_s, last_moment())
        response = self._exchanged(url, accept, manner.headers)
        again = retry_after(response.headers, response.retrieved)
        self._pacing.answered(lane, response.status, again)
        return response

    def _exchanged(self, url: str, accept: str, who: Mapping[str, str]) -> Response:
        headers = {"accept": accept, "user-agent": self._user_agent, **who}
        try:
            with self._open().stream("GET", url, headers=headers) as answer:
                content = b"".join(self._bounded(answer, normalised_address(url)))
                return Response(
                    url=url, status=answer.status_code,
                    headers={name.lower(): value for name, value in answer.headers.items()},
                    content=content, sha256=sha256(content).hexdigest(),
                    retrieved=utc_timestamp(),
                )  # fmt: skip
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = str(error) or type(error).__name__
            raise UnreachableError(
                f"{normalised_address(url)} did not answer: {why}.", "Try again later."
            ) from error

    def _bounded(self, answer: httpx.Response, url: str) -> Iterator[bytes]:
        left = int(self._settings.most_mib * _BYTES_PER_MIB)
        for part in answer.iter_bytes():
            left -= len(part)
            if left < 0:
                raise TooLargeError(
                    f"{url} answers with more than {self._settings.most_mib:g} MiB.",
                    "Fetch it yourself and add it to the library.",
                )
            if time.monotonic() > last_moment():
                raise TooLargeError(f"{url} takes longer than it may.", "Try again later.")
            yield part

    @property
    def _user_agent(self) -> str:
        named = _UNSAFE.sub("", self._settings.contact)
        contact = f"; mailto:{named}" if named else ""
        return f"sciagent/{sciagent.__version__} (research assistant{contact})"

    def _open(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(
                    transport=GuardedTransport(self._settings.trusted_hosts),
                    timeout=self._settings.timeout_s, follow_redirects=False, trust_env=False,
                )  # fmt: skip
            return self._client


def is_passing(response: Response) -> bool:
    """Whether a server says that it cannot answer now, which says nothing about later."""
    return response.status == TOO_MANY or response.status >= _SERVER_ERROR


def origin(url: str) -> str:
    """Write the scheme and the host of an address, with its port."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}"


def _joined(place: str, target: str) -> str:
    try:
        return urljoin(place, target)
    except ValueError as error:
        raise UnreachableError(f"{normalised_address(place)} redirects to no address.") from error

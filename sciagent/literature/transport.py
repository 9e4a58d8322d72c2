"""The one way by which the literature is reached: polite, bounded, guarded, and replayable."""

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock
from typing import Self
from urllib.parse import urljoin

import httpcore
import httpx

import sciagent
from sciagent.contracts.errors import InputError, LimitError, RandomError
from sciagent.literature.address_guard import GuardedBackend, require_web_address
from sciagent.literature.response_store import Response, ResponseStore, normalised_address
from sciagent.literature.settings import RetrievalSettings
from sciagent.workspace.clock import utc_timestamp

ANYTHING = "*/*"
_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BYTES_PER_MIB = 1024 * 1024


class UnreachableError(RandomError):
    """A server did not answer, or not to the end."""

    kind = "random.unreachable"


class NotRecordedError(InputError):
    """Only what was recorded may be read, and this was not."""

    kind = "input.not_recorded"


class TooLargeError(LimitError):
    """An answer is larger, or takes longer, than it may."""

    kind = "limit.answer"


class Transport:
    """Fetches addresses; several threads may use it.

    Equal requests are made once: the answers are kept while it lives, and in the store if there is
    one.

    Parameters
    ----------
    settings
        Mode, contact and bounds.
    store
        Keeps the answers in the mode ``record``, and gives them in ``replay``.

    Raises
    ------
    InputError
        If the mode needs a store and there is none.
    """

    def __init__(self, settings: RetrievalSettings, store: ResponseStore | None = None) -> None:
        if settings.mode in {"record", "replay"} and store is None:
            raise InputError(f"The mode {settings.mode!r} needs a store.", "Name its folder.")
        self._settings = settings
        self._store = store
        self._known: dict[tuple[str, str], Response] = {}
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

    def get(
        self, url: str, *, params: Mapping[str, str] | None = None, accept: str = ANYTHING
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
        """
        require_web_address(url)
        full = str(httpx.URL(url).copy_merge_params(dict(params))) if params else url
        key = (normalised_address(full), accept)
        with self._lock:
            known = self._known.get(key)
        response = known or self._stored(full, accept) or self._fetched(full, accept)
        with self._lock:
            return self._known.setdefault(key, response)

    def _stored(self, url: str, accept: str) -> Response | None:
        mode = self._settings.mode
        found = self._store.get(url, accept) if self._store and mode != "live" else None
        if found is None and mode in {"replay", "offline"}:
            raise NotRecordedError(
                f"{normalised_address(url)} was not recorded, and nothing is asked in the mode "
                f"{mode!r}.",
                "Record it first, or use another mode.",
            )
        return found

    def _fetched(self, url: str, accept: str) -> Response:
        limit = time.monotonic() + self._settings.deadline_s
        place = url
        for _ in range(_MOST_REDIRECTS + 1):
            require_web_address(place)
            response = self._asked(place, accept, limit)
            target = response.headers.get("location")
            if response.status not in _REDIRECTS or not target:
                if self._store is not None and self._settings.mode == "record":
                    self._store.put(url, accept, response)
                return response
            place = urljoin(place, target)
        raise UnreachableError(f"{url} redirects again and again.", "Use another address.")

    def _asked(self, url: str, accept: str, limit: float) -> Response:
        headers = {"accept": accept, "user-agent": self._user_agent}
        try:
            with self._open().stream("GET", url, headers=headers) as answer:
                content = b"".join(self._bounded(answer, url, limit))
                return Response(
                    url=url, status=answer.status_code,
                    headers={name.lower(): value for name, value in answer.headers.items()},
                    content=content, sha256=sha256(content).hexdigest(),
                    retrieved=utc_timestamp(),
                )  # fmt: skip
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = str(error) or type(error).__name__
            raise UnreachableError(f"{url} did not answer: {why}.", "Try again later.") from error

    def _bounded(self, answer: httpx.Response, url: str, limit: float) -> Iterator[bytes]:
        left = int(self._settings.most_mib * _BYTES_PER_MIB)
        for part in answer.iter_bytes():
            left -= len(part)
            if left < 0:
                raise TooLargeError(
                    f"{url} answers with more than {self._settings.most_mib:g} MiB.",
                    "Fetch it yourself and add it to the library.",
                )
            if time.monotonic() > limit:
                raise TooLargeError(
                    f"{url} takes longer than {self._settings.deadline_s:g} s.", "Try again later."
                )
            yield part

    @property
    def _user_agent(self) -> str:
        contact = f"; mailto:{self._settings.contact}" if self._settings.contact else ""
        return f"sciagent/{sciagent.__version__} (research assistant{contact})"

    def _open(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(
                    transport=_GuardedTransport(self._settings.trusted_hosts),
                    timeout=self._settings.timeout_s, follow_redirects=False, trust_env=False,
                )  # fmt: skip
            return self._client


class _Body(httpx.SyncByteStream):
    """The body of an answer, with errors that httpx knows."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _errors_of_httpx():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        """Give the connection back."""
        self._answer.close()


class _GuardedTransport(httpx.BaseTransport):
    """Connects through `GuardedBackend`, so that each address is checked where it is used."""

    def __init__(self, trusted: Collection[str]) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(), network_backend=GuardedBackend(trusted)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        address = httpcore.URL(
            scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port,
            target=request.url.raw_path,
        )  # fmt: skip
        asked = httpcore.Request(
            request.method, address, headers=request.headers.raw, extensions=request.extensions
        )
        with _errors_of_httpx():
            answer = self._pool.handle_request(asked)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Body(answer),
            extensions=answer.extensions,
        )  # fmt: skip

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as error:
        raise httpx.TimeoutException(str(error) or "it took too long") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
        raise httpx.TransportError(str(error) or type(error).__name__) from error

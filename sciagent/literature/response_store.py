"""Responses kept on disk, so that a retrieval can be replayed byte for byte.

::

    responses.sqlite    a row for each request: what was asked, when, and the hash of the answer
    ab/<sha256>         the answers
"""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sciagent.contracts.model import canonical_json, sha256_text
from sciagent.workspace.store import ContentStore

_FILE = "responses.sqlite"
_TABLE = """
create table if not exists responses (
    key text primary key, request text not null, url text not null, status integer not null,
    headers text not null, sha256 text not null, retrieved text not null
)
"""
_PERSONAL = frozenset({"api_key", "apikey", "key", "token", "access_token", "mailto", "email"})
"""Parameters that say who asks and not what is asked; they are neither kept nor compared."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered.

    Attributes
    ----------
    url
        Of the last redirect.
    status
        Of HTTP.
    headers
        Names in lower case.
    content
        The body, decompressed.
    sha256
        Of the body.
    retrieved
        UTC, ISO 8601.
    is_replayed
        Whether it came from the store.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes
    sha256: str
    retrieved: str
    is_replayed: bool = False

    @property
    def media_type(self) -> str:
        """What the server says that the body is, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def normalised_address(url: str) -> str:
    """Write an address so that equal requests have equal ones.

    The scheme and the host are in lower case, the parameters in order, personal ones and the
    fragment left out.
    """
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = sorted(pair for pair in pairs if pair[0].lower() not in _PERSONAL)
    host = parts.netloc.lower()
    return urlunsplit((parts.scheme.lower(), host, parts.path or "/", urlencode(kept), ""))


class ResponseStore:
    """Keeps responses by what was asked; several threads may use it.

    Parameters
    ----------
    folder
        Made with the first response.
    """

    def __init__(self, folder: Path) -> None:
        self._content = ContentStore(folder)
        self._path = folder / _FILE
        self._lock = Lock()

    def put(self, url: str, accept: str, response: Response) -> None:
        """Keep a response; a later one to the same request takes its place."""
        request = self._request(url, accept)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._content.put(response.content)
        row = (
            sha256_text(request), request, normalised_address(response.url), response.status,
            json.dumps(dict(response.headers), sort_keys=True), response.sha256,
            response.retrieved,
        )  # fmt: skip
        with self._lock, closing(self._connected()) as connection, connection:
            connection.execute(_TABLE)
            connection.execute("insert or replace into responses values (?,?,?,?,?,?,?)", row)

    def get(self, url: str, accept: str) -> Response | None:
        """Read what was answered to a request; None if it was never kept.

        Raises
        ------
        WorkspaceError
            If the kept answer was changed.
        """
        if not self._path.is_file():
            return None
        key = sha256_text(self._request(url, accept))
        query = "select url, status, headers, sha256, retrieved from responses where key = ?"
        with self._lock, closing(self._connected()) as connection:
            row = connection.execute(query, (key,)).fetchone()
        if row is None:
            return None
        with self._content.open(row[3]) as stream:
            content = stream.read()
        return Response(
            url=row[0], status=row[1], headers=json.loads(row[2]), content=content, sha256=row[3],
            retrieved=row[4], is_replayed=True,
        )  # fmt: skip

    @staticmethod
    def _request(url: str, accept: str) -> str:
        return canonical_json({"url": normalised_address(url), "accept": accept})

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=30)

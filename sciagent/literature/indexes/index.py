"""What an index is: a name, an address, and a function that asks it.

Third parties add one by the entry-point group ``sciagent.indexes``; the entry point is an `Index`.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sciagent.contracts.errors import InputError, RandomError
from sciagent.contracts.literature import Source, Work
from sciagent.literature.pacing import TOO_MANY, RestingError, retry_after
from sciagent.literature.response_store import Response
from sciagent.literature.settings import RetrievalSettings
from sciagent.literature.transport import Manner, Transport, UnreachableError

ENTRY_POINTS = "sciagent.indexes"
_DENIED = frozenset({401, 403})
_GONE = frozenset({404, 410})
_ERROR = 400
_DOI = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/\S+)$", re.IGNORECASE)
_ARXIV = re.compile(
    r"^(?:arxiv:\s*|https?://(?:export\.)?arxiv\.org/(?:abs|pdf)/)?"
    r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?$",
    re.IGNORECASE,
)


class MalformedAnswerError(RandomError):
    """An index answers with something else than its interface says."""

    kind = "random.malformed_answer"


class KeyNeededError(InputError):
    """An index wants a key, or an address to turn to, and has none."""

    kind = "input.key_needed"


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """What an index found.

    Attributes
    ----------
    works, pages
        In its order.
    detail
        What of it could not be read.
    """

    works: tuple[Work, ...] = ()
    pages: tuple[Source, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Access:
    """The way to one index.

    Attributes
    ----------
    name, address
        Of the index.
    transport, settings
        How it is reached, and how retrieval is configured.
    spacing_s
        Least time between two requests to it.
    headers
        Say who asks.
    """

    name: str
    address: str
    transport: Transport
    settings: RetrievalSettings
    spacing_s: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key for this index; empty if there is none."""
        return self.settings.api_key(self.name)

    @property
    def contact(self) -> str:
        """Whom the index may write to; empty if nobody is named."""
        return self.settings.contact

    def json(self, path: str, params: Mapping[str, str] | None = None, **who: str) -> Any:
        """Ask for JSON; None if there is nothing of this name.

        Parameters
        ----------
        path
            Behind the address.
        params
            What is asked.
        who
            Parameters that say who asks, which are neither kept nor compared.

        Raises
        ------
        RestingError, KeyNeededError, UnreachableError, MalformedAnswerError
            By what the index answers.
        """
        response = self._got(path, params, "application/json", who)
        if response is None:
            return None
        try:
            return json.loads(response.content)
        except (ValueError, RecursionError) as error:
            raise self._malformed(path, params, "application/json", "is no JSON") from error

    def text(self, path: str, params: Mapping[str, str], accept: str) -> bytes:
        """Ask for a text; raises as `json` does."""
        response = self._got(path, params, accept, {})
        if response is None:
            raise self._malformed(path, params, accept, "is not there")
        return response.content

    def _got(
        self, path: str, params: Mapping[str, str] | None, accept: str, who: Mapping[str, str]
    ) -> Response | None:
        spacing_s = self.spacing_s * self.settings.spacing_factor
        manner = Manner(lane=self.name, spacing_s=spacing_s, headers=self.headers)
        asked = {**(params or {}), **{name: value for name, value in who.items() if value}}
        response = self.transport.get(
            f"{self.address}{path}", params=asked, accept=accept, manner=manner
        )
        return None if response.status in _GONE else usable(self.name, response)

    def _malformed(
        self, path: str, params: Mapping[str, str] | None, accept: str, what: str
    ) -> MalformedAnswerError:
        self.transport.doubt(f"{self.address}{path}", params, accept)
        return MalformedAnswerError(f"The answer of {self.name} {what}.", "Ask again later.")


def usable(name: str, response: Response) -> Response:
    """Give a response back if it is an answer; raise what its status means if it is none."""
    status = response.status
    if status == TOO_MANY:
        again = retry_after(response.headers, response.retrieved)
        raise RestingError(
            f"{name} had too many requests.", "Ask again later.", again or 0.0, is_limit=True
        )
    if status in _DENIED:
        raise KeyNeededError(f"{name} answers {status}: it wants a key.", "Configure one.")
    if status >= _ERROR:
        raise UnreachableError(f"{name} answers with the error {status}.", "Ask again later.")
    return response


Searching = Callable[[str, int, Access], IndexAnswer]
"""Asks an index: the query, how much is wanted, and the way to it."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index of the literature or of the web.

    Attributes
    ----------
    name, address
        The address can be configured; an index without one is asked only if it is.
    search
        Asks it.
    finds
        Whether its records are works or pages of the web.
    spacing_s
        Least time between two requests.
    key_header
        Header that carries the key, where one is configured.
    """

    name: str
    address: str
    search: Searching
    finds: Literal["works", "pages"] = "works"
    spacing_s: float = 0.0
    key_header: str = ""

    def access(self, transport: Transport, settings: RetrievalSettings) -> Access:
        """Make the way to it."""
        key = settings.api_key(self.name)
        headers = {self.key_header: key} if self.key_header and key else {}
        address = settings.addresses.get(self.name, self.address).rstrip("/")
        return Access(self.name, address, transport, settings, self.spacing_s, headers)


def doi_in(query: str) -> str:
    """The DOI that a query is, in lower case; empty if it is none."""
    match = _DOI.match(query.strip())
    return match[1].rstrip(".,;").lower() if match else ""


def arxiv_id_in(query: str) -> str:
    """The arXiv identifier that a query or address is, without its version."""
    match = _ARXIV.match(query.strip())
    return match[1] if match else ""

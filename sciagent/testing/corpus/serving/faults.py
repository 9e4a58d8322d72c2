"""Everything that servers of the literature are known to break, by name, and when they break it."""

import json
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sciagent.contracts.errors import UnknownNameError
from sciagent.testing.corpus.serving.answer import (
    HTML,
    PDF,
    Answer,
    json_answer,
    page_answer,
)

PRIVATE_ADDRESS = "http://10.0.0.1/"
"""Where `private_redirect` leads to; it stands in a header only, nobody is asked."""

BOMB_BYTES = 1 << 28
"""What the body of `gzip_bomb` expands to."""

TRANSPORT = ("hang", "dropped", "short_body", "endless")
"""Faults on the way of an answer, which is otherwise right."""

_MOVED = {
    "results": "items_v2", "result": "record_v2", "resultList": "resultSet", "items": "entries",
    "message": "payload", "data": "papers", "best_oa_location": "bestLocation",
    "oa_locations": "locations_v2", "is_oa": "isOpen", "hitCount": "count_v2",
}  # fmt: skip
_MOVED_OF_RECORDS = {
    "title": "name_v2", "display_name": "label_v2", "DOI": "identifier_v2", "doi": "doi_v2",
    "url": "href_v2", "paperId": "id_v2",
}  # fmt: skip
_MOVED_XML = (("entry>", "record>"), ("opensearch:totalResults", "opensearch:count"))
_MOVED_XML_OF_RECORDS = (("title>", "heading>"), ("<id>", "<guid>"), ("</id>", "</guid>"))


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a fault needs to know about its server.

    Attributes
    ----------
    site
        Address of the server.
    trap
        Address of the other server on this machine, which nobody may ask.
    path
        That was asked for.
    retry_after_s
        When a client may ask again.
    """

    site: str
    trap: str
    path: str
    retry_after_s: int


def _rate_limited(_: Answer, trouble: Trouble) -> Answer:
    limited = json_answer({"message": "Too Many Requests. Please wait and try again."}, 429)
    return replace(limited, headers=(("Retry-After", str(trouble.retry_after_s)),))


def _redirected(place: str) -> Answer:
    return Answer(302, HTML, b"", (("Location", place),))


def _looping(_: Answer, trouble: Trouble) -> Answer:
    """Lead back and forth between two addresses, as a site does that wants a cookie."""
    turn = "turn=1"
    if trouble.path.endswith(turn):
        return _redirected(f"{trouble.site}{trouble.path[: -len(turn) - 1]}")
    joint = "&" if "?" in trouble.path else "?"
    return _redirected(f"{trouble.site}{trouble.path}{joint}{turn}")


def _half(answer: Answer, _: Trouble) -> Answer:
    return replace(answer, body=answer.body[: len(answer.body) // 2])


def _mistyped(answer: Answer, _: Trouble) -> Answer:
    is_pdf = answer.media_type == PDF
    return replace(answer, media_type=HTML if is_pdf else PDF)


def _bomb(answer: Answer, _: Trouble) -> Answer:
    return replace(answer, body=_bomb_bytes(), headers=(("Content-Encoding", "gzip"),))


@cache
def _bomb_bytes() -> bytes:
    packer = zlib.compressobj(1, wbits=31)
    chunk = bytes(1 << 20)
    packed = [packer.compress(chunk) for _ in range(BOMB_BYTES // len(chunk))]
    return b"".join([*packed, packer.flush()])


def _moved(names: dict[str, str], tags: tuple[tuple[str, str], ...]) -> Callable[..., Answer]:
    """Make a fault that gives fields other names, as a new version of an API does."""

    def moved(answer: Answer, _: Trouble) -> Answer:
        if "json" in answer.media_type:
            content = _renamed(json.loads(answer.body), names)
            return replace(answer, body=json.dumps(content, ensure_ascii=False).encode())
        text = answer.body
        if "xml" in answer.media_type:
            for old, new in tags:
                text = text.replace(old.encode(), new.encode())
        return replace(answer, body=text)

    return moved


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(name, name): _renamed(each, names) for name, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each, names) for each in value]
    return value


INSTEAD: dict[str, Callable[[Answer, Trouble], Answer]] = {
    "rate_limited": _rate_limited,
    "unavailable": lambda *_: page_answer("503 Service Unavailable", "Please come back.", 503),
    "needs_key": lambda *_: json_answer(
        {"error": "Unauthorized", "message": "An API key is required for this endpoint."}, 401
    ),
    "html_error": lambda *_: page_answer("Down for maintenance", "We will be back soon.", 200),
    "private_redirect": lambda *_: _redirected(PRIVATE_ADDRESS),
    "loopback_redirect": lambda _, trouble: _redirected(f"{trouble.trap}/inside"),
    "redirect_loop": _looping,
    "truncated_file": _half,
    "malformed_json": _half,
    "wrong_type": _mistyped,
    "gzip_bomb": _bomb,
    "moved_fields": _moved(_MOVED, _MOVED_XML),
    "moved_record_fields": _moved(_MOVED_OF_RECORDS, _MOVED_XML_OF_RECORDS),
}
"""Faults that change the answer, or send another one."""

SERVER_FAULTS: tuple[str, ...] = tuple(sorted({*INSTEAD, *TRANSPORT}))
"""Names of all faults."""


@dataclass(frozen=True, slots=True)
class ServerFault:
    """A fault and when it happens.

    Attributes
    ----------
    name
        One of `SERVER_FAULTS`.
    prefix
        Paths that begin so are meant.
    times
        How often it happens; None: always.
    retry_after_s
        What `rate_limited` says, in seconds.
    """

    name: str
    prefix: str = "/"
    times: int | None = None
    retry_after_s: int = 1

    def __post_init__(self) -> None:
        if self.name not in SERVER_FAULTS:
            raise UnknownNameError.among("fault", self.name, SERVER_FAULTS)


class FaultPlan:
    """Says which fault is due; several threads may ask it."""

    def __init__(self) -> None:
        self._planned: list[ServerFault] = []
        self._happened: list[int] = []
        self._lock = threading.Lock()

    def add(self, fault: ServerFault) -> None:
        """Plan a fault; of several for one path, the first planned comes first."""
        with self._lock:
            self._planned.append(fault)
            self._happened.append(0)

    def clear(self) -> None:
        """Forget all faults."""
        with self._lock:
            self._planned.clear()
            self._happened.clear()

    def due(self, path: str) -> ServerFault | None:
        """Return the fault that happens to a request for this path, and count it."""
        with self._lock:
            for place, fault in enumerate(self._planned):
                spent = fault.times is not None and self._happened[place] >= fault.times
                if path.startswith(fault.prefix) and not spent:
                    self._happened[place] += 1
                    return fault
        return None

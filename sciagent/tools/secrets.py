"""Keys and passwords kept out of files, prompts and the journal."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from sciagent.contracts.events import Event, EventBody
from sciagent.contracts.ports import Journal
from sciagent.workspace.secret_names import is_secret_name

REDACTED = "[redacted]"
SHORTEST = 8
"""A value shorter than this would take ordinary words out of texts."""

_SHAPES = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_\-]{16,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\bxox[abprs]-[A-Za-z0-9\-]{10,}|\bAIza[A-Za-z0-9_\-]{30,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\beyJ[A-Za-z0-9_\-]{8,1000}\.[A-Za-z0-9_\-]{8,4000}\.[A-Za-z0-9_\-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_HEADER = re.compile(r"(?i)\b(authorization\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+)[^\s\"',]+")
_ASSIGNED = re.compile(
    r"(?i)((?:api[_-]?key|secret[_-]?key|access[_-]?token|auth[_-]?token"
    r"|client[_-]?secret|password|passwd)[\"']?\s*[:=]\s*[\"']?)[^\s\"',;&}]{8,}"
)
_ADDRESS = re.compile(r"(://[^\s/:@]+:)[^\s/@]+(?=@)")

_RULES = (
    (("sk-", "pk-", "rk-", "gh", "glpat-", "hf_", "xox", "aiza", "akia", "asia", "eyj", "private"),
     _SHAPES, REDACTED),
    (("authorization",), _HEADER, rf"\1{REDACTED}"),
    (("key", "token", "secret", "passw"), _ASSIGNED, rf"\1{REDACTED}"),
    (("://",), _ADDRESS, rf"\1{REDACTED}"),
)  # fmt: skip
"""Words (in lower case) without which a pattern cannot match, the pattern, and what replaces its
matches. Most texts hold none of the words, and looking for words is much faster."""


class Redactor:
    """Takes known secrets, and what has the shape of one, out of texts.

    Parameters
    ----------
    secrets
        Values that must not be seen, also when they are percent-encoded, in base64 or escaped
        as JSON; values of fewer than 8 characters are left out.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {form for secret in secrets if len(secret) >= SHORTEST for form in _forms(secret)}
        longest_first = sorted(known, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, longest_first))) if known else None

    @classmethod
    def of_environment(cls, variables: Mapping[str, str]) -> "Redactor":
        """Take the values of all variables whose names say that they hold a secret."""
        return cls(value for name, value in variables.items() if is_secret_name(name))

    def text(self, text: str) -> str:
        """Text without secrets."""
        if self._known is not None:
            text = self._known.sub(REDACTED, text)
        lowered = text.lower()
        for words, pattern, instead in _RULES:
            if any(word in lowered for word in words):
                text = pattern.sub(instead, text)
        return text

    def value(self, value: Any) -> Any:
        """JSON value without secrets, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {self.text(key): self._named(key, each) for key, each in value.items()}
        return value

    def _named(self, key: str, value: Any) -> Any:
        if isinstance(value, str) and len(value) >= SHORTEST and is_secret_name(key):
            return REDACTED
        return self.value(value)


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield quote(secret, safe="")
    yield json.dumps(secret)[1:-1]
    yield base64.b64encode(secret.encode()).decode().rstrip("=")


class RedactingJournal:
    """A journal that no secret reaches (a `Journal`).

    Only what people and models said is looked through; hashes and numbers stay as they are.
    """

    def __init__(self, journal: Journal, redactor: Redactor) -> None:
        self._journal = journal
        self._redactor = redactor

    def _clean(self, body: EventBody) -> EventBody:
        content = body.model_dump(mode="json")
        redacted = {key: self._redactor.value(value) for key, value in content.items()}
        return body if redacted == content else type(body).model_validate(redacted)

    def append(
        self, body: EventBody, *, study: str = "", span: str = "", parent: str = ""
    ) -> Event:
        """Write an event and wait for the disk."""
        return self._journal.append(self._clean(body), study=study, span=span, parent=parent)

    def append_unwaited(self, body: EventBody, *, study: str = "") -> Event:
        """Write an event that may be lost in a power cut."""
        return self._journal.append_unwaited(self._clean(body), study=study)

    def append_many(
        self, bodies: Sequence[EventBody], *, study: str = "", span: str = "", parent: str = ""
    ) -> list[Event]:
        """Write several events with one wait for the disk."""
        cleaned = [self._clean(body) for body in bodies]
        return self._journal.append_many(cleaned, study=study, span=span, parent=parent)

    def events(self) -> Iterator[Event]:
        """Read all events from the first."""
        return self._journal.events()

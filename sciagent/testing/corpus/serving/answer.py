"""What a server sends for a request."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HTML = "text/html; charset=utf-8"
JSON = "application/json"
ATOM = "application/atom+xml; charset=utf-8"
PDF = "application/pdf"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer before it is sent.

    Attributes
    ----------
    status
        Of HTTP.
    media_type
        As the header says it.
    body
        All of it.
    headers
        Others than the type and the length.
    """

    status: int
    media_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


def json_answer(content: Mapping[str, Any], status: int = 200) -> Answer:
    """Send JSON."""
    return Answer(status, JSON, json.dumps(content, ensure_ascii=False).encode())


def text_answer(text: str, status: int = 200, media_type: str = TEXT) -> Answer:
    """Send a text."""
    return Answer(status, media_type, text.encode())


def page_answer(title: str, text: str, status: int) -> Answer:
    """Send a short page for people."""
    page = (
        f"<!DOCTYPE html><html><head><title>{title}</title></head>"
        f"<body><h1>{title}</h1><p>{text}</p></body></html>"
    )
    return text_answer(page, status, HTML)

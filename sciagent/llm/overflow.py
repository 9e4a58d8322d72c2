"""Recognises that a conversation is longer than the model's window, however a server says so."""

import json
import re
from collections.abc import Mapping
from typing import Any

from sciagent.contracts.errors import ContextOverflowError

__all__ = ["ContextOverflowError", "context_overflow", "silent_overflow"]

_FITS_ALWAYS = 1000
_REMEDY = "Shorten it, or serve the model with a larger context."
_STATUS = {None, 400, 413, 422, 500}
_KNOWN = re.compile(
    r"context_length_exceeded|exceed_context_size|context (?:length|size|window)"
    r"|maximum model length|prompt is too long|context the overflows|context overflow",
    re.IGNORECASE,
)
_WINDOW = re.compile(
    r"(?:context (?:length|size|window)|maximum model length)[^\d.]{0,40}?(\d+)", re.IGNORECASE
)
_PROMPT = re.compile(
    r"(?:you requested|requested a total of|resulted in|you passed|\blength|input|keep the first)"
    r"(?: about)?[ (]{1,2}(\d+)",
    re.IGNORECASE,
)


def context_overflow(status: int | None, body: Any) -> ContextOverflowError | None:
    """Make an error of a server's answer if it says that the conversation is too long.

    Parameters
    ----------
    status
        HTTP status; none for an error that came inside a stream.
    body
        What stood in the answer's `error`, or all of it.
    """
    text = body if isinstance(body, str) else json.dumps(body)
    if status not in _STATUS or not _KNOWN.search(text):
        return None
    prompt = _field(body, "n_prompt_tokens") or _number(_PROMPT, text)
    window = _field(body, "n_ctx") or _number(_WINDOW, text)
    return _error(prompt, window)


def silent_overflow(n_prompt_tokens: int) -> ContextOverflowError | None:
    """Make the error for a server that answers with nothing, as LM Studio does.

    A conversation of less than a thousand tokens fits every window, so that the silence has
    another reason.
    """
    if n_prompt_tokens < _FITS_ALWAYS:
        return None
    return ContextOverflowError(
        f"The endpoint answered nothing to about {n_prompt_tokens} tokens, which means with some "
        "servers that the conversation is longer than the model's window.",
        _REMEDY,
    )


def _error(prompt: int | None, window: int | None) -> ContextOverflowError:
    size = f" ({prompt} tokens)" if prompt else ""
    room = f" of {window} tokens" if window else ""
    return ContextOverflowError(
        f"The conversation{size} is longer than the model's window{room}.",
        _REMEDY,
        n_prompt_tokens=prompt,
        n_ctx=window,
    )


def _field(body: Any, name: str) -> int | None:
    value = body.get(name) if isinstance(body, Mapping) else None
    return value if isinstance(value, int) else None


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found[1]) if found else None

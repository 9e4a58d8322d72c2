"""Which failures of a call may pass, and how long to wait before it is made again."""

import email.utils
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import openai

from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.errors import EndpointError, SciagentError
from sciagent.llm.overflow import context_overflow
from sciagent.llm.stream import BrokenAnswerError, EmptyStreamError

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
LONGEST_RETRY_AFTER_S = 600.0

_TOO_MANY = 429
_OVERLOADED = {408, 425, 502, 503, 504, 529}
_UNKNOWN_FIELD = re.compile(
    r"unrecogni[sz]ed|unknown|unsupported|not supported|extra|unexpected", re.IGNORECASE
)
_DROPPABLE = (
    "stream_options", "parallel_tool_calls", "top_k", "min_p", "repetition_penalty",
    "presence_penalty", "seed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure of one call, judged.

    Attributes
    ----------
    error
        What to raise if the call is not made again.
    repair
        What to record if it is; empty where making it again cannot help.
    wait_s
        How long the server asks to wait.
    whole
        Whether to ask for the answer in one piece next time, because streaming is what fails.
    refused
        Name of an optional field that the server does not take.
    """

    error: SciagentError
    repair: str = ""
    wait_s: float | None = None
    whole: bool = False
    refused: str = ""


def wait_s(failures: int, asked_s: float | None, draw: random.Random) -> float:
    """Choose how long to wait before the next try.

    Parameters
    ----------
    failures
        Failures of this call so far, at least 1.
    asked_s
        What the server asked for, if it did; never less is waited.
    draw
        Source of the jitter that keeps many clients from returning at once.

    Returns
    -------
    float
        Seconds: half to all of a time that doubles with every failure, or what the server asked
        for and up to a tenth more.
    """
    if asked_s is not None:
        return asked_s * draw.uniform(1.0, 1.1)
    longest = min(FIRST_WAIT_S * 2.0 ** (failures - 1), LONGEST_WAIT_S)
    return longest * draw.uniform(0.5, 1.0)


def judge(error: Exception, endpoint: Endpoint) -> Failure:
    """Judge an exception of a call by what can be done about it."""
    where = f"The endpoint {endpoint.base_url}"
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, where)
    if isinstance(error, EmptyStreamError):
        return Failure(error, "retried_empty_stream", whole=True)
    if isinstance(error, BrokenAnswerError):
        if overflow := context_overflow(None, error.message):
            return Failure(overflow)
        return Failure(error, "retried_dropped_stream")
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        detail = str(cause) or type(cause).__name__
        unreachable = EndpointError(
            f"{where} cannot be reached: {detail}.", "Start it, or give its right address."
        )
        return Failure(unreachable, "retried_connection")
    if isinstance(error, openai.APIError) and not isinstance(
        error, openai.APIResponseValidationError
    ):
        return _inside_stream(error, where)
    malformed = EndpointError(f"{where} answered with something that is not JSON.")
    return Failure(malformed, "retried_malformed", whole=True)


def _inside_stream(error: openai.APIError, where: str) -> Failure:
    """Judge an error that came as a piece of a stream, such as that of a streaming parser."""
    if overflow := context_overflow(None, error.body or error.message):
        return Failure(overflow)
    failed = EndpointError(f"{where} failed while it answered: {error.message}")
    return Failure(failed, "retried_stream_error", whole=True)


def _of_status(error: openai.APIStatusError, where: str) -> Failure:
    status = error.status_code
    text = message_of(error)
    if overflow := context_overflow(status, error.body or text):
        return Failure(overflow)
    failed = EndpointError(f"{where} answered {status}: {text}", _REMEDIES.get(status, ""))
    if status == _TOO_MANY or status in _OVERLOADED:
        return _later(failed, status, retry_after_s(error.response.headers))
    if status >= 500:
        return Failure(failed, "retried_server_error")
    if status in {400, 422} and (refused := _refused_field(text)):
        return Failure(failed, f"dropped_{refused}", refused=refused)
    return Failure(failed)


def _later(failed: EndpointError, status: int, asked_s: float | None) -> Failure:
    """Judge a failure that passes with time, unless that is longer than anyone waits."""
    if asked_s is not None and asked_s > LONGEST_RETRY_AFTER_S:
        failed.remedy = f"It asks to wait {asked_s:.0f} s; try again then."
        return Failure(failed)
    repair = "retried_rate_limit" if status == _TOO_MANY else "retried_overload"
    return Failure(failed, repair, wait_s=asked_s)


_REMEDIES = {
    401: "Give the right key.",
    403: "Give a key that may use this model.",
    404: "Give the base URL up to `/v1`, and a model that the endpoint lists.",
}


def message_of(error: openai.APIStatusError) -> str:
    """Read what a server says about its failure, in at most 500 characters."""
    body: Any = error.body
    said = body.get("message") if isinstance(body, Mapping) else body
    return " ".join(str(said or error.message).split())[:500]


def _refused_field(text: str) -> str:
    """Find the optional field that a server says it does not know."""
    if not re.search(
        r"unrecogni[sz]ed|unknown|unsupported|not supported|extra|unexpected", text, re.IGNORECASE
    ):
        return ""
    return next((name for name in _DROPPABLE if re.search(rf"\b{name}\b", text)), "")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read how long a server asks to wait: seconds, milliseconds, or until a date."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000.0
    told = headers.get("retry-after")
    if (seconds := _number(told)) is not None or told is None:
        return seconds
    try:
        moment = email.utils.parsedate_to_datetime(told)
    except ValueError:
        return None
    return max(moment.timestamp() - time.time(), 0.0)


def _number(text: str | None) -> float | None:
    try:
        return max(float(text), 0.0) if text else None
    except ValueError:
        return None

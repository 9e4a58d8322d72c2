"""Failures are sorted by what can be done about them."""

import email.utils
import pickle
import random
import time

import pytest

from sciagent.contracts.errors import ContextOverflowError
from sciagent.llm.overflow import context_overflow
from sciagent.llm.retry import LONGEST_WAIT_S, retry_after_s, wait_s

VLLM = (
    "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens "
    "(39000 in the messages, 1000 in the completion)."
)


@pytest.mark.parametrize(
    ("status", "body", "prompt", "window"),
    [
        (400, {"code": "context_length_exceeded", "message": VLLM}, 40000, 32768),
        (400, {"message": VLLM}, 40000, 32768),
        (400, VLLM, 40000, 32768),
        (None, {"message": VLLM}, 40000, 32768),
        (400, {"message": "The decoder prompt (length 40000) is longer than the maximum model "
               "length of 32768."}, 40000, 32768),
        (400, {"message": "The input (40000 tokens) is longer than the model's context length "
               "(32768 tokens)."}, 40000, 32768),
        (400, {"type": "exceed_context_size_error", "message": "the request exceeds the "
               "available context size", "n_prompt_tokens": 40000, "n_ctx": 32768}, 40000, 32768),
        (400, {"message": "Trying to keep the first 40000 tokens when context the overflows. "
               "However, the model is loaded with context length of only 32768 tokens"},
         40000, 32768),
        (413, {"message": "prompt is too long"}, None, None),
    ],
)  # fmt: skip
def test_an_overflow_is_recognised_with_its_numbers(
    status: int | None, body: object, prompt: int | None, window: int | None
) -> None:
    error = context_overflow(status, body)
    assert error is not None
    assert (error.n_prompt_tokens, error.n_ctx) == (prompt, window)
    assert error.remedy


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"message": "Rate limit: the context length of all requests is too large."}),
        (400, {"message": "temperature must be at most 2"}),
        (400, None),
        (401, {"message": "context length"}),
    ],
)
def test_other_failures_are_no_overflow(status: int, body: object) -> None:
    assert context_overflow(status, body) is None


def test_an_overflow_keeps_its_numbers_between_processes() -> None:
    error = ContextOverflowError("Too long.", "Shorten it.", n_prompt_tokens=9, n_ctx=8)
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (copy.message, copy.remedy, copy.n_prompt_tokens, copy.n_ctx) == (
        "Too long.", "Shorten it.", 9, 8,
    )  # fmt: skip


def test_the_time_to_wait_is_read_in_every_form() -> None:
    date = email.utils.formatdate(time.time() + 90.0, usegmt=True)
    assert retry_after_s({"retry-after": "2"}) == 2.0
    assert retry_after_s({"retry-after": "0.5", "retry-after-ms": "70"}) == 0.07
    told = retry_after_s({"retry-after": date})
    assert told is not None
    assert 80.0 < told <= 90.0
    for headers in ({}, {"retry-after": "soon"}):
        assert retry_after_s(headers) is None
    assert retry_after_s({"retry-after": "-3"}) == 0.0


def test_waits_double_up_to_a_limit_and_never_undercut_what_was_asked_for() -> None:
    draw = random.Random(0)
    waits = [wait_s(failures, None, draw) for failures in range(1, 20)]
    assert max(waits) <= LONGEST_WAIT_S
    assert waits[0] < waits[3] < waits[8]
    assert all(7.0 <= wait_s(1, 7.0, draw) <= 7.7 for _ in range(50))

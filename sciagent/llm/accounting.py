"""What a call used, as the endpoint tells it or as it can be estimated."""

import json
from collections.abc import Mapping
from typing import Any

from sciagent.contracts.conversation import Usage
from sciagent.contracts.endpoint import Endpoint

CHARACTERS_PER_TOKEN = 4
"""Rough size of a token, for endpoints that do not count."""


def estimated_tokens(value: Any) -> int:
    """Estimate the tokens of a JSON value or a text from its length."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return len(text) // CHARACTERS_PER_TOKEN


def usage_of(endpoint: Endpoint, told: Mapping[str, Any]) -> Usage:
    """Read the usage that an endpoint told, and reckon its cost.

    Parameters
    ----------
    endpoint
        Whose prices hold.
    told
        The field `usage` of the answer.
    """
    prompt = _count(told.get("prompt_tokens"))
    completion = _count(told.get("completion_tokens"))
    return priced(endpoint, prompt, completion, min(_cached(told), prompt))


def priced(endpoint: Endpoint, prompt: int, completion: int, cached: int = 0) -> Usage:
    """Count one call and its cost; cached tokens are part of the prompt's and cost the same."""
    cost = (
        prompt * endpoint.prompt_usd_per_million + completion * endpoint.completion_usd_per_million
    ) / 1e6
    return Usage(
        calls=1,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        cost_usd=cost,
    )


def _cached(told: Mapping[str, Any]) -> int:
    details = told.get("prompt_tokens_details")
    if isinstance(details, Mapping) and details.get("cached_tokens") is not None:
        return _count(details["cached_tokens"])
    return _count(told.get("prompt_cache_hit_tokens"))


def _count(value: Any) -> int:
    return max(int(value), 0) if isinstance(value, int | float) else 0

"""Counts tokens, and what a prefix cache would have held, over all requests of a server."""

import json
import threading
from collections.abc import Mapping
from itertools import islice
from typing import Any

CHARACTERS_PER_TOKEN = 4
_COMPARED = 64

Node = dict[str, Any]


def tokens(characters: int) -> int:
    """Tokens of that many characters of JSON."""
    return characters // CHARACTERS_PER_TOKEN


def serialised(value: Any) -> str:
    """Write a JSON value as it is counted."""
    return json.dumps(value, ensure_ascii=False)


def answer_tokens(message: Mapping[str, Any]) -> int:
    """Tokens of an answer."""
    return tokens(len(serialised(message)))


class PrefixCache:
    """Tools and messages of all earlier requests, as a tree of their serialised texts."""

    def __init__(self) -> None:
        self._root: Node = {}
        self._lock = threading.Lock()

    def count(self, body: Mapping[str, Any]) -> tuple[int, int]:
        """Count a request, and keep it for the next ones.

        Returns
        -------
        tuple of int
            Tokens of tools and messages, and how many of them begin an earlier request too.
        """
        parts = [serialised(body.get("tools") or []), *map(serialised, body["messages"])]
        with self._lock:
            shared = self._take(parts)
        return tokens(sum(map(len, parts))), tokens(shared)

    def _take(self, parts: list[str]) -> int:
        node, shared = self._root, 0
        known = True
        for part in parts:
            if known and part not in node:
                # The latest siblings are the likeliest to share a beginning.
                others = islice(reversed(node), _COMPARED)
                shared += max((_common(part, other) for other in others), default=0)
                known = False
            elif known:
                shared += len(part)
            node = node.setdefault(part, {})
        return shared


def _common(first: str, second: str) -> int:
    """Length of the common beginning of two texts."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if second.startswith(first[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low

"""What the processes of all peers do: read a question a line, answer it, and stay at home.

This runs in the peer's interpreter, so it needs the standard library alone.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_SENDING = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0}
_HERE = {"127.0.0.1", "::1", "localhost", None}
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Question:
    """A question to a peer.

    Attributes
    ----------
    base_url
        Of the scripted server.
    text
        What is asked.
    pages
        Text of each page that the tool knows, by address.
    upset_at
        Number of the reading at which the tool raises what nobody expects.
    window_tokens
        Size of the context that the peer is told of; None leaves it as the peer has it.
    """

    base_url: str
    text: str
    pages: dict[str, str]
    upset_at: int | None = None
    window_tokens: int | None = None

    def reader(self) -> Callable[[str], str]:
        """Make the only tool that a peer is given."""
        readings = 0

        def read_page(url: str) -> str:
            """Read one page as text."""
            nonlocal readings
            readings += 1
            if self.upset_at == readings - 1:
                raise ZeroDivisionError("the instrument is upset")
            return self.pages.get(url, f"There is no page {url!r}. Check the address.")

        return read_page


def serve(answer: Callable[[Question], str]) -> None:
    """Answer the questions that come on standard input, one JSON object a line."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    refused = _stay_on_this_machine()
    for line in sys.stdin:
        question = Question(**json.loads(line))
        refused.clear()
        started = time.monotonic()
        said, error = "", ""
        try:
            said = answer(question)
        except Exception as broken:  # noqa: BLE001 - process boundary: a peer that gives up
            error = f"{type(broken).__name__}: {broken}"
        result = {
            "text": said, "error": error, "wall_s": time.monotonic() - started,
            "refused": sorted(refused),
        }  # fmt: skip
        answers.write(json.dumps(result) + "\n")
        answers.flush()


def _stay_on_this_machine() -> set[str]:
    """Refuse every connection but those to this machine; return the hosts that were refused."""
    refused: set[str] = set()

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _SENDING:
            return
        target = arguments[_SENDING[event]]
        host = target[0] if isinstance(target, tuple) else target
        if host not in _HERE:
            refused.add(str(host))
            raise ConnectionRefusedError(f"Peers may not connect to {host}.")

    sys.addaudithook(audit)
    return refused


def count_characters_for_tokens() -> None:
    """Let tiktoken count a token for four characters, as the server does, and download nothing."""
    import tiktoken

    class Characters:
        """Stands for an encoding."""

        def encode(self, text: str, **_: Any) -> list[int]:
            """Return as many tokens as the text counts for."""
            return [0] * (len(text) // _CHARACTERS_PER_TOKEN)

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: Characters()

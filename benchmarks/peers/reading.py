"""Pages read by a peer, one after the other."""

import threading
from collections.abc import Sequence

from benchmarks.peers.peer import Measured, RunningPeer
from benchmarks.table import progress
from sciagent.testing.model_server import (
    ModelServer,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    saying,
)
from sciagent.testing.model_server.script import text_of


class Reader:
    """Reads each page once, whatever the peer leaves in the prompt, and repeats the facts there.

    That it counts its readings spares a peer that loses facts the tokens of reading them again.
    """

    def __init__(self, addresses: Sequence[str], facts: Sequence[str]) -> None:
        self._left, self._facts = list(addresses), facts
        self._lock = threading.Lock()

    def __call__(self, request: ScriptedRequest) -> ScriptedAnswer:
        """Answer as the reader does."""
        if "read_page" in request.tool_names:
            with self._lock:
                if self._left:
                    return calling("read_page", url=self._left.pop(0))
        seen = "\n".join(text_of(each) for each in request.messages)
        return saying("\n".join(["Known so far:", *(fact for fact in self._facts if fact in seen)]))


def prompt_tokens(
    peer: RunningPeer, pages: dict[str, str], facts: Sequence[str], window_tokens: int | None
) -> Measured:
    """Let a peer read all pages; return the tokens of its prompts, and what it forgot."""
    with ModelServer(Reader(list(pages), facts)) as server:
        answer = peer.ask(server.base_url, "Read all.", pages, window_tokens=window_tokens)
        usage = server.usage
    known = sum(fact in answer.text for fact in facts)
    said = answer.error or f"{known} of {len(facts)} facts"
    progress(f"  {len(pages)} reads: {usage.prompt_tokens} tokens, {usage.calls} calls, {said}")
    lacking = "" if known == len(facts) else f"recall {known / len(facts):.2f}"
    return Measured(usage.prompt_tokens, lacking)

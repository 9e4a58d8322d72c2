"""The star puzzle, delegated by deepagents to subagents side by side."""

import json
from collections.abc import Sequence

from benchmarks.peers.peer import RunningPeer
from sciagent.testing.model_server import (
    Latency,
    ModelServer,
    RecordedRequest,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    saying,
)
from sciagent.testing.star_puzzle import StarPuzzle, address, searching_as_subagent

_DELEGATE = "task"


def is_subagents(request: RecordedRequest) -> bool:
    """Whether a subagent sent it: only the main agent may delegate."""
    tools = request.body.get("tools") or ()
    return all(tool["function"]["name"] != _DELEGATE for tool in tools)


def solve(
    peer: RunningPeer, puzzle: StarPuzzle, latency: Latency
) -> tuple[Sequence[RecordedRequest], float]:
    """Let it delegate each arm; return what the server saw and the wall time in seconds."""

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if _DELEGATE not in request.tool_names:
            return searching_as_subagent(request)
        if found := request.results(_DELEGATE):
            answers = [json.loads(text)["answer"] for text in found]
            return saying(json.dumps(dict(zip(puzzle.starts, answers, strict=True))))
        return ScriptedAnswer(calls=tuple(_call(start) for start in puzzle.starts))

    with ModelServer(policy, latency=latency) as server:
        answer = peer.ask(server.base_url, puzzle.question, puzzle.pages)
        if answer.error:
            raise SystemExit(f"The peer did not solve the puzzle: {answer.error}")
        return server.requests, answer.wall_s


def _call(start: str) -> ScriptedCall:
    text = (
        f"Follow the partners from {start} and give the last one's signal in mK. "
        f"Pages are at {address('NAME')}."
    )
    return ScriptedCall(_DELEGATE, {"description": text, "subagent_type": "general-purpose"})

"""The faults of peers, given to a peer: it reads five pages in turn, then says that it is done."""

from collections.abc import Iterable

from benchmarks.peers.peer import Measured, PeerAnswer, RunningPeer
from benchmarks.table import progress
from sciagent.testing.model_server import (
    Behaviour,
    Fault,
    Faults,
    ModelServer,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    saying,
)
from sciagent.testing.model_server.script import text_of

PAGES = {
    f"https://faults.example/{n}": f"Sample {n} melts at {1500 + n} degrees." for n in range(5)
}
# Peers are spared what the strictest servers refuse; ours is not.
_LENIENT = Behaviour(strict=False)


def reader(request: ScriptedRequest) -> ScriptedAnswer:
    """Read the first page that does not stand in the prompt, or write down what does."""
    seen = "\n".join(text_of(each) for each in request.messages)
    if "read_page" not in request.tool_names:
        return saying("\n".join(["Known:", *(text for text in PAGES.values() if text in seen)]))
    missing = next((url for url, text in PAGES.items() if text not in seen), "")
    return calling("read_page", url=missing) if missing else saying("DONE")


def recovered(peer: RunningPeer, names: Iterable[str], at: int) -> Measured:
    """Count the faults after which a peer is done: those of the server, and one of the tool."""
    done = 0
    for name in names:
        done += _is_done(name, _ask(peer, Faults(Fault(name, at=at))))
    done += _is_done("tool exception", _ask(peer, Faults(), upset_at=at))
    return Measured(done)


def _ask(peer: RunningPeer, faults: Faults, upset_at: int | None = None) -> PeerAnswer:
    with ModelServer(reader, faults=faults, behaviour=_LENIENT) as server:
        return peer.ask(server.base_url, "Read all pages.", PAGES, upset_at=upset_at)


def _is_done(name: str, answer: PeerAnswer) -> bool:
    done = "DONE" in answer.text
    said = " ".join((answer.error or answer.text or "silent").split())
    progress(f"  {name}: {'recovered' if done else said[:90]}")
    return done

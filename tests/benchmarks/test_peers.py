import sys
from pathlib import Path

import pytest

from benchmarks.peers.peer import (
    DEEPAGENTS,
    VARIABLE,
    Beside,
    Measured,
    Peer,
    RunningPeer,
    rows_beside,
)
from benchmarks.table import Row

TALKATIVE = "tests.benchmarks.talkative_peer"
ABSENT = Peer("Nobody", "1.0", TALKATIVE, ("a-distribution-that-is-not-there",))
PRESENT = Peer("Talkative", "1.0", TALKATIVE, ("pytest",))


@pytest.fixture(autouse=True)
def _this_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, sys.executable)


def ask(peer: RunningPeer, text: str = "Read.") -> Measured:
    answer = peer.ask("http://127.0.0.1:1/v1", text, {"a": "the page"})
    return Measured(float("the page" in answer.text), answer.error)


def test_a_peer_that_is_not_installed_is_quoted_and_named_as_such() -> None:
    assert ABSENT.beside(ask, 12.0) == [Beside("Nobody 1.0, quoted", 12.0)]
    assert ABSENT.beside(ask, None) == []


def test_a_peer_that_is_installed_is_measured() -> None:
    (beside,) = PRESENT.beside(ask, 12.0)
    assert (beside.label, beside.value) == (f"Talkative {pytest.__version__}", 1.0)


def test_what_a_peer_lacks_stands_in_its_label() -> None:
    (beside,) = PRESENT.beside(lambda peer: ask(peer, "Break."), 12.0)
    assert beside.label.endswith(", ValueError: broken")
    assert not beside.whole


def test_a_peer_reaches_this_machine_alone(tmp_path: Path) -> None:
    peer = RunningPeer(TALKATIVE, tmp_path)
    answer = peer.ask("http://127.0.0.1:1/v1", "Read.", {"a": "the page"})
    peer.close()
    assert answer.text == "the page Peers may not connect to 192.0.2.1."
    assert answer.refused == ["192.0.2.1"]


def test_a_peer_that_died_is_started_again(tmp_path: Path) -> None:
    peer = RunningPeer(TALKATIVE, tmp_path)
    died, then = (ask(peer, text) for text in ("Die.", "Read."))
    peer.close()
    assert (died.lacking, then.value) == ("The process died or was too slow.", 1.0)


def test_the_best_peer_is_one_that_did_the_whole_task() -> None:
    ours = Row("20 reads", "prompt_tokens", 80.0, "{token}")
    peers = [Beside("slow", 300.0), Beside("forgetful", 100.0, whole=False), Beside("best", 200.0)]
    rows = rows_beside(ours, peers, lower_is_better=True)
    assert [(row.case, row.peer_value) for row in rows] == [
        ("20 reads", 200.0), ("20 reads, slow", 300.0), ("20 reads, forgetful", 100.0),
    ]  # fmt: skip
    assert rows_beside(ours, []) == [ours]


def test_a_wrong_interpreter_is_named_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/there/is/no/python")
    with pytest.raises(SystemExit, match=f"{VARIABLE} names no interpreter"):
        DEEPAGENTS.version()

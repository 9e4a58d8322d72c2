"""An owner that dies at any write is followed by one that goes on."""

from pathlib import Path

import pytest

from sciagent.contracts.events import Delegated, DelegationReturned, EffectStarted
from sciagent.testing.agents import ScriptedRun
from sciagent.testing.model_server import (
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from tests.agent.conftest import MakeRun
from tests.agent.scripts import (
    URL,
    Killed,
    MortalJournal,
    calling_each,
    delegating,
    finding,
    reading_then_finding,
    results_in_answer,
)

LINES = ("one", "two", "three")

working = in_turn(
    calling("read_page", url=URL),
    calling_each(*[("write_line", {"line": line}) for line in LINES]),
    calling_each(("read_page", {"url": URL}), ("write_line", {"line": "four"})),
    saying("done"),
)


def dying(scripted: MakeRun, run: ScriptedRun, at: int, *, after: bool) -> bool:
    """Run until the journal dies; false if the agent ended before that."""
    mortal = scripted(
        working, server=run.server, folder=run.folder, tools=run.tools,
        journal=lambda journal: MortalJournal(journal, at, after=after),
        subagents=run.settings.subagents,
    )  # fmt: skip
    try:
        mortal.ask()
    except Killed:
        return True
    return False


@pytest.mark.parametrize("after", [False, True])
def test_death_at_any_write_loses_nothing_and_repeats_no_effect(
    scripted: MakeRun, tmp_path: Path, after: bool
) -> None:
    at, killed = 0, True
    while killed:
        at += 1
        run = scripted(working, folder=tmp_path / f"{at}")
        killed = dying(scripted, run, at, after=after)
        assert run.ask().answer == "done"
        written = (run.folder / "register.txt").read_text().split()
        assert len(set(written)) == len(written), f"executed twice after death at write {at}"
        begun = [event.body for event in run.events if isinstance(event.body, EffectStarted)]
        assert len({body.effect for body in begun}) == len(begun)
        roles = [message.role for message in run.messages()]
        assert roles.count("tool") == 6
    assert at > 10


def test_an_effect_whose_end_nobody_saw_is_said_to_be_unknown(
    scripted: MakeRun, tmp_path: Path
) -> None:
    said = set()
    for at in range(1, 12):
        run = scripted(working, folder=tmp_path / f"{at}")
        dying(scripted, run, at, after=True)
        run.ask()
        said |= {
            "state unknown" in message.content
            for message in run.messages()
            if message.role == "tool"
        }
    assert said == {False, True}


@pytest.mark.parametrize("after", [False, True])
def test_a_batch_that_was_cut_off_goes_on_and_finished_subagents_are_adopted(
    scripted: MakeRun, tmp_path: Path, after: bool
) -> None:
    policy = delegating(["first", "second", "third"], reading_then_finding)
    at, killed = 0, True
    while killed:
        at += 2
        run = scripted(policy, folder=tmp_path / f"{at}", subagents=True)
        killed = dying(scripted, run, at, after=after)
        outcome = run.ask()
        results = results_in_answer(outcome.answer)
        assert [each["status"] for each in results] == ["ok"] * 3
        bodies = run.bodies()
        assert sum(isinstance(body, Delegated) for body in bodies) == 1
        places = [body.place for body in bodies if isinstance(body, DelegationReturned)]
        assert sorted(places) == [0, 1, 2]
    assert at > 10


def test_a_stop_within_a_batch_returns_nothing_and_the_batch_goes_on_later(
    scripted: MakeRun,
) -> None:
    from sciagent.workspace.inbox import send_command

    runs: list[ScriptedRun] = []
    sent: list[object] = []

    def subagent(request: ScriptedRequest) -> ScriptedAnswer:
        if not request.results("read_page"):
            return calling("read_page", url=URL)
        if not sent:
            sent.append(send_command(runs[0].layout, "stop"))
        return finding()

    runs.append(scripted(delegating(["first", "second"], subagent), subagents=True))
    # The one that sends the stop may still return before it is seen.
    assert runs[0].ask().status in {"stopped", "completed"}
    outcome = runs[0].ask()
    assert [each["status"] for each in results_in_answer(outcome.answer)] == ["ok", "ok"]


def test_an_answer_that_was_being_streamed_is_asked_for_again(scripted: MakeRun) -> None:
    run = scripted(in_turn(calling("read_page", url=URL), saying("1538 °C")))
    assert dying(scripted, run, 4, after=False)  # the second answer had arrived, unwritten
    asked = len(run.server.requests)
    assert run.ask().answer == "1538 °C"
    assert len(run.server.requests) == asked + 1

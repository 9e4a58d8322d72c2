from datetime import datetime, timedelta

import pytest

from sciagent.cli.progress import Progress, action_text
from sciagent.contracts.events import (
    Event,
    Noted,
    OwnerStarted,
    OwnerStopped,
    SegmentOpened,
    TrialInvalidated,
)
from sciagent.contracts.study import Action, Budget
from tests.cli.journals import (
    BEGIN,
    concluded,
    decided,
    finished,
    journal,
    opening,
    proposed,
    refinement,
    trial,
)


def progress_of(events: list[Event]) -> Progress:
    progress = Progress()
    for event in events:
        progress.apply(event)
    return progress


def test_each_trial_has_its_state_its_value_and_its_change_from_the_parent() -> None:
    trials = progress_of(journal(refinement())).trials
    assert [trials[n].state for n in range(1, 6)] == [
        "accepted", "accepted", "rejected", "rejected", "accepted",
    ]  # fmt: skip
    assert trials[1].change is None
    assert trials[5].change == pytest.approx(12.34 - 41.2)
    assert trials[3].reason == "check b_iso failed: -0.4 is below 0"
    assert trials[4].value is None


def test_the_best_trial_is_an_accepted_one() -> None:
    best = progress_of(journal(refinement())).best
    assert best is not None
    assert best.number == 5


def test_the_first_trial_in_progress_is_running_then_finished() -> None:
    progress = progress_of(journal([*opening(), *proposed(1, None, "scale")]))
    assert progress.trials[1].state == "running"
    progress = progress_of(journal([*opening(), *proposed(1, None, "scale"), finished(1, 80.0)]))
    assert progress.trials[1].state == "finished"


def test_superseded_trials_use_no_budget() -> None:
    bodies = [*refinement(), *proposed(6, 5, "zero"), *proposed(7, 5, "size")]
    bodies += [finished(6, 12.0), decided(6), decided(7, "Trial 6 came first.", superseded=True)]
    assert progress_of(journal(bodies)).trials_left == 20 - 6


def test_there_is_nothing_left_to_count_without_a_budget() -> None:
    assert progress_of(journal(opening(Budget()))).trials_left is None


def test_an_invalidated_trial_takes_its_descendants_and_the_best_with_it() -> None:
    bodies = [*refinement(), *trial(6, 5, "zero", 9.0)]
    progress = progress_of(journal([*bodies, TrialInvalidated(trial=5, reason="leak")]))
    assert (progress.trials[5].state, progress.trials[6].state) == ("invalid", "invalid")
    assert progress.trials[6].reason == "leak"
    assert progress.best is not None
    assert progress.best.number == 2


def test_elapsed_time_adds_the_sessions_and_not_the_time_between_them() -> None:
    stopped = journal([*opening(), OwnerStopped(reason="stop")])
    killed = journal([*opening(), *trial(1, None, "scale", 83.0)])
    much_later = (BEGIN + timedelta(days=1)).isoformat()
    resumed = stopped[1].model_copy(
        update={"time": much_later, "body": OwnerStarted(owner="process 2 on here")}
    )
    now = datetime.fromisoformat(much_later) + timedelta(seconds=5)
    assert progress_of([*stopped, resumed]).elapsed_s(now) == pytest.approx(2.0 + 5.0)
    assert progress_of([*killed, resumed]).elapsed_s(now) == pytest.approx(5.0 + 5.0)


def test_warnings_and_recoveries_are_kept_to_be_said() -> None:
    bodies = [
        *opening(),
        OwnerStarted(owner="process 2", recovered="A half-written line was cut off."),
        Noted(text="no phase explains 3 lines", level="warning"),
        Noted(text="nothing to worry about"),
    ]
    assert progress_of(journal(bodies)).warnings == [
        "A half-written line was cut off.",
        "no phase explains 3 lines",
    ]


def test_a_new_segment_brings_its_budget_and_forgets_the_conclusion() -> None:
    bodies = [*refinement(), concluded(best=5)]
    assert progress_of(journal(bodies)).conclusion == "completed: Nothing more to gain."
    bodies.append(SegmentOpened(reason="more", budget=Budget(trials=50)))
    progress = progress_of(journal(bodies))
    assert (progress.conclusion, progress.trials_left) == ("", 45)


def test_actions_are_written_as_they_can_be_typed() -> None:
    action = Action(name="release", arguments={"parameters": ["scale", "zero"], "cycles": 5})
    assert action_text(action) == "release parameters=scale,zero cycles=5"

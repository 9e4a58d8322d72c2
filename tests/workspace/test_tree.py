from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.events import (
    Event,
    EventBody,
    SealedOpened,
    SegmentOpened,
    StudyOpened,
    TrialDecided,
    TrialFinished,
    TrialInvalidated,
    TrialStarted,
)
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import Budget, Outcome
from sciagent.contracts.tree import Trial
from sciagent.workspace.tree import StudyTree, TreeBuilder
from tests.workspace.samples import (
    CONCLUDED,
    OBJECTIVE,
    OPENED,
    decided,
    outcome,
    proposed,
    tried,
)


def grown(*entries: EventBody | tuple[str, EventBody]) -> TreeBuilder:
    """Apply events to a new builder; those without a study's name belong to ``main``."""
    builder = TreeBuilder()
    for sequence, entry in enumerate([OPENED, *entries], start=1):
        study, body = entry if isinstance(entry, tuple) else ("main", entry)
        builder.apply(Event(sequence=sequence, time="t", study=study, body=body, hash=""))
    return builder


def tree_of(*entries: EventBody) -> StudyTree:
    return grown(*entries).studies["main"]


def test_the_head_is_the_latest_accepted_trial_and_the_best_has_the_best_objective() -> None:
    tree = tree_of(
        *tried(1, 20.0), *tried(2, 10.0, parent=1), *tried(3, 10.005, parent=2),
        *tried(4, 5.0, parent=3, verdict="rejected"),
    )  # fmt: skip
    assert (tree.head, tree.best) == (3, 2)


def test_of_two_equals_the_earlier_stays_the_best() -> None:
    assert tree_of(*tried(1, 20.0), *tried(2, 20.0, parent=1)).best == 1


def test_a_maximised_objective_has_the_greatest_value_as_its_best() -> None:
    maximised = OBJECTIVE.model_copy(update={"direction": "maximise"})
    opened = StudyOpened(question="toy/line", objective=maximised, budget=Budget())
    bodies = [*tried(1, 1.0), *tried(2, 3.0), *tried(3, 2.0)]
    builder = grown(("other", opened), *(("other", body) for body in bodies))
    assert builder.studies["other"].best == 2


def test_an_objective_in_another_unit_is_no_objective() -> None:
    fraction = Outcome(status="ok", metrics={"r_wp": Quantity(value=0.01, unit="1")})
    tree = tree_of(
        *tried(1, 20.0), proposed(2, 1), TrialFinished(trial=2, outcome=fraction), decided(2)
    )
    assert (tree.head, tree.best) == (2, 1)


def test_an_invalidated_trial_takes_what_descends_from_it_along_and_head_and_best_go_back() -> None:
    tree = tree_of(
        *tried(1, 20.0), *tried(2, 10.0, parent=1), *tried(3, 5.0, parent=2),
        *tried(4, 15.0, parent=1), *tried(5, 4.0, parent=3),
        TrialInvalidated(trial=2, reason="It saw the answer."),
    )  # fmt: skip
    assert [trial.number for trial in tree.trials if trial.accepted] == [1, 4]
    assert (tree.head, tree.best) == (4, 4)
    assert tree.trial(2).invalidated == "It saw the answer."
    assert tree.trial(5).invalidated == "It descends from trial 2: It saw the answer."


def test_what_starts_from_an_invalidated_trial_never_counts() -> None:
    tree = tree_of(
        *tried(1, 20.0), *tried(2, 10.0, parent=1), proposed(3, 2),
        TrialInvalidated(trial=2, reason="leak"),
        TrialFinished(trial=3, outcome=outcome(1.0)), decided(3), *tried(4, 1.0, parent=3),
    )  # fmt: skip
    assert (tree.head, tree.best) == (1, 1)
    assert all(tree.trial(number).invalidated for number in (2, 3, 4))


def test_invalidating_everything_leaves_no_head() -> None:
    tree = tree_of(*tried(1, 20.0), TrialInvalidated(trial=1, reason="leak"))
    assert (tree.head, tree.best) == (None, None)


def test_superseded_trials_are_kept_and_are_neither_accepted_nor_rejected() -> None:
    tree = tree_of(*tried(1, 20.0), proposed(2, 1), decided(2, "superseded"))
    assert len(tree.trials) == 2
    assert tree.undecided == {}
    tally = tree.tally()
    assert (tally.trials, tally.accepted, tally.rejected) == (1, 1, 0)
    assert (tree.decided, tally.best) == (1, Quantity(value=20.0, unit="%"))


def test_selection_values_are_kept_but_not_shown() -> None:
    tree = tree_of(*tried(1, 20.0))
    kept, shown = tree.trial(1).outcome, tree.shown[0].outcome
    assert kept is not None
    assert "r_wp_held_out" in kept.selection
    assert shown is not None
    assert shown.selection == {}
    assert shown.metrics == kept.metrics
    assert tree.shown_trial(None) is None


def test_cpu_time_is_that_of_all_trials_and_of_the_sealed_evaluation() -> None:
    tree = tree_of(
        *tried(1, 20.0), *tried(2, 30.0, verdict="rejected"),
        SealedOpened(trial=1, outcome=outcome(21.0, cpu_s=0.5)),
    )  # fmt: skip
    assert tree.cpu_s == pytest.approx(2.5)
    assert tree.sealed == outcome(21.0, cpu_s=0.5)


def test_studies_of_one_run_keep_apart_and_share_the_numbers_of_trials() -> None:
    second = ("second", OPENED)
    builder = grown(*tried(1, 20.0), second, *(("second", each) for each in tried(2, 7.0)))
    assert [record.study for record in builder.records()] == ["main", "second"]
    assert [record.best for record in builder.records()] == [1, 2]
    assert builder.next_trial == 3


def test_a_continued_run_has_a_new_budget_and_no_conclusion() -> None:
    more = SegmentOpened(reason="More trials.", budget=Budget(trials=50))
    tree = tree_of(*tried(1, 20.0), CONCLUDED, more)
    assert tree.conclusion is None
    assert tree.budget == Budget(trials=50)


def test_a_segment_of_one_study_leaves_the_others_concluded() -> None:
    more = SegmentOpened(reason="More.", budget=Budget(trials=50))
    builder = grown(CONCLUDED, ("second", OPENED), ("second", CONCLUDED), ("second", more))
    main, second = builder.records()
    assert main.conclusion == CONCLUDED.conclusion
    assert second.conclusion is None


@pytest.mark.parametrize(
    "entries",
    [
        [proposed(1), proposed(1)],
        [TrialStarted(trial=1)],
        [TrialFinished(trial=1, outcome=outcome(1.0))],
        [decided(3)],
        [proposed(2, parent=1)],
        [OPENED],
        [TrialInvalidated(trial=9, reason="")],
        [("nobody", proposed(1))],
    ],
)
def test_events_that_contradict_the_journal_before_them_are_refused(entries: Sequence[Any]) -> None:
    with pytest.raises(WorkspaceError, match=f"Event {len(entries) + 1} "):
        grown(*entries)


def test_an_event_is_never_taken_in_twice_or_left_out() -> None:
    builder = grown(*tried(1, 20.0))
    for sequence in (builder.sequence, builder.sequence + 2):
        with pytest.raises(WorkspaceError, match="it follows event 5"):
            builder.apply(Event(sequence=sequence, time="t", body=CONCLUDED, hash=""))


@st.composite
def histories(draw: st.DrawFn) -> list[EventBody]:
    """Random studies: trials from random parents, with random decisions and invalidations."""
    bodies: list[EventBody] = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        parent = draw(st.none() | st.integers(1, number - 1)) if number > 1 else None
        verdict = draw(st.sampled_from(["accepted", "accepted", "rejected", "superseded"]))
        bodies += tried(number, float(draw(st.integers(1, 9))), parent=parent, verdict=verdict)
        if draw(st.integers(0, 5)) == 0:
            bodies.append(TrialInvalidated(trial=draw(st.integers(1, number)), reason="leak"))
    return bodies


def invalid_in(bodies: Sequence[EventBody]) -> set[int]:
    """What is invalidated at the end, worked out from all events at once."""
    parents: dict[int, int | None] = {}
    invalid: set[int] = set()
    for body in bodies:
        if body.kind == "trial_proposed":
            parents[body.trial] = body.proposal.parent
        elif isinstance(body, TrialInvalidated):
            invalid.add(body.trial)
        for number in sorted(parents):
            if parents[number] in invalid:
                invalid.add(number)
    return invalid


@settings(max_examples=150, deadline=None)
@given(bodies=histories())
def test_the_tree_grown_event_by_event_is_that_of_all_events_at_once(
    bodies: list[EventBody],
) -> None:
    tree = tree_of(*bodies)
    invalid = invalid_in(bodies)
    accepted = [
        body.trial
        for body in bodies
        if isinstance(body, TrialDecided) and body.decision.accepted and body.trial not in invalid
    ]
    values = {trial.number: trial.metric("r_wp") for trial in tree.trials}
    assert {trial.number for trial in tree.trials if trial.invalidated} == invalid
    assert tree.head == (accepted[-1] if accepted else None)
    assert tree.best == (min(accepted, key=lambda n: (values[n], n)) if accepted else None)
    assert tree.tally().accepted == len(accepted)


@settings(max_examples=60, deadline=None)
@given(bodies=histories(), data=st.data())
def test_a_tree_taken_up_from_a_checkpoint_grows_on_as_if_never_put_down(
    bodies: list[EventBody], data: st.DataObject
) -> None:
    whole = grown(*bodies)
    cut = data.draw(st.integers(0, len(bodies)))
    builder = TreeBuilder.from_file(grown(*bodies[:cut]).file())
    for sequence, body in enumerate(bodies[cut:], start=cut + 2):
        builder.apply(Event(sequence=sequence, time="t", study="main", body=body, hash=""))
    assert builder.file() == whole.file()
    assert builder.next_trial == whole.next_trial


def test_a_trial_is_looked_up_by_its_number() -> None:
    assert isinstance(tree_of(*tried(1, 20.0)).trial(1), Trial)
    with pytest.raises(KeyError):
        tree_of(*tried(1, 20.0)).trial(2)

from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.study import Action, Budget, Decision, Objective, Outcome, Proposal
from sciagent.contracts.tree import StudyRecord, Trial
from sciagent.reports.tree_drawing import (
    MOST_ROWS,
    action_in_words,
    path_of,
    tree_groups,
    tree_rows,
)

OBJECTIVE = Objective(metric="r_wp", unit="%", direction="minimise", noise=0.02)


def trial(number: int, parent: int | None, verdict: str | None, **changes: object) -> Trial:
    decision = Decision(verdict=verdict, reasons=(f"{number}",)) if verdict else None  # type: ignore[arg-type]
    fields = {
        "number": number,
        "proposal": Proposal(parent=parent, action=Action(name=f"step{number}")),
        "outcome": Outcome(status="ok"),
        "decision": decision,
    }
    return Trial.model_validate({**fields, **changes})


def study(*trials: Trial, best: int | None = None) -> StudyRecord:
    return StudyRecord(
        study="s", question="q/s", objective=OBJECTIVE, budget=Budget(), trials=trials,
        head=best, best=best,
    )  # fmt: skip


SMALL = study(
    trial(1, None, "accepted"),
    trial(2, 1, "rejected"),
    trial(3, 1, "accepted"),
    trial(4, 3, "rejected"),
    trial(5, 1, "accepted"),
    trial(6, 5, "superseded"),
    best=5,
)


def picture(record: StudyRecord) -> list[str]:
    signs = {"pass": "│", "gap": " ", "tee": "├", "corner": "└"}
    return [
        "".join(signs[rail] for rail in row.rails) + f"{row.number}{'*' if row.on_path else ''}"
        for row in tree_rows(record)
    ]


def test_the_accepted_path_runs_straight_down_with_what_was_tried_beside_it() -> None:
    assert picture(SMALL) == ["1*", "├2", "├3", "│└4", "5*", "└6"]
    assert path_of(SMALL) == (1, 5)


def test_trials_of_every_state_are_named() -> None:
    record = study(
        trial(1, None, "accepted"),
        trial(2, 1, "rejected", outcome=Outcome(status="failed")),
        trial(3, 1, None),
        trial(4, 1, "accepted", invalidated="a leak"),
        trial(5, 1, "accepted"),
        best=1,
    )
    states = {row.number: (row.state, row.reason) for row in tree_rows(record)}
    assert states == {
        1: ("best", "1"),
        2: ("failed", "2"),
        3: ("open", ""),
        4: ("invalidated", "a leak"),
        5: ("accepted", "5"),
    }


def test_a_study_without_trials_or_without_a_best_is_drawn_too() -> None:
    assert tree_groups(study())[0].rows == ()
    assert picture(study(trial(1, None, "rejected"), trial(2, None, "rejected"))) == ["1", "2"]


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=60), st.data())
def test_every_trial_is_drawn_once_and_below_its_parent(
    shape: list[tuple[int, bool]], data: st.DataObject
) -> None:
    trials = [
        trial(n, parent if 0 < parent < n else None, "accepted" if good else "rejected")
        for n, (parent, good) in enumerate(shape, 1)
    ]
    best = data.draw(st.sampled_from([each.number for each in trials])) if trials else None
    record = study(*trials, best=best)
    order = [row.number for row in tree_rows(record)]
    assert sorted(order) == [each.number for each in trials]
    for each in trials:
        parent = each.proposal.parent
        assert parent is None or order.index(parent) < order.index(each.number)
    grouped = [row.number for group in tree_groups(record) for row in group.rows]
    assert grouped == order


def test_a_path_of_thousands_of_trials_is_drawn_without_its_middle() -> None:
    trials = [trial(n, n - 1 or None, "accepted") for n in range(1, 3001)]
    groups = tree_groups(study(*trials, best=3000))
    assert len(groups) == MOST_ROWS + 1
    assert sum(len(group.rows) for group in groups) == MOST_ROWS
    assert groups[MOST_ROWS // 2].folded.startswith("2600 lines are left out")
    assert groups[-1].rows[0].number == 3000
    assert picture(study(*trials, best=1))[-1] == "3000"


def test_much_that_was_not_accepted_folds_into_one_line() -> None:
    trials = [trial(1, None, "accepted")]
    trials += [trial(n, 1, "rejected" if n % 2 else "superseded") for n in range(2, 102)]
    trials.append(trial(102, 1, "accepted"))
    groups = tree_groups(study(*trials, best=102))
    assert [group.folded for group in groups] == [
        "",
        "trials 2 to 101: 50 rejected, 50 superseded",
        "",
    ]
    assert len(groups[1].rows) == 100


def test_actions_are_written_on_one_line_with_their_arguments() -> None:
    several = Action(name="release", arguments={"parameters": ["a", "b"]})
    assert action_in_words(several) == "release a, b"
    two = Action(name="move", arguments={"x": 1.5, "how": {"fast": True}})
    assert action_in_words(two) == 'move x = 1.5, how = {"fast":true}'
    assert action_in_words(Action(name="start")) == "start"
    assert len(action_in_words(Action(name="a\n" * 100))) <= 72

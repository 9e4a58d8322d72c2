"""The words of a study: equal actions, directions of objectives, views of the tree."""

from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.study import Action, Decision, Objective, Outcome, Proposal
from sciagent.contracts.tree import StudyView, Trial

values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(arguments=st.dictionaries(st.text(max_size=5), values, max_size=4))
def test_a_proposal_survives_json_and_keeps_its_hash(arguments: dict) -> None:
    proposal = Proposal(parent=3, action=Action(name="release", arguments=arguments))
    again = Proposal.model_validate_json(proposal.model_dump_json())
    assert again == proposal
    assert again.sha256 == proposal.sha256


def test_the_order_of_arguments_does_not_make_another_action() -> None:
    first = Action(name="a", arguments={"x": 1, "y": 2})
    second = Action(name="a", arguments={"y": 2, "x": 1})
    assert first.key == second.key


def test_a_gain_is_positive_when_the_objective_gets_better() -> None:
    lower = Objective(metric="r_wp", unit="%", direction="minimise", noise=0.0)
    higher = Objective(metric="f1", unit="1", direction="maximise", noise=0.0)
    assert lower.gain(before=9.0, after=8.0) == 1.0
    assert higher.gain(before=0.8, after=0.9) > 0


def _trial(number: int, parent: int | None, verdict: str) -> Trial:
    return Trial(
        number=number,
        proposal=Proposal(parent=parent, action=Action(name=f"step{number}")),
        outcome=Outcome(status="ok"),
        decision=Decision.model_validate({"verdict": verdict, "reasons": ("Because.",)}),
    )


def _view(trials: list[Trial]) -> StudyView:
    objective = Objective(metric="m", unit="1", direction="minimise", noise=0.0)
    return StudyView(
        study="s", objective=objective, trials=trials, head=trials[0], best=trials[0],
        trials_left=None, cpu_left_s=None, wall_left_s=None, seed=0,
    )  # fmt: skip


def test_the_path_to_a_trial_begins_with_the_first_one() -> None:
    trials = [_trial(1, None, "accepted"), _trial(2, 1, "rejected"), _trial(3, 1, "accepted"),
              _trial(4, 3, "accepted")]  # fmt: skip
    assert [trial.number for trial in _view(trials).path(trials[3])] == [1, 3, 4]


def test_what_was_superseded_counts_as_not_tried() -> None:
    trials = [_trial(1, None, "accepted"), _trial(2, 1, "rejected"), _trial(3, 1, "superseded")]
    view = _view(trials)
    assert view.tried(1, Action(name="step2"))
    assert not view.tried(1, Action(name="step3"))
    assert not view.tried(2, Action(name="step2"))

"""The loop: what is proposed, run, accepted and concluded."""

from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest

from sciagent.contracts.study import Abstain, Action, Batch, Budget, Finish, Proposal
from sciagent.contracts.tree import StudyView
from sciagent.study.loop import StudyStopped
from sciagent.testing.studies import ToyStudy
from sciagent.testing.toy import FORBIDDEN, Bowl, BowlSettings, Walker
from sciagent.workspace.inbox import send_command


def test_the_built_in_policy_walks_to_the_lowest_point(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {})
    conclusion = study.run()
    assert conclusion.status == "completed"
    best = study.tree.trial(conclusion.best or 0)
    assert (best.metric("x"), best.metric("y"), best.metric("height")) == (3.0, -2.0, 0.0)


def test_an_improvement_that_fails_a_hard_check_is_rejected_with_the_reason(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {})
    study.run()
    leaps = [t for t in study.tree.trials if t.proposal.action.name == FORBIDDEN]
    assert leaps
    for leap in leaps:
        assert leap.outcome is not None
        assert leap.metric("height") == -1.0
        assert leap.decision is not None
        assert leap.decision.verdict == "rejected"
        assert "Check height" in leap.decision.reasons[0]


@pytest.mark.parametrize("parallel", [2, 4])
def test_trials_run_side_by_side_give_the_same_accepted_path(tmp_path: Path, parallel: int) -> None:
    one = ToyStudy(tmp_path / "one", {})
    many = ToyStudy(tmp_path / "many", {}, parallel=parallel)
    one.run()
    many.run()
    assert many.accepted_path() == one.accepted_path()


def test_decisions_follow_the_order_of_proposal(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {"sleep_s": 0.01}, parallel=3)
    study.run()
    decided = [e.body.trial for e in study.events if e.body.kind == "trial_decided"]
    assert decided == sorted(decided)


def test_a_proposal_is_in_the_journal_before_it_runs(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {})
    study.run()
    seen: dict[int, list[str]] = {}
    for event in study.events:
        if event.kind.startswith("trial_"):
            seen.setdefault(event.body.trial, []).append(event.kind)  # type: ignore[union-attr]
    order = ["trial_proposed", "trial_started", "trial_finished", "trial_decided"]
    assert all(kinds == order for kinds in seen.values())


def test_a_failed_trial_is_an_outcome_with_its_kind_and_the_study_goes_on(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {"fail_every": 4})
    assert study.run().status == "completed"
    failed = study.tree.trial(4)
    assert failed.outcome is not None
    assert failed.outcome.error is not None
    assert failed.outcome.error.kind == "convergence"
    assert failed.decision is not None
    assert failed.decision.verdict == "rejected"


def test_a_policy_that_abstains_ends_the_study_as_abstained(tmp_path: Path) -> None:
    conclusion = ToyStudy(tmp_path, {"hopeless": True}).run()
    assert (conclusion.status, conclusion.reason) == ("abstained", "There is no bowl here.")


def test_the_trial_budget_ends_the_study_with_its_best_result(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {}, budget=Budget(trials=5))
    conclusion = study.run()
    assert conclusion.status == "limit"
    assert study.tree.decided == 5
    assert conclusion.best == study.tree.best


def test_the_wall_budget_cuts_a_slow_trial_off(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {"sleep_s": 30.0}, budget=Budget(wall_s=0.3))
    conclusion = study.run()
    assert conclusion.status == "limit"
    outcome = study.tree.trial(1).outcome
    assert outcome is not None
    assert outcome.error is not None
    assert outcome.error.kind == "limit"


def test_a_stop_command_ends_the_loop_and_the_study_goes_on_later(tmp_path: Path) -> None:
    undisturbed = ToyStudy(tmp_path / "undisturbed", {})
    undisturbed.run()
    study = ToyStudy(tmp_path / "stopped", {})
    study.begin()
    send_command(study.layout, "stop", author="tester")
    with pytest.raises(StudyStopped):
        study.run()
    assert [e.kind for e in study.events].count("command_taken") == 1
    study.run()
    assert study.accepted_path() == undisturbed.accepted_path()


class Rivals:
    """Proposes two directions against each other, once."""

    def __init__(self, bowl: Bowl) -> None:
        self.bowl = bowl

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        if view.head is None:
            return Batch(proposals=(Proposal(parent=None, action=Action(name="start")),))
        if len(view.trials) > 1:
            return Finish(reason="Enough.")
        return Batch(
            rule="best",
            proposals=tuple(
                Proposal(parent=1, action=Action(name=name, arguments={"step_um": 1.0}))
                for name in ("east", "south", "north")
            ),
        )


def test_of_rivals_only_the_best_is_accepted(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {}, policy=Rivals, parallel=2)  # type: ignore[arg-type]
    study.run()
    verdicts = {t.proposal.action.name: t.decision for t in study.tree.trials}
    accepted = [name for name, decision in verdicts.items() if decision and decision.accepted]
    assert accepted == ["start", "south"]
    east = verdicts["east"]
    assert east is not None
    assert "Its rival, trial 3, was better." in east.reasons


class Peeking(Walker):
    """Remembers whether it was ever shown a selection value."""

    seen: ClassVar[Counter[str]] = Counter()

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        for trial in view.trials:
            if trial.outcome is not None:
                Peeking.seen.update(trial.outcome.selection)
        return super().propose(view)


def test_whoever_proposes_never_sees_selection_values(tmp_path: Path) -> None:
    Peeking.seen.clear()
    study = ToyStudy(tmp_path, {}, policy=Peeking)  # type: ignore[arg-type]
    study.run()
    assert not Peeking.seen
    assert any(t.outcome and t.outcome.selection for t in study.tree.trials)


class BackTracker:
    """Goes one step, then branches again from the first trial."""

    def __init__(self, bowl: Bowl) -> None:
        self.bowl = bowl

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        steps = [(None, "start", 0.0), (1, "east", 1.0), (1, "south", 1.0), (3, "south", 1.0)]
        if len(view.trials) == len(steps):
            return Finish(reason="Enough.")
        parent, name, size = steps[len(view.trials)]
        arguments = {"step_um": size} if size else {}
        action = Action(name=name, arguments=arguments)  # type: ignore[arg-type]
        return Batch(proposals=(Proposal(parent=parent, action=action),))


def test_a_policy_can_go_back_and_branch_from_an_older_trial(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {}, policy=BackTracker)  # type: ignore[arg-type]
    study.run()
    assert [t.accepted for t in study.tree.trials] == [True] * 4
    path = study.accepted_path()
    assert len(path) == 3
    assert "east" not in "".join(path)


class Stubborn:
    """Proposes the same two steps from wherever it stands."""

    def __init__(self, bowl: Bowl) -> None:
        self.bowl = bowl

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        if view.head is None:
            return Batch(proposals=(Proposal(parent=None, action=Action(name="start")),))
        steps = [Action(name=name, arguments={"step_um": 1.0}) for name in ("east", "south")]
        return Batch(proposals=tuple(Proposal(parent=view.head.number, action=a) for a in steps))


class Once(Bowl):
    """A bowl in which nothing may be tried twice, as in the replay of an experiment."""

    repeatable = False


def test_where_nothing_may_be_repeated_what_was_tried_is_not_run_again(tmp_path: Path) -> None:
    study = ToyStudy(tmp_path, {}, policy=Stubborn)  # type: ignore[arg-type]
    conclusion = study.run(Once(settings=BowlSettings(), start=(0.0, 0.0)))
    assert [trial.proposal.action.name for trial in study.tree.trials] == ["start", "east", "south"]
    assert "tried before" in conclusion.reason

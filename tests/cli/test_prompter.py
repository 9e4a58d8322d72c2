import io
from collections.abc import Callable, Sequence

import pytest
from rich.console import Console

from sciagent.cli.prompter import TerminalPrompter
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import (
    Abstain,
    Action,
    ActionSpec,
    Batch,
    Decision,
    Finish,
    Outcome,
    Proposal,
)
from sciagent.contracts.tree import StudyView, Trial
from tests.cli.journals import OBJECTIVE

RELEASE = ActionSpec(
    name="release",
    summary="Frees parameters.",
    arguments_schema={
        "properties": {
            "parameters": {
                "type": "array",
                "items": {"type": "string", "enum": ["scale", "zero"]},
            },
            "cycles": {"type": "integer", "default": 5},
            "damping": {"type": "number", "unit": "1", "description": "Share of a step."},
        },
        "required": ["parameters"],
    },
)
CONFIRM = ActionSpec(name="confirm", summary="Refines once more.")


def trial(number: int, parent: int | None, r_wp: float, *, accepted: bool) -> Trial:
    verdict = "accepted" if accepted else "rejected"
    return Trial(
        number=number,
        proposal=Proposal(parent=parent, action=Action(name="confirm")),
        outcome=Outcome(status="ok", metrics={"r_wp": Quantity(value=r_wp, unit="%")}),
        decision=Decision.model_validate({"verdict": verdict, "reasons": ("as it is",)}),
    )


def view() -> StudyView:
    trials = [
        trial(1, None, 80.0, accepted=True),
        trial(2, 1, 40.0, accepted=True),
        trial(3, 2, 41.0, accepted=False),
    ]
    return StudyView(
        study="main", objective=OBJECTIVE, trials=trials, head=trials[1], best=trials[1],
        trials_left=7, cpu_left_s=None, wall_left_s=None, seed=0,
    )  # fmt: skip


def reader(text: str) -> Callable[[], str]:
    lines = iter(text.splitlines())

    def read() -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    return read


def offered(parent: Trial | None) -> Sequence[ActionSpec]:
    """The first trial offers less than the later ones."""
    return (CONFIRM,) if parent is not None and parent.number == 1 else (RELEASE, CONFIRM)


def asked(answers: str) -> tuple[Batch | Finish | Abstain, str]:
    screen = io.StringIO()
    prompter = TerminalPrompter(Console(file=screen, width=100), offered, reader(answers))
    answer = prompter.choose(view(), (RELEASE, CONFIRM))
    return answer, screen.getvalue()


def proposal_of(answer: Batch | Finish | Abstain) -> Proposal:
    assert isinstance(answer, Batch)
    return answer.proposals[0]


def test_actions_are_listed_with_their_summaries_and_the_tree_with_its_values() -> None:
    _, screen = asked("finish\n\n")
    assert "1  release: Frees parameters." in screen
    assert "2  confirm: Refines once more." in screen
    assert "✓ 2 from 1: confirm: r_wp 40 %" in screen
    assert "✗ 3 from 2: confirm: r_wp 41 % (as it is)" in screen
    assert "7 trials left" in screen


def test_an_action_is_chosen_by_its_number_with_arguments_and_a_reason() -> None:
    answer, _ = asked("1\nparameters=scale,zero\ncycles=8\n\nThe zero is off.\n")
    assert proposal_of(answer) == Proposal(
        parent=2,
        action=Action(name="release", arguments={"parameters": ["scale", "zero"], "cycles": 8}),
        rationale="The zero is off.",
    )


def test_an_action_is_chosen_by_its_name_and_asks_for_no_arguments_it_has_not() -> None:
    answer, _ = asked("confirm\nOnce more.\n")
    assert proposal_of(answer).action == Action(name="confirm")


def test_arguments_can_be_written_as_json() -> None:
    answer, _ = asked('release\nparameters=["scale", "zero"]\n\n\n')
    assert proposal_of(answer).action.arguments == {"parameters": ["scale", "zero"]}


def test_what_an_argument_may_be_is_said_from_its_schema() -> None:
    _, screen = asked("release\nparameters=scale\n\n\n")
    assert "parameters: array, of scale | zero" in screen
    assert "cycles: integer, default 5" in screen
    assert "damping: number, in 1, Share of a step." in screen


def test_going_back_branches_from_an_older_trial_and_offers_its_actions() -> None:
    answer, screen = asked("back 1\n1\nFrom the beginning.\n")
    proposal = proposal_of(answer)
    assert (proposal.parent, proposal.action.name) == (1, "confirm")
    assert "Next from trial 1" in screen


@pytest.mark.parametrize("number", ["3", "9", "x", ""])
def test_going_back_to_what_was_not_accepted_is_refused_and_asked_again(number: str) -> None:
    answer, screen = asked(f"back {number}\nfinish enough\n")
    assert answer == Finish(reason="enough")
    assert "one of the accepted trials: 1, 2" in screen


def test_an_unknown_action_or_argument_is_refused_with_the_nearest_name() -> None:
    answer, screen = asked("relaese\nrelease\nparameter=scale\nparameters=scale\n\n\n")
    assert proposal_of(answer).action.arguments == {"parameters": ["scale"]}
    assert "Did you mean 'release'?" in screen
    assert "Did you mean 'parameters'?" in screen


def test_a_missing_argument_is_named_and_the_action_asked_again() -> None:
    answer, screen = asked("release\n\nabstain no idea\n")
    assert answer == Abstain(reason="no idea")
    assert "needs parameters" in screen


def test_what_was_tried_from_here_is_said_before_it_is_tried_again() -> None:
    _, screen = asked("confirm\nStill.\n")
    assert "confirm was tried from here before" in screen


def test_finishing_and_abstaining_ask_for_a_reason_that_was_not_given() -> None:
    assert asked("finish\nIt is flat.\n")[0] == Finish(reason="It is flat.")
    assert asked("abstain\n\n")[0] == Abstain(reason="No reason was given.")


def test_the_end_of_the_answers_stops_the_run_as_ctrl_c_does() -> None:
    with pytest.raises(KeyboardInterrupt):
        asked("release\nparameters=scale\n")

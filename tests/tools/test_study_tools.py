import pytest

from sciagent.testing.pretended_studies import PretendedStudies
from sciagent.tools.approval import ApprovalRule
from sciagent.tools.claims import record_claim
from sciagent.tools.context import ToolContext
from sciagent.tools.studies import (
    finish_study,
    hand_back_study,
    inspect_question,
    inspect_study,
    list_questions,
    propose_trial,
    start_study,
)
from tests.tools.calls import used

EAST = {"action": "east", "arguments": {"step_um": 3.0}, "rationale": "It goes down there."}


@pytest.fixture
def studying(context: ToolContext) -> ToolContext:
    return ToolContext(
        root=context.root, journal=context.journal, approval=ApprovalRule("auto"),
        studies=PretendedStudies(context.root),
    )  # fmt: skip


@pytest.fixture
def begun(studying: ToolContext) -> ToolContext:
    """A study of the bowl whose first trial stands at the start."""
    used(start_study, studying, question="toy/parabola", settings={"lowest_x_um": 3.0})
    used(propose_trial, studying, action="start", arguments={}, rationale="Begin.")
    return studying


def test_questions_are_listed_and_described_with_units(context: ToolContext) -> None:
    listed = used(list_questions, context).text
    assert "toy/parabola: Lowest point of a bowl." in listed
    assert used(list_questions, context, domain="toy").text.count("\n") == 0
    assert "Did you mean 'toy'?" in used(list_questions, context, domain="toi").text
    described = used(inspect_question, context, question="toy/parabola").text
    assert "input start: starting point, x and y in µm (optional)" in described
    assert '"unit":"um"' in described
    assert "Did you mean" in used(inspect_question, context, question="toy/parabol").text


def test_a_study_is_started_driven_and_finished_by_tools(begun: ToolContext) -> None:
    moved = used(propose_trial, begun, **EAST).text
    assert "trial 2 from 1: east" in moved
    assert "accepted: height 17.0000 µm → 8.0000 µm." in moved
    assert "Left: 98 trials." in moved
    ended = used(finish_study, begun, reason="Enough.").text
    assert ended == "The study ended as completed: Enough. Its result is trial 2."
    assert "takes no more trials" in used(propose_trial, begun, **EAST).text


def test_a_rejected_trial_is_shown_with_its_reason(begun: ToolContext) -> None:
    text = used(propose_trial, begun, **(EAST | {"action": "west"})).text
    assert "rejected: height 17.0000 µm → 44.0000 µm: not better" in text
    assert "The next trial starts from trial 1." in used(inspect_study, begun).text


def test_selection_values_are_never_shown(begun: ToolContext) -> None:
    texts = [
        used(propose_trial, begun, **EAST).text,
        used(inspect_study, begun).text,
        used(inspect_study, begun, trial=2).text,
    ]
    assert not any("held_out" in text or "8.5" in text for text in texts)


def test_a_study_shows_what_may_be_proposed_and_each_trial_in_full(begun: ToolContext) -> None:
    used(propose_trial, begun, **EAST)
    shown = used(inspect_study, begun, study="parabola").text
    assert "Study parabola: minimise height in µm." in shown
    assert "north: Step north." in shown
    assert 'trial 2 from 1: east {"step_um":3.0}: 8 µm, accepted' in shown
    full = used(inspect_study, begun, trial=2).text
    assert "height = 8 ± 0.01 µm" in full
    assert "check height: passed." in full
    assert "There is no trial '9'" in used(inspect_study, begun, trial=9).text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"action": "eastt"}, "Did you mean 'east'?"),
        ({"study": "parable"}, "Did you mean 'parabola'?"),
        ({"rationale": ""}, "at least 1 character"),
        ({"parent": -1}, "greater than or equal to 0"),
    ],
)
def test_a_proposal_that_cannot_be_tried_is_refused(
    begun: ToolContext, changes: dict[str, object], message: str
) -> None:
    assert message in used(propose_trial, begun, **(EAST | changes)).text
    assert begun.studies is not None
    assert len(begun.studies.view("parabola").trials) == 1


def test_a_failed_trial_says_its_error(studying: ToolContext) -> None:
    used(start_study, studying, question="toy/parabola", settings={"fail_every": 1})
    text = used(propose_trial, studying, action="start", arguments={}, rationale="Begin.").text
    assert "failed (convergence): The foot slipped." in text


def test_the_built_in_policy_takes_a_study_over_and_gives_it_back(begun: ToolContext) -> None:
    used(propose_trial, begun, **EAST)
    after_two = used(hand_back_study, begun, trials=2).text
    assert "Left: 96 trials." in after_two
    text = used(hand_back_study, begun).text
    assert "0 µm, accepted" in text
    claim = used(
        record_claim, begun, id="lowest", subject="bowl", quantity="height",
        path="trials/0001/outcome.json", pointer="/metrics/height/value", unit="um", decimals=1,
        tolerance=0.1,
    )  # fmt: skip
    assert claim.text == "Recorded lowest: bowl: height = 17.0 µm."


def test_a_study_starts_only_from_files_of_the_workspace(studying: ToolContext) -> None:
    for path in ("../secret.txt", "/etc/passwd"):
        result = used(start_study, studying, question="toy/parabola", inputs={"start": [path]})
        assert result.label.status == "failed"
    (studying.root / "start.txt").write_text("1 2")
    inputs = {"start": ["start.txt"]}
    assert used(start_study, studying, question="toy/parabola", inputs=inputs).label.status == "ok"
    bad = {"question": "toy/parabola", "settings": {"lowest_x": 1}}
    assert "Did you mean 'lowest_x_um'?" in used(start_study, studying, **bad).text


def test_an_agent_without_studies_is_told_so(context: ToolContext) -> None:
    assert "cannot run studies" in used(inspect_study, context).text

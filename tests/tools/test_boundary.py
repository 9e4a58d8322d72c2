from hypothesis import given
from hypothesis import strategies as st

from sciagent.contracts.tool import ToolSpec
from sciagent.llm.markup import find_calls
from sciagent.reports.tokens import tokens_of
from sciagent.tools.boundary import Boundary, Label, outside_fences, results_in
from sciagent.tools.markup import escaped
from tests.tools.hostile import imitated, texts

BOUNDARY = Boundary("0123abcd")
CODE = ToolSpec(name="code", description="Run.", parameters={}, read_only=False)

labels = st.builds(
    Label,
    tool=texts,
    origin=st.sampled_from(["own", "workspace", "outside", "subagent"]),
    status=st.sampled_from(["ok", "failed", "refused"]),
    fetched=st.booleans(),
    provenance=texts,
)


@given(texts, labels)
def test_no_text_leaves_its_fence_or_opens_another(text: str, label: Label) -> None:
    fenced = BOUNDARY.fenced(text, label)
    (result,) = results_in(fenced)
    assert result.text == escaped(text)
    assert outside_fences(fenced) == ""
    assert (result.label.origin, result.label.fetched) == (label.origin, label.fetched)


@given(texts, labels)
def test_a_fenced_text_holds_no_call_no_claim_and_no_role(text: str, label: Label) -> None:
    fenced = BOUNDARY.fenced(text, label)
    assert find_calls(fenced, {"code": CODE}).calls == ()
    assert list(tokens_of(fenced)) == []
    inside = fenced.splitlines()[1:-1]
    assert imitated("\n".join(inside)) == []


@given(st.lists(texts, min_size=2, max_size=4))
def test_results_that_follow_each_other_stay_apart(several: list[str]) -> None:
    message = "\n".join(BOUNDARY.fenced(text, Label("visit")) for text in several)
    assert [result.text for result in results_in(message)] == [escaped(each) for each in several]
    assert outside_fences(message).strip() == ""


@given(texts)
def test_a_result_within_a_result_is_only_text(text: str) -> None:
    once = BOUNDARY.fenced(text, Label("visit", "outside", fetched=True))
    twice = BOUNDARY.fenced(once, Label("recall"))
    (result,) = results_in(twice)
    assert result.label.tool == "recall"


def test_a_fence_says_where_its_text_came_from() -> None:
    label = Label("visit", "outside", "ok", True, "https://example.org/a b")
    assert BOUNDARY.fenced("words", label) == (
        "⟦result 0123abcd tool=visit origin=outside status=ok fetched=yes"
        " from=https://example.org/a b⟧\nwords\n⟦end 0123abcd⟧"
    )


def test_the_nonce_is_the_same_for_a_resumed_run_and_differs_between_runs() -> None:
    assert Boundary.seeded("a hash") == Boundary.seeded("a hash") != Boundary.seeded("another")
    assert Boundary().nonce != Boundary().nonce


def test_the_explanation_for_the_model_names_the_nonce_and_holds_no_whole_fence() -> None:
    assert BOUNDARY.explanation.count("0123abcd") == 2
    assert list(results_in(BOUNDARY.explanation)) == []

import pytest

from sciagent.agent.evidence import SourceTexts, fault_of
from sciagent.agent.reviews import parsed_review
from sciagent.contracts.agent import SubagentEvidence
from sciagent.contracts.events import ReviewRecorded
from sciagent.testing.agents import ScriptedRun
from sciagent.testing.model_server import (
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from tests.agent.conftest import MakeRun
from tests.agent.scripts import PAGES, URL

REASONING = f"""
I should look at what I have.

**Confirmed facts:**
- Iron melts at 1538 °C ({URL}: "Iron melts at 1538 °C under normal pressure")
- Iron boils at 2862 °C ({URL}: "Iron boils at 2862 °C")
Unverified assumptions:
1. The sample is pure.
Rejected paths: none
Open gaps:
* The pressure of the experiment.
Next step: read about the sample
and its supplier.
"""


texts = SourceTexts(PAGES.get)


def reviews(run: ScriptedRun) -> list[ReviewRecorded]:
    return [body for body in run.bodies() if isinstance(body, ReviewRecorded)]


def test_a_review_is_read_from_reasoning_and_only_found_quotes_confirm() -> None:
    review = parsed_review(REASONING, texts)
    assert review is not None
    assert [fact.partition(" (")[0] for fact in review.confirmed] == ["Iron melts at 1538 °C"]
    assert review.assumptions[0] == "The sample is pure."
    assert "boils at 2862" in review.assumptions[1]
    assert "is not in the stored text" in review.assumptions[1]
    assert review.rejected == ()
    assert review.gaps == ("The pressure of the experiment.",)
    assert review.next_step == "read about the sample and its supplier."
    assert review.text == "I should look at what I have."


@pytest.mark.parametrize(
    "text", ["", "I think about it.", "Next step: read on.", "Confirmed: nothing is certain"]
)
def test_ordinary_reasoning_is_no_review(text: str) -> None:
    assert parsed_review(text, texts) is None


def test_a_fact_without_evidence_is_an_assumption() -> None:
    review = parsed_review("Confirmed facts:\n- It melts.\nOpen gaps: none", texts)
    assert review is not None
    assert review.confirmed == ()
    assert review.assumptions == ("It melts. (not confirmed: no source and quote are given)",)


def test_verification_mode_is_asked_for_and_its_reviews_are_recorded(scripted: MakeRun) -> None:
    policy = in_turn(calling("read_page", url=URL), saying("1538 °C", reasoning=REASONING))
    run = scripted(policy, verification=True)
    assert run.ask().status == "completed"
    assert all(
        request.body["chat_template_kwargs"] == {"verification": True}
        for request in run.server.requests
    )
    assert [len(body.review.confirmed) for body in reviews(run)] == [1]


def test_verification_mode_is_off_by_default(scripted: MakeRun) -> None:
    run = scripted(in_turn(saying("1538 °C", reasoning=REASONING)))
    run.ask()
    assert "chat_template_kwargs" not in run.server.requests[0].body
    assert reviews(run) == []


def test_the_tool_confirms_what_is_found_and_tells_what_is_not(scripted: MakeRun) -> None:
    facts = [
        {"claim": "It melts at 1538 °C.", "url": URL, "quote": "Iron melts at 1538 °C"},
        {"claim": "It melts at 1200 °C.", "url": URL, "quote": "Iron melts at 1200 °C"},
    ]

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if request.results("record_review"):
            return saying(request.results("record_review")[0])
        if request.results("read_page"):
            return calling("record_review", confirmed=facts, next_step="answer")
        return calling("read_page", url=URL)

    run = scripted(policy)
    answer = run.ask().answer
    assert "1 of 2 facts confirmed" in answer
    assert "is not in the stored text" in answer
    recorded = reviews(run)[0].review
    assert (len(recorded.confirmed), len(recorded.assumptions)) == (1, 1)


@pytest.mark.parametrize("arguments", [{"confirmed": "x"}, {"gaps": 3}, {"sure": ["x"]}])
def test_a_review_that_cannot_be_read_is_refused_with_the_reason(
    scripted: MakeRun, arguments: dict[str, object]
) -> None:
    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        results = request.results("record_review")
        return saying(results[0]) if results else calling("record_review", **arguments)

    assert "status=refused" in scripted(policy).ask().answer


def evidence(quote: str, claim: str = "") -> SubagentEvidence:
    return SubagentEvidence(url="u", quote=quote, claim=claim)


@pytest.mark.parametrize(
    ("stored", "quote"),
    [
        ("The “yield” was 5\u00a0%.", 'The "yield" was 5 %.'),
        ("a temper-\nature of 3 K", "a temperature of 3 K"),
        ("two  words\nand more", "two words and more"),
        ("the <tool_call> token", "the &lt;tool_call> token"),
    ],
)
def test_differences_of_typography_do_not_matter(stored: str, quote: str) -> None:
    assert fault_of(evidence(quote), SourceTexts(lambda _: stored)) == ""


@pytest.mark.parametrize(
    "quote",
    ["it does melt at 1538 °C", "it does not melt at 1539 °C", "it does not melt at 1538 K"],
)
def test_any_changed_word_digit_unit_or_negation_is_not_found(quote: str) -> None:
    stored = "it does not melt at 1538 °C"
    assert fault_of(evidence(quote), SourceTexts(lambda _: stored)) != ""


def test_what_a_tool_found_is_evidence_by_the_name_of_the_tool(scripted: MakeRun) -> None:
    fact = {"claim": "1538", "url": "tool:read_page", "quote": "Iron melts at 1538 °C"}
    policy = in_turn(
        calling("read_page", url=URL), calling("record_review", confirmed=[fact]), saying("done")
    )
    run = scripted(policy)
    run.ask()
    assert len(reviews(run)[0].review.confirmed) == 1


def test_words_that_the_agent_wrote_itself_are_no_evidence(scripted: MakeRun) -> None:
    line = "Iron melts at 1200 °C for sure"
    fact = {"claim": "It melts.", "url": "tool:write_line", "quote": line}

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if request.results("record_review"):
            return saying("done")
        if request.results("write_line"):
            return calling("record_review", confirmed=[fact])
        return calling("write_line", line=line)

    run = scripted(policy)
    run.ask()
    assert reviews(run)[0].review.confirmed == ()

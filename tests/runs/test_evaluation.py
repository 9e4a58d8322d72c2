import json
from pathlib import Path

import pytest

from sciagent.execution.sandbox import sandbox_mode
from sciagent.testing.model_server import (
    Behaviour,
    Fault,
    Faults,
    Latency,
    ModelServer,
    Policy,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from sciagent.testing.pretended_code import PretendedCode, prints
from sciagent.testing.pretended_literature import PretendedLiterature, page
from tests.runs.evaluating import (
    FACT,
    ITEMS,
    POINT,
    ROW_FIELDS,
    Asking,
    answer,
    needs_sandbox,
)


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    return Asking(tmp_path)


def test_a_question_is_researched_with_the_three_tools_and_leaves_one_row(asking: Asking) -> None:
    steps = (
        calling("google_search", query=["lighthouse Hollow Point"]),
        calling("read_page", url=POINT, goal="year it was first lit"),
        calling("PythonInterpreter", code="print(1800 + 71)"),
        answer("1871"),
    )
    code = PretendedCode(script=lambda _: prints("1871"))
    with ModelServer(in_turn(*steps)) as server:
        summary = asking(server, first=1, around={"code": code})
        names = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
    (row,) = asking.rows()
    assert list(row) == ROW_FIELDS
    assert names == ["google_search", "read_page", "PythonInterpreter"]
    assert (row["prediction"], row["termination"]) == ("1871", "answer")
    assert (row["question"], row["answer"]) == (ITEMS[0]["question"], "1871")
    assert row["usage"]["calls"] == 4
    assert code.cells == ["print(1800 + 71)"]
    (iteration,) = summary.iterations
    assert (iteration.rows, iteration.missing, iteration.exact_matches) == (1, 0, 1)
    assert iteration.exact_match_accuracy == 1.0
    left = {path.name for path in asking.folder.iterdir()}
    assert left == {"iter1.jsonl", "protocol.json"}, "the workspace of the question is gone"


def test_messages_are_written_as_the_programs_of_the_evaluation_read_them(asking: Asking) -> None:
    thinking = ScriptedAnswer(
        reasoning="Look it up.", calls=(ScriptedCall("read_page", {"url": POINT, "goal": "lit"}),)
    )
    with ModelServer(in_turn(thinking, answer("1871"))) as server:
        asking(server, first=1)
    system, user, called, result, last = asking.rows()[0]["messages"]
    assert (system["role"], "<answer>" in system["content"]) == ("system", True)
    assert user == {"role": "user", "content": ITEMS[0]["question"]}
    (call,) = called["tool_calls"]
    assert (called["reasoning"], called["role"]) == ("Look it up.", "assistant")
    assert (call["type"], call["function"]["name"]) == ("function", "read_page")
    assert json.loads(call["function"]["arguments"]) == {"url": POINT, "goal": "lit"}
    assert (result["role"], result["name"]) == ("tool", "read_page")
    assert result["tool_call_id"] == call["id"]
    assert FACT in result["content"]
    assert (last["tool_calls"], "1871" in last["content"]) == (None, True)


@needs_sandbox
def test_each_question_has_a_kernel_of_its_own_that_cannot_read_the_answers(
    asking: Asking,
) -> None:
    code = (
        f"import os\nprint('seen' in dir(), os.path.exists({str(asking.questions)!r}), "
        f"os.path.exists({str(asking.folder / 'protocol.json')!r}))\nseen = 1"
    )
    cells = ScriptedAnswer(calls=tuple(ScriptedCall("PythonInterpreter", {"code": code})
                                       for _ in range(2)))  # fmt: skip
    with ModelServer(in_turn(cells, answer("x"))) as server:
        asking(server, first=2, parallel=2, around={"code": None})
    for row in asking.rows():
        first, second = (each["content"] for each in row["messages"] if each["role"] == "tool")
        assert "False False False" in first
        assert "True False False" in second


def test_code_that_repeats_what_a_page_said_runs_without_anybody_being_asked(
    asking: Asking,
) -> None:
    code = PretendedCode()
    steps = (
        calling("read_page", url=POINT, goal="lit"),
        calling("PythonInterpreter", code=f"text = {FACT!r}"),
        answer("1871"),
    )
    with ModelServer(in_turn(*steps)) as server:
        asking(server, first=1, around={"code": code})
    assert code.cells == [f"text = {FACT!r}"]


def test_an_answer_without_tags_is_asked_for_again_until_no_calls_are_left(asking: Asking) -> None:
    with ModelServer(in_turn(saying("It was 1871."))) as server:
        asking(server, first=1, limits={"max_calls": 5})
        assert len(server.requests) == 5
    (row,) = asking.rows()
    assert row["termination"] == "exceed available llm calls"
    assert row["prediction"] == "No answer found."
    with ModelServer(in_turn(saying("It was 1871."), answer("1871"))) as server:
        asking(server, first=1, limits={"max_calls": 5}, dataset="again")
    path = asking.out / "scripted" / "again" / "iter1.jsonl"
    assert json.loads(path.read_text())["termination"] == "answer"


def test_an_agent_that_goes_round_in_circles_is_left_to_its_limit(asking: Asking) -> None:
    with ModelServer(in_turn(calling("google_search", query=["rope"]))) as server:
        asking(server, first=1, limits={"max_calls": 12})
        assert len(server.requests) == 12
    (row,) = asking.rows()
    assert row["termination"] == "exceed available llm calls"
    assert [each["role"] for each in row["messages"]][:2] == ["system", "user"]
    assert sum(each["role"] == "user" for each in row["messages"]) == 1, "nobody spoke to it"


def at_the_end(last: str) -> Policy:
    """Search as long as there are tools, then say something."""

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        number = len(request.messages)
        if request.tools:
            return calling("google_search", query=[f"lighthouse {number}"])
        return saying(last)

    return policy


@pytest.mark.parametrize(
    ("last", "termination", "prediction"),
    [
        ("<answer>1871</answer>", "generate an answer as token limit reached", "1871"),
        ("Perhaps.", "format error: generate an answer as token limit reached", "Perhaps."),
    ],
)
@pytest.mark.parametrize("known_window", [None, 6000])
def test_a_conversation_that_is_too_long_is_asked_for_its_answer_without_tools(
    asking: Asking, last: str, termination: str, prediction: str, known_window: int | None
) -> None:
    limits = {} if known_window else {"max_tokens": 3000}
    with ModelServer(at_the_end(last)) as server:
        asking(server, first=1, limits=limits, endpoint={"context_tokens": known_window})
        bodies = [request.body for request in server.requests]
    (row,) = asking.rows()
    assert (row["termination"], row["prediction"]) == (termination, prediction)
    assert [bool(body.get("tools")) for body in bodies] == [True] * (len(bodies) - 1) + [False]
    shown = [message["content"] for message in bodies[-1]["messages"]]
    assert sum("⟦result " in each for each in shown) >= len(bodies) - 1, "nothing was compacted"


@pytest.mark.parametrize("known_window", [None, 8000])
def test_results_that_burst_the_window_at_once_cost_a_question_its_tools_only(
    asking: Asking, known_window: int | None
) -> None:
    urls = [f"https://a.org/{number}" for number in range(6)]
    pages = PretendedLiterature([page(url, "rope and tar " * 900) for url in urls])
    reads = tuple(ScriptedCall("read_page", {"url": url, "goal": "rope"}) for url in urls)

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if not request.tools:
            return answer("1871")
        searching = calling("google_search", query=[f"rope {len(request.messages)}"])
        return searching if request.texts("tool") else ScriptedAnswer(calls=reads)

    with ModelServer(policy, behaviour=Behaviour(context_tokens=8000)) as server:
        around = {"literature": pages}
        asking(server, first=1, around=around, endpoint={"context_tokens": known_window})
        assert len(server.requests) <= 5
    (row,) = asking.rows()
    assert row["termination"] == "generate an answer as token limit reached"
    assert row["prediction"] == "1871"
    assert sum(each["role"] == "tool" for each in row["messages"]) >= 6


def test_a_question_that_takes_too_long_is_ended_in_the_middle_of_a_word(asking: Asking) -> None:
    slow = Latency(decode_tokens_per_s=5.0)
    with ModelServer(in_turn(saying("word " * 500)), latency=slow) as server:
        asking(server, first=1, limits={"timeout_s": 0.5})
    (row,) = asking.rows()
    assert (row["termination"], row["prediction"]) == ("timeout", "No answer found.")


def test_a_cell_that_takes_too_long_ends_with_its_question(asking: Asking) -> None:
    if not sandbox_mode().is_confined:
        pytest.skip(f"no sandbox here: {sandbox_mode().remedy}")
    steps = (calling("PythonInterpreter", code="import time\ntime.sleep(100)"), answer("x"))
    with ModelServer(in_turn(*steps)) as server:
        asking(server, first=1, limits={"timeout_s": 2.0}, around={"code": None})
    assert asking.rows()[0]["termination"] == "timeout"


def test_an_endpoint_that_fails_is_said_and_its_questions_are_asked_again(asking: Asking) -> None:
    def about_brem(request: ScriptedRequest) -> bool:
        return "Brem" in request.texts("user")[0]

    faults = Faults(Fault("http_500_parser", times=100, when=about_brem))
    with ModelServer(in_turn(answer("1871")), faults=faults) as server:
        summary = asking(server)
    assert [row["termination"] for row in asking.rows()] == ["answer", "error", "answer"]
    failed = asking.rows()[1]
    assert "Failed to parse input" in failed["error"]
    assert failed["prediction"] == "No answer found."
    assert (summary.failed, summary.iterations[0].exact_match_accuracy) == (1, 2 / 3)
    with ModelServer(in_turn(answer("1871"))) as server:
        summary = asking(server)
        assert [r.body["messages"][1]["content"] for r in server.requests] == [ITEMS[1]["question"]]
    assert sorted(row["question"] for row in asking.rows()) == [each["question"] for each in ITEMS]
    assert summary.failed == 0

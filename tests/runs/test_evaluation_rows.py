import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.errors import InputError
from sciagent.runs.configuration import Configuration
from sciagent.runs.evaluation import EvaluationSettings, evaluate
from sciagent.runs.evaluation_rows import ResultFile, is_exact, prediction_in
from sciagent.runs.surroundings import Surroundings
from sciagent.testing.model_server import (
    ModelServer,
    ScriptedAnswer,
    ScriptedRequest,
    calling,
    in_turn,
)
from sciagent.testing.pretended_code import PretendedCode
from tests.runs.evaluating import ITEMS, Asking, answer, written


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    return Asking(tmp_path)


def test_rows_that_are_there_are_not_asked_again_and_iterations_have_files_of_their_own(
    asking: Asking,
) -> None:
    with ModelServer(in_turn(answer("1871"))) as server:
        asking(server, first=2)
        before = (asking.folder / "iter1.jsonl").read_bytes()
        summary = asking(server, iterations=2, parallel=2)
        assert len(server.requests) == 2 + 1 + 3
        asking(server, iterations=2)
        assert len(server.requests) == 6
    assert (asking.folder / "iter1.jsonl").read_bytes().startswith(before)
    assert {row["question"] for row in asking.rows(2)} == {each["question"] for each in ITEMS}
    assert [(each.rows, each.missing) for each in summary.iterations] == [(3, 0), (3, 0)]


@pytest.mark.parametrize("cut", [1, 40, -1])
def test_a_line_that_a_crash_cut_off_is_dropped_and_made_again(asking: Asking, cut: int) -> None:
    with ModelServer(in_turn(answer("1871"))) as server:
        asking(server)
        path = asking.folder / "iter1.jsonl"
        *whole, last = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(whole) + last[:cut])
        asking(server)
        assert len(server.requests) == 4
    assert [row["question"] for row in asking.rows()] == [each["question"] for each in ITEMS]


def test_a_row_that_stands_twice_is_kept_once(asking: Asking) -> None:
    with ModelServer(in_turn(answer("1871"))) as server:
        asking(server, first=2)
        path = asking.folder / "iter1.jsonl"
        path.write_bytes(path.read_bytes() * 2)
        asking(server)
        assert len(server.requests) == 3
    assert [row["question"] for row in asking.rows()] == [each["question"] for each in ITEMS]


def test_a_stop_lets_what_was_begun_end_and_the_rest_is_asked_later(asking: Asking) -> None:
    stopped = threading.Event()

    def policy(_: ScriptedRequest) -> ScriptedAnswer:
        stopped.set()
        return answer("1871")

    with ModelServer(policy) as server:
        summary = asking(server, around={"cancelled": stopped.is_set})
        assert len(server.requests) == 1
        assert (summary.stopped, summary.iterations[0].missing) == (True, 2)
        assert [row["termination"] for row in asking.rows()] == ["answer"]
        assert not asking(server).stopped
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b'{"question": "a", "answer": "b"}\n\n{"question": "c"', "Line 3 of .* is no JSON"),
        (b'["a"]', "Line 1 of .* is no JSON object"),
        (b'{"answer": "b"}', "Line 1 of .* has no question"),
        (b'{"question": " ", "answer": "b"}', "Line 1 of .* has no question"),
        (b'{"question": "a"}', "Line 1 of .* has no answer"),
        (b'{"question": "a", "answer": 1}\n' * 2, "Line 2 of .* asks the question of line 1 again"),
        (b'{"question": "\xff", "answer": ""}', "Line 1 of .* is no UTF-8"),
        (b"\n \n", "There is no question in"),
    ],
)
def test_a_file_of_questions_that_cannot_be_used_is_refused_with_its_line(
    asking: Asking, content: bytes, sentence: str
) -> None:
    asking.questions.write_bytes(content)
    with ModelServer(in_turn(answer("1"))) as server, pytest.raises(InputError, match=sentence):
        asking(server)
    assert not asking.out.exists()


def changed_protocol(asking: Asking, _: Path) -> dict[str, Any]:
    return {"limits": {"max_calls": 7}}


def other_questions(asking: Asking, _: Path) -> dict[str, Any]:
    written(asking.questions, [{"question": "Who?", "answer": "Ada"}])
    return {}


def broken_line(_: Asking, rows: Path) -> dict[str, Any]:
    rows.write_bytes(b"nonsense\n" + rows.read_bytes())
    return {}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (changed_protocol, "were made with limits"),
        (other_questions, "holds a row of another question"),
        (broken_line, "Line 1 of .* is no row"),
    ],
)
def test_results_that_do_not_fit_together_are_refused_and_left_as_they_are(
    asking: Asking, change: Callable[[Asking, Path], dict[str, Any]], sentence: str
) -> None:
    with ModelServer(in_turn(answer("1871"))) as server:
        asking(server)
        path = asking.folder / "iter1.jsonl"
        given = change(asking, path)
        before = path.read_bytes()
        with pytest.raises(InputError, match=sentence):
            asking(server, **given)
        assert path.read_bytes() == before
        assert len(server.requests) == 3


def test_two_processes_cannot_write_the_same_results(asking: Asking) -> None:
    def policy(_: ScriptedRequest) -> ScriptedAnswer:
        with pytest.raises(InputError, match="Another process is writing"):
            asking(server)
        return answer("1871")

    with ModelServer(policy) as server:
        asking(server, first=1)
    assert len(asking.rows()) == 1


@pytest.mark.parametrize("name", ["..", "a/b", ""])
def test_a_data_set_cannot_be_written_anywhere_else(asking: Asking, name: str) -> None:
    with ModelServer(in_turn(answer("1"))) as server, pytest.raises(InputError, match="--dataset"):
        asking(server, dataset=name or ".")
    assert not asking.out.exists()


def test_files_are_named_after_the_model_and_the_folder_of_a_standard_data_set(
    asking: Asking, tmp_path: Path
) -> None:
    folder = tmp_path / "gaia"
    folder.mkdir()
    questions = written(folder / "standardized_data.jsonl", ITEMS[:1])
    with ModelServer(in_turn(answer("1871"))) as server:
        summary = asking(server, questions=questions, endpoint={"model": "org/Sage-A1.5"})
    assert (summary.model, summary.dataset) == ("Sage-A1.5", "gaia")
    assert (asking.out / "Sage-A1.5" / "gaia" / "iter1.jsonl").is_file()


def test_without_a_web_that_is_said_and_the_tools_are_offered_nevertheless(
    asking: Asking, tmp_path: Path
) -> None:
    configuration = Configuration.model_validate(
        {"literature": {"mode": "offline", "library": str(tmp_path / "none.sqlite")}}
    )
    steps = (calling("google_search", query=["a"]), answer("1871"))
    with ModelServer(in_turn(*steps)) as server:
        endpoint: Endpoint = server.endpoint
        summary = evaluate(
            asking.questions, asking.out, EvaluationSettings(first=1),
            configuration.model_copy(update={"endpoint": endpoint}),
            surroundings=Surroundings(code=PretendedCode()),
        )  # fmt: skip
    assert summary.tools_without_port == ("google_search", "read_page")
    (row,) = asking.rows()
    assert "The web cannot be reached here." in row["messages"][3]["content"]


def test_a_row_is_written_whole_whatever_it_holds(tmp_path: Path) -> None:
    file = ResultFile(tmp_path / "iter1.jsonl")
    row = {
        "question": "a\nb\u2028 \ud800",
        "answer": "灯",
        "prediction": "灯",
        "termination": "answer",
    }
    file.append(row)
    file.append({**row, "question": "b"})
    again = ResultFile.open(file.path, {row["question"]: 1, "b": 1})
    assert again.ended == file.ended
    assert [each.exact for each in again.ended.values()] == [True, True]


@pytest.mark.parametrize(
    ("text", "prediction"),
    [
        ("<answer>1871</answer>", "1871"), ("<answer>a</answer> or <answer> b </answer>.", "b"),
        ("1871", None), ("<answer>1871", None), ("<answer></answer>", ""),
    ],
)  # fmt: skip
def test_the_last_pair_of_tags_holds_the_prediction(text: str, prediction: str | None) -> None:
    assert prediction_in(text) == prediction


@pytest.mark.parametrize(
    ("prediction", "expected", "exact"),
    [
        ("1871", "1871", True), ("1871", 1871, True), (" Ada  Brink. ", "ada brink", True),
        ("１８７１", "1871", True), ("in 1871", "1871", False), ("-3", "3", False),
        ("", "", False), ("3.5", 3.5, True), ("Ada", ["Ada"], False), ("True", True, False),
        ("(1, 2)", "1, 2", False), ("5%", "5", False),
    ],
)  # fmt: skip
def test_exact_match_ignores_the_case_and_the_ends_and_nothing_else(
    prediction: str, expected: Any, exact: bool
) -> None:
    assert is_exact(prediction, expected) is exact

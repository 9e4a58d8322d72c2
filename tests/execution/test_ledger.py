import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sciagent.contracts.errors import ErrorRecord
from sciagent.execution.ledger import (
    Attempt,
    AttemptProgress,
    AttemptResult,
    Ledger,
    TakenError,
    read_result,
)

ROW = "0123456789abcdef"
CLAIM_AND_DIE = """
import os, pathlib
from sciagent.execution.ledger import Ledger
attempt = Ledger(pathlib.Path({folder!r})).claim({row!r})
attempt.__enter__()
os._exit(9)
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path)


def result_of(attempt: Attempt, *, succeeded: bool) -> AttemptResult:
    return AttemptResult(
        row=attempt.row, attempt=attempt.number, token=attempt.token,
        status="completed" if succeeded else "failed", succeeded=succeeded,
        error=None if succeeded else ErrorRecord(kind="input", message="No."),
        started="2026-01-01T00:00:00.000Z", finished="2026-01-01T00:00:01.000Z", wall_s=1.0,
    )  # fmt: skip


def killed_claim(ledger: Ledger) -> None:
    code = CLAIM_AND_DIE.format(folder=str(ledger.root), row=ROW)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9


def test_a_row_that_is_being_run_cannot_be_claimed_again(ledger: Ledger) -> None:
    with ledger.claim(ROW) as attempt:
        attempt.tell(AttemptProgress(cell=2, cells=5))
        state = ledger.state(ROW)
        assert (state.status, state.attempts) == ("running", 1)
        assert state.progress == AttemptProgress(cell=2, cells=5)
        with pytest.raises(TakenError):
            ledger.claim(ROW)
        assert attempt.finish(result_of(attempt, succeeded=True))


def test_a_finished_row_is_never_claimed_again(ledger: Ledger) -> None:
    with ledger.claim(ROW) as attempt:
        attempt.finish(result_of(attempt, succeeded=True))
    assert ledger.state(ROW).status == "finished"
    with pytest.raises(TakenError, match="is finished"):
        ledger.claim(ROW)


def test_a_failed_row_is_claimed_again_in_a_folder_of_its_own(ledger: Ledger) -> None:
    with ledger.claim(ROW) as attempt:
        attempt.finish(result_of(attempt, succeeded=False))
    assert ledger.state(ROW).status == "failed"
    with ledger.claim(ROW) as second:
        assert second.directory.name == "attempt-2"
        second.finish(result_of(second, succeeded=True))
    assert [each.succeeded for each in ledger.results(ROW)] == [False, True]
    assert ledger.state(ROW).status == "finished"


def test_the_claim_of_a_dead_process_is_void_at_once(ledger: Ledger) -> None:
    killed_claim(ledger)
    assert ledger.state(ROW).status == "interrupted"
    with ledger.claim(ROW) as attempt:
        assert attempt.number == 2


def test_a_claim_that_ends_without_a_result_is_given_back(ledger: Ledger) -> None:
    with ledger.claim(ROW):
        pass
    assert ledger.state(ROW).status == "interrupted"


def test_an_attempt_that_was_taken_over_writes_no_result(ledger: Ledger) -> None:
    with ledger.claim(ROW) as attempt:
        (attempt.directory / "released").touch()  # as if its machine had been given up
        with ledger.claim(ROW) as second:
            assert not attempt.finish(result_of(attempt, succeeded=True))
            assert read_result(attempt.directory) is None
            assert second.finish(result_of(second, succeeded=True))


def aged(path: Path, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


@pytest.mark.parametrize(("age_s", "status"), [(1.0, "running"), (3600.0, "interrupted")])
def test_a_claim_of_another_machine_holds_while_it_is_touched(
    ledger: Ledger, age_s: float, status: str
) -> None:
    attempt = ledger.claim(ROW)
    claim = attempt.directory / "claim.json"
    claim.write_text(claim.read_text().replace('"host": "', '"host": "another-'))
    aged(attempt.directory / "progress.json", age_s)
    aged(attempt.directory, age_s)
    assert ledger.state(ROW).status == status


def test_a_folder_whose_owner_died_before_it_signed_is_passed_over(ledger: Ledger) -> None:
    folder = ledger.root / "runs" / ROW / "attempt-1"
    folder.mkdir(parents=True)
    assert ledger.state(ROW).status == "running"
    aged(folder, 60)
    assert ledger.state(ROW).status == "interrupted"


def test_an_interrupted_row_can_be_called_failed(ledger: Ledger) -> None:
    killed_claim(ledger)
    ledger.close_interrupted(ROW, ErrorRecord(kind="resource.worker", message="It died."))
    state = ledger.state(ROW)
    assert state.status == "failed"
    assert state.result is not None
    assert state.result.error is not None
    assert state.result.error.kind == "resource.worker"


def test_of_many_processes_that_claim_a_row_one_gets_it(ledger: Ledger) -> None:
    code = (
        "import pathlib, sys\n"
        "from sciagent.execution.ledger import Ledger, TakenError\n"
        "try:\n"
        f"    attempt = Ledger(pathlib.Path({str(ledger.root)!r})).claim({ROW!r})\n"
        "except TakenError:\n"
        "    sys.exit(3)\n"
        "sys.stdin.read()\n"
    )
    start: Callable[[], subprocess.Popen[bytes]] = lambda: subprocess.Popen(  # noqa: E731
        [sys.executable, "-c", code], stdin=subprocess.PIPE
    )
    processes = [start() for _ in range(4)]
    deadline = time.monotonic() + 60
    while sum(each.poll() is not None for each in processes) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    for each in processes:
        each.communicate()
    assert sorted(each.returncode for each in processes) == [0, 3, 3, 3]
    assert len(ledger.attempts(ROW)) == 1

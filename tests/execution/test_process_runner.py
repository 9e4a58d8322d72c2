"""Programs run within their limits and leave nothing behind."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sciagent.contracts.errors import InputError
from sciagent.contracts.ports import ProcessLimits, ProcessResult
from sciagent.execution.process_runner import LocalProcessRunner


def run(
    folder: Path, code: str, limits: ProcessLimits | None = None, *, cancelled: bool = False
) -> ProcessResult:
    return LocalProcessRunner().run(
        [sys.executable, "-c", code],
        directory=folder,
        log=folder / "log",
        limits=limits or ProcessLimits(),
        cancelled=lambda: cancelled,
    )


def test_all_output_is_in_the_log_and_its_end_in_the_result(tmp_path: Path) -> None:
    result = run(tmp_path, "print('x' * 20000); print('end')")
    assert result.returncode == 0
    assert result.output.endswith("end\n")
    assert len(result.output) < 9000
    assert len((tmp_path / "log").read_text()) == 20005


def test_errors_go_to_the_same_log(tmp_path: Path) -> None:
    result = run(tmp_path, "import sys; sys.exit('bad input')")
    assert result.returncode == 1
    assert "bad input" in result.output


def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    result = run(tmp_path, "import time; time.sleep(60)", ProcessLimits(wall_s=0.3))
    assert result.timed_out
    assert result.returncode != 0


def test_a_cancelled_program_is_ended(tmp_path: Path) -> None:
    assert run(tmp_path, "import time; time.sleep(60)", cancelled=True).cancelled


def test_memory_beyond_the_limit_is_refused_to_the_program(tmp_path: Path) -> None:
    result = run(tmp_path, "b = bytearray(800 * 2**20)", ProcessLimits(memory_mib=400))
    assert result.returncode != 0
    assert "MemoryError" in result.output


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid)"
    )
    child = int(run(tmp_path, code).output)
    for _ in range(100):
        if not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie":
            break
        time.sleep(0.05)
    else:
        subprocess.run(["kill", "-9", str(child)], check=False)
        pytest.fail("The grandchild outlived its program.")


def test_a_program_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'no-such-program' is not installed"):
        LocalProcessRunner().run(
            ["no-such-program"],
            directory=tmp_path,
            log=tmp_path / "log",
            limits=ProcessLimits(),
            cancelled=lambda: False,
        )


def test_programs_do_not_get_the_secrets_of_their_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-secret-value")
    result = run(tmp_path, "import os; print('SOME_API_KEY' in os.environ)")
    assert result.output == "False\n"

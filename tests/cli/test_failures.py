import errno

import pytest

from sciagent.cli.failures import exit_code, report
from sciagent.contracts.errors import (
    ConvergenceError,
    InputError,
    LimitError,
    RandomError,
    ResourceError,
    UnknownNameError,
    WorkspaceError,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("a"), 2),
        (UnknownNameError("a"), 2),
        (WorkspaceError("a"), 2),
        (ResourceError("a"), 2),
        (OSError(errno.EACCES, "Permission denied", "/there"), 2),
        (OSError(errno.ENOSPC, "No space left on device"), 2),
        (LimitError("a"), 3),
        (ConvergenceError("a"), 1),
        (RandomError("a"), 1),
        (OSError(errno.EIO, "Input/output error"), 1),
        (ZeroDivisionError("a"), 1),
    ],
)
def test_the_exit_code_tells_what_the_caller_can_do(error: Exception, code: int) -> None:
    assert exit_code(error) == code


def test_our_errors_say_what_is_wrong_and_what_to_do_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report(InputError("The file 'a[1].xy' is empty.", "Give another file."))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "Error: The file 'a[1].xy' is empty.\nGive another file.\n"


def test_a_place_that_cannot_be_written_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    report(OSError(errno.EACCES, "Permission denied", "/there"))
    assert "Cannot use /there: permission denied." in capsys.readouterr().err


def test_an_unexpected_error_is_one_line_and_the_trace_is_shown_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCIAGENT_DEBUG", raising=False)
    report(ZeroDivisionError("by\nzero"))
    assert "Unexpected ZeroDivisionError: by zero.\n" in capsys.readouterr().err
    report(ZeroDivisionError("zero"), ["--debug", "list"])
    assert "most recent call last" not in capsys.readouterr().err  # it was never raised
    try:
        _ = 1 / 0
    except ZeroDivisionError as error:
        report(error, ["--debug", "list"])
    assert "most recent call last" in capsys.readouterr().err
    monkeypatch.setenv("SCIAGENT_DEBUG", "1")
    try:
        _ = 1 / 0
    except ZeroDivisionError as error:
        report(error)
    assert "most recent call last" in capsys.readouterr().err

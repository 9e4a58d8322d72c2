"""What an error is to the user: one sentence, what to do about it, and an exit code."""

import errno
import os
import traceback
from collections.abc import Sequence

from rich.text import Text

from sciagent.cli.streams import messages
from sciagent.contracts.errors import InputError, LimitError, ResourceError, SciagentError

FAILURE = 1
BAD_INPUT = 2
LIMIT = 3
STOPPED = 130

_PLACE_ERRORS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}


def exit_code(error: Exception) -> int:
    """Exit code of an error.

    A resource error that ends a command is about the place given for the run (its disk is full
    or cannot be written), so it counts as bad input; one inside a trial is an outcome.
    """
    if isinstance(error, InputError | ResourceError):
        return BAD_INPUT
    if isinstance(error, LimitError):
        return LIMIT
    if isinstance(error, OSError) and error.errno in _PLACE_ERRORS:
        return BAD_INPUT
    return FAILURE


def report(error: Exception, arguments: Sequence[str] = ()) -> int:
    """Say on stderr what went wrong and what to do; return the exit code."""
    console = messages()
    if "--debug" in arguments or os.environ.get("SCIAGENT_DEBUG", "0") not in {"", "0"}:
        console.print("".join(traceback.format_exception(error)), soft_wrap=True)
    sentence, remedy = _sentences(error)
    text = Text("Error: ", style="bold red").append(sentence, style="red")
    console.print(text, soft_wrap=True)
    if remedy:
        console.print(Text(remedy), soft_wrap=True)
    return exit_code(error)


def _sentences(error: Exception) -> tuple[str, str]:
    if isinstance(error, SciagentError):
        return error.message, error.remedy
    if isinstance(error, OSError) and error.errno in _PLACE_ERRORS:
        place = f" {error.filename}" if error.filename else ""
        return (
            f"Cannot use{place}: {(error.strerror or str(error)).lower()}.",
            "Choose another folder with --out, or make room and allow writing there.",
        )
    said = " ".join(str(error).split())
    return (
        f"Unexpected {type(error).__name__}: {said}".rstrip(": ") + ".",
        "This is a defect of sciagent. Set SCIAGENT_DEBUG=1 to see the trace, and report it.",
    )

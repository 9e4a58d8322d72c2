"""Errors, sorted by what the one who gets them can do about it.

::

    SciagentError
    ├── InputError         mend what was given; trying again as it is cannot help
    │   ├── UnknownNameError   a name that does not exist, with the nearest ones that do
    │   └── WorkspaceError     the folder given is not a workspace this version can use
    ├── ResourceError      give more memory, disk, time or another machine
    ├── ConvergenceError   change the start or the settings of the calculation
    ├── RandomError        try again as it is
    ├── LimitError         a budget that was set has been reached
    ├── EndpointError      mend or change the model's endpoint
    │   └── ContextOverflowError   shorten the conversation and ask again
    └── SandboxError       mend the sandbox, or allow running without it

Each class has a stable `kind`; files and programs compare kinds, never messages.
"""

import difflib
from collections.abc import Iterable
from typing import Any, ClassVar

from pydantic import Field

from sciagent.contracts.model import Contract


class SciagentError(Exception):
    """Any error that sciagent raises on purpose.

    Parameters
    ----------
    message
        One sentence that says what is wrong.
    remedy
        One sentence that says what to do about it.
    """

    kind: ClassVar[str] = "error"

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()

    def __reduce__(self) -> tuple[type["SciagentError"], tuple[Any, ...]]:
        return type(self), (self.message, self.remedy)


class InputError(SciagentError):
    """What was given cannot be used as it is."""

    kind = "input"


class UnknownNameError(InputError):
    """A name that does not exist; the message offers the nearest that do."""

    kind = "input.unknown_name"

    @classmethod
    def among(cls, what: str, name: str, known: Iterable[str]) -> "UnknownNameError":
        """Say that `name` is no such `what`, and which of the `known` names was perhaps meant."""
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else ""
        listing = f"Known: {', '.join(names)}." if names else f"No {what} is known here."
        return cls(f"There is no {what} {name!r}.", f"{hint} {listing}".strip())


class WorkspaceError(InputError):
    """The folder is not a workspace that this version can use in the way asked."""

    kind = "input.workspace"


class ResourceError(SciagentError):
    """Memory, disk or time did not suffice; other hardware or limits can mend it."""

    kind = "resource"


class ConvergenceError(SciagentError):
    """A calculation did not converge; another start or other settings can mend it."""

    kind = "convergence"


class RandomError(SciagentError):
    """A fault that may not happen again; trying once more as it is can mend it."""

    kind = "random"


class LimitError(SciagentError):
    """A budget that was set has been reached."""

    kind = "limit"


class EndpointError(SciagentError):
    """The model's endpoint did not answer as its protocol says."""

    kind = "endpoint"


class ContextOverflowError(EndpointError):
    """The conversation is longer than the model's window.

    Parameters
    ----------
    message, remedy
        As for every error.
    n_prompt_tokens
        Tokens of the conversation, where the endpoint told.
    n_ctx
        Tokens that the window holds, where the endpoint told.
    """

    kind = "endpoint.context_overflow"

    def __init__(
        self,
        message: str,
        remedy: str = "",
        n_prompt_tokens: int | None = None,
        n_ctx: int | None = None,
    ) -> None:
        super().__init__(message, remedy)
        self.n_prompt_tokens = n_prompt_tokens
        self.n_ctx = n_ctx

    def __reduce__(self) -> tuple[type["SciagentError"], tuple[Any, ...]]:
        return type(self), (self.message, self.remedy, self.n_prompt_tokens, self.n_ctx)


class SandboxError(SciagentError):
    """The sandbox could not be made, or something inside tried to leave it."""

    kind = "sandbox"


class ErrorRecord(Contract):
    """An error as it is written into an outcome or an event."""

    kind: str = Field(description="Stable kind of the error class.")
    message: str = Field(description="One sentence that says what was wrong.")
    remedy: str = Field(default="", description="One sentence that says what to do about it.")
    details: str = Field(default="", description="Trace or program output, shortened.")


def error_record(error: BaseException, details: str = "") -> ErrorRecord:
    """Record any exception; one that is not ours gets the kind ``unexpected``."""
    if isinstance(error, SciagentError):
        return ErrorRecord(
            kind=error.kind, message=error.message, remedy=error.remedy, details=details
        )
    if isinstance(error, MemoryError):
        return ErrorRecord(
            kind=ResourceError.kind, message="The calculation ran out of memory.",
            remedy="Give it more memory or a smaller problem.", details=details,
        )  # fmt: skip
    return ErrorRecord(
        kind="unexpected", message=f"{type(error).__name__}: {error}", details=details
    )

"""Whether a notebook's kernel runs in the sandbox, what it may read there, and why not."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from sciagent.contracts.errors import InputError
from sciagent.contracts.model import Contract
from sciagent.execution.notebook import UNSANDBOXED
from sciagent.execution.provisioner import RefusedSandboxError
from sciagent.execution.readable import paths_named_in, search_path, shown, why_too_broad
from sciagent.execution.sandbox import SandboxMode, sandbox_mode

_MISSING = frozenset(
    {"FileNotFoundError", "PermissionError", "ModuleNotFoundError", "ImportError", "OSError"}
)
_NETWORK = frozenset(
    {"gaierror", "ConnectionError", "ConnectionRefusedError", "ConnectError", "URLError"}
)

_log = logging.getLogger(__name__)


class SandboxRequest(Contract):
    """What is asked for by the caller, or by ``sciagent`` in the metadata of the notebook."""

    sandbox: bool | None = Field(default=None, description="None: where it can be had.")
    readable: tuple[str, ...] | None = Field(
        default=None, description="Folders and files, relative to where the notebook works."
    )

    def over(self, other: "SandboxRequest") -> "SandboxRequest":
        """Put what is given here over `other`."""
        return other.model_copy(update=self.model_dump(exclude_none=True))


@dataclass(frozen=True, slots=True)
class NotebookSandbox:
    """How the kernel of a notebook is confined.

    Attributes
    ----------
    directory
        Where the notebook works, the one folder that it may write.
    mode
        The sandbox; None if there is none.
    why_not
        Why there is none.
    readable
        What the notebook may read besides.
    search
        Folders of modules: those of PYTHONPATH.
    """

    directory: Path
    mode: SandboxMode | None = None
    why_not: str = ""
    readable: tuple[Path, ...] = ()
    search: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return str(self.mode) if self.mode else f"{UNSANDBOXED}: {self.why_not}"

    def bound(self) -> list[str]:
        """List what is bound into the sandbox for reading."""
        return list(map(str, shown((*self.readable, *self.search), self.directory)))

    def hint(self, error: str, connections: tuple[str, ...]) -> str:
        """Say what the sandbox may have to do with an error; empty if nothing.

        Parameters
        ----------
        error
            Name of the exception.
        connections
            Whom the cell asked for.
        """
        if self.mode is None or not (error in _MISSING | _NETWORK or connections):
            return ""
        besides = ", ".join(map(str, self.readable)) or "no other file of yours"
        return (
            f"The notebook ran in a sandbox: no network, only {self.directory} writable, "
            f"{besides} readable. Add what it needs by `readable`, or use `sandbox: false`; for "
            "the command papermill, in `sciagent` of the notebook's metadata."
        )


def requested(told: Mapping[str, Any]) -> SandboxRequest:
    """Read what a notebook's metadata ask for.

    Raises
    ------
    InputError
        If they cannot be used.
    """
    names = SandboxRequest.model_fields
    try:
        return SandboxRequest(**{name: told[name] for name in names if name in told})
    except ValidationError as error:
        raise InputError(
            f"The notebook's sandbox cannot be made: {error.errors()[0]['msg']}.",
            "Correct `sciagent` in its metadata: `sandbox` true or false, `readable` a list.",
        ) from error


def notebook_sandbox(
    request: SandboxRequest,
    trouble: str,
    directory: Path,
    parameters: Mapping[str, Any],
    *,
    allow_unsandboxed: bool,
) -> NotebookSandbox:
    """Decide how the kernel of a notebook is confined; without a sandbox, warn.

    Parameters
    ----------
    request
        What is asked for.
    trouble
        Why this kernel can have no sandbox, whatever the machine offers.
    directory
        Where the notebook works.
    parameters
        Files and folders that they name can be read.
    allow_unsandboxed
        Whether a sandbox that was asked for may be missing.

    Raises
    ------
    RefusedSandboxError
        If a sandbox was asked for and there is none.
    InputError
        If `readable` names what is not there, or too much.
    """
    directory = directory.resolve()
    is_unwanted = request.sandbox is False
    why_not = "so it was asked for" if is_unwanted else trouble or _why_not(directory)
    if why_not and request.sandbox and not allow_unsandboxed:
        raise RefusedSandboxError(
            f"The notebook is not run, because it cannot be sandboxed: {why_not}.",
            "Mend that, or agree to run it unsandboxed.",
        )
    if why_not:
        _log.warning("The notebook runs unsandboxed: %s.", why_not)
        return NotebookSandbox(directory, why_not=why_not)
    given = tuple(_required(each, directory) for each in request.readable or ())
    named = _allowed("a parameter names", paths_named_in(parameters, directory))
    search = _allowed("PYTHONPATH names", search_path(directory))
    readable = tuple(dict.fromkeys((*given, *named)))
    return NotebookSandbox(directory, sandbox_mode(), readable=readable, search=search)


def _why_not(directory: Path) -> str:
    mode = sandbox_mode()
    if mode.mode == "landlock":
        return f"Landlock alone would let it write nothing where it works; {mode.remedy}"
    if not mode.is_confined:
        return f"{mode.detail}; {mode.remedy}"
    broad = why_too_broad(directory)
    return f"it works in a folder that is no place for it: {broad}" if broad else ""


def _required(name: str, directory: Path) -> Path:
    path = (directory / name).resolve()
    if not path.exists():
        raise InputError(f"`readable` names {path}, which is not there.", "Name what exists.")
    broad = why_too_broad(path)
    if broad:
        raise InputError(f"`readable` is too broad: {broad}.", "Name the folders that are needed.")
    return path


def _allowed(origin: str, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    found = []
    for path in paths:
        broad = why_too_broad(path)
        if broad:
            _log.warning("Not readable in the sandbox, though %s it: %s.", origin, broad)
        else:
            found.append(path)
    return tuple(found)

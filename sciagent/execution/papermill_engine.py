"""The papermill engine ``sciagent``: what the saved notebook says of a cell is what happened to it.

Papermill's own engine calls every cell ``completed`` after a timeout or a dead kernel, also those
that never ran. Here a cell is ``completed`` only if the kernel said so, ``failed`` if it raised or
was cut off, and ``pending`` if it was never begun.

Kernels of this interpreter run in the sandbox. Limits, and what may be read there, come from
Python or from the notebook's metadata, where plain papermill ignores them::

    {"sciagent": {"timeout_s": 600, "cell_timeout_s": 60, "memory_mib": 2000,
                  "sandbox": true, "readable": ["../measured"]}}
"""

import contextlib
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, Unpack

from papermill.engines import NBClientEngine
from papermill.log import logger

from sciagent.contracts.errors import RandomError, ResourceError
from sciagent.execution.kernel import KERNEL_NAME
from sciagent.execution.kernel_watch import MemoryWatch
from sciagent.execution.notebook import CellError
from sciagent.execution.notebook_end import NotebookEnd, limits_of
from sciagent.execution.notebook_kernel import OWN_KERNELS, NotebookKernel, notebook_kernel
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.execution.notebook_sandbox import (
    NotebookSandbox,
    SandboxRequest,
    notebook_sandbox,
    requested,
)
from sciagent.execution.truthful_client import Observer, TruthfulClient
from sciagent.execution.truthful_execution import CellProgress, Heard, TruthfulExecution

ENGINE = "sciagent"
_MIB = 1024 * 1024

__all__ = [
    "ENGINE", "CellProgress", "MemoryLimitError", "TruthfulEngine", "run_with_papermill",
]  # fmt: skip


class MemoryLimitError(ResourceError):
    """A notebook's kernel held more memory than it may."""

    kind = "resource.memory"


class TruthfulEngine(NBClientEngine):  # type: ignore[misc]
    """Runs notebooks for ``papermill --engine sciagent`` and for campaigns."""

    @classmethod
    def execute_notebook(cls, nb: Any, kernel_name: str, **options: Any) -> Any:
        """Run a notebook and save it, however that ends.

        Parameters
        ----------
        nb, kernel_name
            As papermill gives them.
        options
            As for papermill's own engine (`execution_timeout` is the time of a cell), and
            `limits` (`NotebookLimits`), `heard` (told each `CellProgress`), `threads`; `sandbox`,
            `readable` and `allow_unsandboxed` as for `run_with_papermill`, over what the
            notebook's metadata ask for; and `named`, values that may name files to be readable,
            in place of the parameters.

        Raises
        ------
        LimitError
            If the time of a cell or of the notebook is over.
        ResourceError
            If the kernel dies, cannot be started, or holds too much memory.
        RefusedSandboxError
            If a sandbox was asked for and there is none.
        """
        kept = ("output_path", "progress_bar", "log_output", "autosave_cell_every")
        about = {name: options[name] for name in kept if name in options}
        execution = TruthfulExecution(nb, **about)
        execution.notebook_start()
        begin = time.monotonic()
        try:
            cls.execute_managed_notebook(execution, kernel_name, begin=begin, **options)
        finally:
            execution.notebook_complete()
        return execution.nb

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: TruthfulExecution, kernel_name: str, **options: Any
    ) -> None:
        """Run the cells in a kernel of their own, within the limits."""
        limits = limits_of(nb_man.nb, options)
        sandbox = _sandbox(nb_man.nb, kernel_name, options)
        end = NotebookEnd(nb_man, limits, options.get("begin", time.monotonic()))
        threads = int(options.get("threads", 1))
        with notebook_kernel(kernel_name, sandbox, threads, limits.memory_mib) as kernel:
            client = _client(nb_man, kernel, kernel_name, end, options)
            client.observer = Observer(sandbox, kernel.asked, nb_man.saved_as(sandbox.directory))
            nb_man.nb.metadata["sciagent"] = {
                **nb_man.nb.metadata.get("sciagent", {}),
                "execution": {
                    "engine": ENGINE,
                    "kernel": kernel_name,
                    "sandbox": str(sandbox),
                    "readable": list(map(str, sandbox.readable)),
                    "limits": limits.model_dump(mode="json"),
                },
            }
            _run(client, end, kernel)


def _client(
    execution: TruthfulExecution,
    kernel: NotebookKernel,
    name: str,
    end: NotebookEnd,
    options: Mapping[str, Any],
) -> TruthfulClient:
    client = TruthfulClient(
        execution,
        km=kernel.manager,
        timeout_func=end.left_s,
        startup_timeout=options.get("start_timeout", 60),
        kernel_name=name,
        log=logger,
        log_output=options.get("log_output", False),
        stdout_file=options.get("stdout_file"),
        stderr_file=options.get("stderr_file"),
    )
    client.heard = options.get("heard")
    return client


def _run(client: TruthfulClient, end: NotebookEnd, kernel: NotebookKernel) -> None:
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    try:
        _start(client, kernel.start)
    except RuntimeError as error:
        raise RandomError(f"The kernel did not start: {error}.", "Run it again.") from error
    is_confined = client.observer.sandbox.mode is not None
    provisioner = client.km.provisioner
    watch = MemoryWatch(provisioner.pid, None if is_confined else end.limits.memory_mib)
    try:
        with watch:
            if not is_confined:
                _bound(provisioner.pid, end.limits.memory_mib)
            client.execute(cleanup_kc=True)
    except CellTimeoutError as error:
        raise end.over() from error
    except DeadKernelError as error:
        reason = "of memory" if watch.exceeded else getattr(provisioner, "killed_because", "")
        raise _death(reason, end) from error


def _death(reason: str, end: NotebookEnd) -> ResourceError:
    """Say why a kernel died, as far as that is known."""
    if "of memory" in reason and end.limits.memory_mib is not None:
        return MemoryLimitError(
            f"More than {end.limits.memory_mib:g} MiB were held in {end.place()}.",
            "Allow more memory or make the task smaller.",
        )
    why = f": {reason}" if reason else ""
    return ResourceError(
        f"The kernel died in {end.place()}{why}.", "Give it more memory or a smaller task."
    )


def _start(client: TruthfulClient, start: dict[str, Any]) -> None:
    if client.km is None:
        client.create_kernel_manager()
    client.start_new_kernel(**start)
    client.start_new_kernel_client()
    client.kernel_id = str(client.km.kernel_id)


def _bound(process: int, memory_mib: float | None) -> None:
    """Let allocations above the limit fail, so that a cell raises MemoryError where it can."""
    if memory_mib is not None:
        limit = int(memory_mib * _MIB)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            resource.prlimit(process, resource.RLIMIT_DATA, (limit, limit))


def _sandbox(notebook: Any, kernel: str, options: Mapping[str, Any]) -> NotebookSandbox:
    readable = options.get("readable")
    asked = SandboxRequest(
        sandbox=options.get("sandbox"),
        readable=None if readable is None else tuple(map(str, readable)),
    )
    named = options.get("named")
    if named is None:
        named = notebook.metadata.papermill.get("parameters") or {}
    is_own = kernel in OWN_KERNELS
    return notebook_sandbox(
        asked.over(requested(notebook.metadata.get("sciagent", {}))),
        "" if is_own else f"the kernel {kernel} is not of this interpreter",
        Path.cwd(),
        named,
        allow_unsandboxed=bool(options.get("allow_unsandboxed", False)),
    )


class ConfinementOptions(TypedDict, total=False):
    """How `run_with_papermill` confines a notebook."""

    sandbox: bool
    """Whether the kernel runs in the sandbox; so it does if this is not given."""
    readable: tuple[Path, ...]
    """What can be read besides the working directory and what parameters name."""
    allow_unsandboxed: bool
    """A person agreed to run it without a sandbox, where there is none."""


def run_with_papermill(
    source: Path,
    output: Path,
    parameters: dict[str, Any],
    *,
    directory: Path,
    limits: NotebookLimits | None = None,
    heard: Heard | None = None,
    **confinement: Unpack[ConfinementOptions],
) -> None:
    """Run a notebook with papermill and this engine.

    Parameters
    ----------
    source, output
        The notebook, and where the executed one is written, also when it fails.
    parameters
        Plain values for the cell tagged ``parameters``.
    directory
        Working directory of the kernel.
    limits
        Bounds; over those of the notebook's metadata.
    heard
        Is told what becomes of each cell.
    confinement
        As in `ConfinementOptions`. What the notebook's metadata ask for does not count here.

    Raises
    ------
    InputError
        If the file is no notebook, or a cell raises.
    LimitError, ResourceError, RefusedSandboxError
        As the engine raises them.
    """
    from papermill import execute_notebook
    from papermill.engines import papermill_engines
    from papermill.exceptions import PapermillExecutionError

    papermill_engines.register(ENGINE, TruthfulEngine)
    try:
        execute_notebook(
            _unformatted(source), _unformatted(output), parameters, engine_name=ENGINE,
            kernel_name=KERNEL_NAME, language="python", progress_bar=False, cwd=str(directory),
            limits=limits, heard=heard, named=parameters,
            **{"sandbox": True, "readable": (), **confinement},
        )  # fmt: skip
    except PapermillExecutionError as error:
        raise _cell_error(error, limits, _hint(output)) from error


def _unformatted(path: Path) -> str:
    """Write a path so that papermill, which formats paths with the parameters, leaves it alone."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _hint(output: Path) -> str:
    import nbformat

    cells = nbformat.read(output, as_version=4).cells  # type: ignore[no-untyped-call]
    hints = (cell.metadata.get("sciagent", {}).get("hint", "") for cell in cells)
    return next(filter(None, hints), "")


def _cell_error(error: Any, limits: NotebookLimits | None, hint: str) -> Exception:
    reason = f"{error.ename}: {error.evalue}".removesuffix(": ")
    if error.ename == "MemoryError" and limits is not None and limits.memory_mib is not None:
        return MemoryLimitError(
            f"A cell asked for more than {limits.memory_mib:g} MiB. {reason}",
            "Allow more memory or make the task smaller.",
        )
    remedy = hint or "Mend what it names."
    return CellError(f"Cell {error.cell_index + 1} failed. {reason}", remedy)

"""The papermill engine ``sciagent``: what the saved notebook says of a cell is what happened to it.

Papermill's own engine calls every cell ``completed`` after a timeout or a dead kernel, also those
that never ran. Here a cell is ``completed`` only if the kernel said so, ``failed`` if it raised or
was cut off, and ``pending`` if it was never begun.

Limits come from Python, or from the notebook's metadata, where plain papermill ignores them::

    {"sciagent": {"timeout_s": 600, "cell_timeout_s": 60, "memory_mib": 2000}}
"""

import contextlib
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, NotebookExecutionManager
from papermill.log import logger
from pydantic import Field, ValidationError

from sciagent.contracts.errors import InputError, LimitError, RandomError, ResourceError
from sciagent.contracts.model import Contract, sha256_text
from sciagent.execution.kernel import KERNEL_NAME, clean_environment, kernel_manager
from sciagent.execution.kernel_watch import MemoryWatch
from sciagent.execution.notebook import UNSANDBOXED, CellError
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.workspace.clock import utc_timestamp

ENGINE = "sciagent"
OWN_KERNELS = frozenset({KERNEL_NAME, "python3", "python"})
"""Kernels by these names are this very interpreter, whatever is installed under the name."""
_TETHERED = ("-m", "sciagent.execution.tethered_kernel", "-f", "{connection_file}")
_LEAST_TIME_S = 0.05
_MIB = 1024 * 1024

CellStatus = Literal["not run", "running", "completed", "failed", "interrupted"]


class MemoryLimitError(ResourceError):
    """A notebook's kernel held more memory than it may."""

    kind = "resource.memory"


class CellProgress(Contract):
    """What just happened to a cell of a notebook that is being run."""

    cell: int = Field(ge=1, description="Its place among all cells, from 1.")
    cells: int
    status: CellStatus
    time: str = Field(description="UTC, ISO 8601.")


Heard = Callable[[CellProgress], None]


class TruthfulExecution(NotebookExecutionManager):  # type: ignore[misc]
    """Keeps the notebook's metadata while it is run."""

    def notebook_start(self, **more: Any) -> None:
        """Note of every cell that it was not run."""
        for cell in self.nb.cells:
            cell.metadata["sciagent"] = {
                "status": "not run",
                "source_sha256": sha256_text(cell.source),
            }
        super().notebook_start(**more)

    def cell_start(self, cell: Any, cell_index: int | None = None, **more: Any) -> None:
        """Note that a cell has begun."""
        self.mark(cell, "running", started=utc_timestamp())
        super().cell_start(cell, cell_index, **more)

    def cell_interrupted(self, cell: Any) -> None:
        """Note that a cell was begun and did not come to its end."""
        self.mark(cell, "interrupted", finished=utc_timestamp())
        cell.metadata.papermill["status"] = self.FAILED
        cell.metadata.papermill["exception"] = True
        self.nb.metadata.papermill["exception"] = True

    def mark(self, cell: Any, status: CellStatus, **more: str) -> None:
        """Note what became of a cell."""
        cell.metadata["sciagent"] = {**cell.metadata["sciagent"], "status": status, **more}

    def notebook_complete(self, **_more: Any) -> None:
        """Note the end of the notebook; cells that were not run stay as they are."""
        self.end_time = self.now()
        told = self.nb.metadata.papermill
        told["end_time"] = self.end_time.isoformat()
        told["duration"] = (self.end_time - self.start_time).total_seconds()
        self.cleanup_pbar()
        self.save()


class TruthfulClient(PapermillNotebookClient):  # type: ignore[misc]
    """Runs the cells one by one and notes of each what became of it."""

    heard: Heard | None = None

    def papermill_execute_cells(self) -> None:
        """Run the cells up to the first that fails or is cut off."""
        for index, cell in enumerate(self.nb.cells):
            self.nb_man.cell_start(cell, index)
            self._tell(index, "running")
            try:
                completed = self._executed(cell, index)
            except BaseException:
                self.nb_man.cell_interrupted(self.nb.cells[index])
                self._tell(index, "interrupted")
                raise
            status: CellStatus = "completed" if completed else "failed"
            self.nb_man.mark(self.nb.cells[index], status, finished=utc_timestamp())
            self.nb_man.cell_complete(self.nb.cells[index], cell_index=index)
            self._tell(index, status)
            if not completed:
                break

    def _executed(self, cell: Any, index: int) -> bool:
        from nbclient.exceptions import CellExecutionError

        try:
            self.execute_cell(cell, index)
        except CellExecutionError as error:
            self.nb_man.cell_exception(self.nb.cells[index], cell_index=index, exception=error)
            return False
        return True

    def _tell(self, index: int, status: CellStatus) -> None:
        if self.heard is not None:
            self.heard(
                CellProgress(
                    cell=index + 1, cells=len(self.nb.cells), status=status, time=utc_timestamp()
                )
            )


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
            `limits` (`NotebookLimits`), `heard` (told each `CellProgress`) and `threads`.

        Raises
        ------
        LimitError
            If the time of a cell or of the notebook is over.
        ResourceError
            If the kernel dies, cannot be started, or holds too much memory.
        """
        kept = ("output_path", "progress_bar", "log_output", "autosave_cell_every")
        about = {name: options.pop(name) for name in kept if name in options}
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
        limits = _limits(nb_man.nb, options)
        end = _End(nb_man, limits, options.get("begin", time.monotonic()))
        nb_man.nb.metadata["sciagent"] = {
            **nb_man.nb.metadata.get("sciagent", {}),
            "execution": {
                "engine": ENGINE,
                "kernel": kernel_name,
                "sandbox": UNSANDBOXED,
                "limits": limits.model_dump(mode="json"),
            },
        }
        with _kernel(kernel_name, int(options.get("threads", 1))) as (manager, start):
            client = TruthfulClient(
                nb_man,
                km=manager,
                timeout_func=end.left_s,
                startup_timeout=options.get("start_timeout", 60),
                kernel_name=kernel_name,
                log=logger,
                log_output=options.get("log_output", False),
                stdout_file=options.get("stdout_file"),
                stderr_file=options.get("stderr_file"),
            )
            client.heard = options.get("heard")
            _run(client, end, start)


class _End:
    """When and why a notebook must end."""

    def __init__(self, execution: TruthfulExecution, limits: NotebookLimits, begin: float) -> None:
        self.limits = limits
        self.execution = execution
        self._deadline = None if limits.timeout_s is None else begin + limits.timeout_s

    def left_s(self, _cell: Any = None) -> float | None:
        """Time that a cell which begins now may take."""
        whole = None if self._deadline is None else self._deadline - time.monotonic()
        times = [each for each in (whole, self.limits.cell_timeout_s) if each is not None]
        return max(_LEAST_TIME_S, min(times)) if times else None

    def over(self) -> LimitError:
        """Say whose time was over."""
        late = self._deadline is not None and time.monotonic() >= self._deadline
        given_s = self.limits.timeout_s if late else self.limits.cell_timeout_s
        what = "the notebook" if late else "a cell"
        return LimitError(
            f"The {given_s:g} s of {what} were over in {self.place()}.", "Allow more time."
        )

    def place(self) -> str:
        """Name the cell that was cut off."""
        for number, cell in enumerate(self.execution.nb.cells, 1):
            if cell.metadata["sciagent"]["status"] in {"running", "interrupted"}:
                return f"cell {number} ({cell.get('id', 'without an id')})"
        return "no cell"


def _run(client: TruthfulClient, end: _End, start: dict[str, Any]) -> None:
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    try:
        _start(client, start)
    except RuntimeError as error:
        raise RandomError(f"The kernel did not start: {error}.", "Run it again.") from error
    process = int(client.km.provisioner.pid)
    watch = MemoryWatch(process, end.limits.memory_mib)
    try:
        with watch:
            _bound(process, end.limits.memory_mib)
            client.execute(cleanup_kc=True)
    except CellTimeoutError as error:
        raise end.over() from error
    except DeadKernelError as error:
        if watch.exceeded:
            raise MemoryLimitError(
                f"More than {end.limits.memory_mib:g} MiB were held in {end.place()}.",
                "Allow more memory or make the task smaller.",
            ) from error
        raise ResourceError(
            f"The kernel died in {end.place()}.", "Give it more memory or a smaller task."
        ) from error


def _start(client: TruthfulClient, start: dict[str, Any]) -> None:
    if client.km is None:
        client.create_kernel_manager()
    client.start_new_kernel(**start)
    client.start_new_kernel_client()


def _bound(process: int, memory_mib: float | None) -> None:
    """Let allocations above the limit fail, so that a cell raises MemoryError where it can."""
    if memory_mib is not None:
        limit = int(memory_mib * _MIB)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            resource.prlimit(process, resource.RLIMIT_DATA, (limit, limit))


@contextlib.contextmanager
def _kernel(name: str, threads: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Make the manager of the kernel, and what it is started with; none for foreign kernels."""
    if name not in OWN_KERNELS:
        yield None, {}
        return
    with tempfile.TemporaryDirectory(prefix="sciagent-kernel-") as folder:
        manager = kernel_manager(Path(folder))
        spec = manager.kernel_spec
        assert spec is not None
        spec.argv = [spec.argv[0], *_TETHERED]
        environment = clean_environment(Path(folder) / "profile", threads)
        yield manager, {"env": environment, "cwd": str(Path.cwd())}


def _limits(notebook: Any, options: dict[str, Any]) -> NotebookLimits:
    asked: NotebookLimits = options.get("limits") or NotebookLimits()
    if asked.cell_timeout_s is None and options.get("execution_timeout"):
        asked = asked.model_copy(update={"cell_timeout_s": float(options["execution_timeout"])})
    told = notebook.metadata.get("sciagent", {})
    names = NotebookLimits.model_fields
    try:
        own = NotebookLimits(**{name: told[name] for name in names if name in told})
    except ValidationError as error:
        raise InputError(
            f"The notebook's limits cannot be used: {error.errors()[0]['msg']}.",
            "Correct `sciagent` in its metadata.",
        ) from error
    return asked.over(own)


def run_with_papermill(
    source: Path,
    output: Path,
    parameters: dict[str, Any],
    *,
    directory: Path,
    limits: NotebookLimits | None = None,
    heard: Heard | None = None,
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

    Raises
    ------
    InputError
        If the file is no notebook, or a cell raises.
    LimitError, ResourceError
        As the engine raises them.
    """
    from papermill import execute_notebook
    from papermill.engines import papermill_engines
    from papermill.exceptions import PapermillExecutionError

    papermill_engines.register(ENGINE, TruthfulEngine)
    try:
        execute_notebook(
            str(source), str(output), parameters, engine_name=ENGINE, kernel_name=KERNEL_NAME,
            language="python", progress_bar=False, cwd=str(directory), limits=limits, heard=heard,
        )  # fmt: skip
    except PapermillExecutionError as error:
        raise _cell_error(error, limits) from error


def _cell_error(error: Any, limits: NotebookLimits | None) -> Exception:
    reason = f"{error.ename}: {error.evalue}".removesuffix(": ")
    if error.ename == "MemoryError" and limits is not None and limits.memory_mib is not None:
        return MemoryLimitError(
            f"A cell asked for more than {limits.memory_mib:g} MiB. {reason}",
            "Allow more memory or make the task smaller.",
        )
    return CellError(f"Cell {error.cell_index + 1} failed. {reason}", "Mend what it names.")

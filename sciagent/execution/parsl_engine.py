"""Runs the rows of a campaign with Parsl: on this machine, or where a configuration file says.

Parsl only carries rows to workers; what was done is in the ledger. Workers run nothing once the
lease of the driver has run out, so that none goes on for a driver that died.
"""

import contextlib
import os
import runpy
import shlex
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciagent.contracts.errors import InputError, ResourceError
from sciagent.execution.attempts import AttemptTask, carry_out
from sciagent.execution.ledger import STALE_S, AttemptResult
from sciagent.execution.light_imports import RARELY_USED, load_when_used
from sciagent.execution.process_pool import WorkerLostError
from sciagent.execution.tethered_interchange import OWNER_VARIABLE
from sciagent.workspace.identity import new_ulid

if TYPE_CHECKING:
    from parsl.config import Config

_BEAT_S = 1.0
_FIRST_WORKER_S = 60.0
_POLL_S = 0.05
_HEARTBEAT_S = 2
_LOST_AFTER_S = 6


def carry_out_line(task: str, lease: str) -> str | None:
    """Run a row on a worker, if its driver still lives; texts, for they are sent over the wire."""
    try:
        age_s = time.time() - Path(lease).stat().st_mtime
    except FileNotFoundError:
        return None
    if age_s > STALE_S:
        return None
    load_when_used(*RARELY_USED)
    result = carry_out(AttemptTask.model_validate_json(task))
    return result.model_dump_json() if result else None


def local_config(size: int, folder: Path) -> "Config":
    """Configure workers on this machine that end some seconds after their owner."""
    from parsl.config import Config
    from parsl.executors import HighThroughputExecutor
    from parsl.executors.high_throughput.executor import DEFAULT_LAUNCH_CMD
    from parsl.providers import LocalProvider

    provider: Any = LocalProvider(  # type: ignore[no-untyped-call]
        init_blocks=1, min_blocks=1, max_blocks=1
    )
    executor = HighThroughputExecutor(
        label="local",
        address="127.0.0.1",
        cores_per_worker=1,
        max_workers_per_node=size,
        encrypted=True,
        heartbeat_period=_HEARTBEAT_S,
        heartbeat_threshold=_LOST_AFTER_S,
        launch_cmd=_tethered(DEFAULT_LAUNCH_CMD),
        interchange_launch_cmd=[sys.executable, "-m", "sciagent.execution.tethered_interchange"],
        provider=provider,
    )
    return Config(
        executors=[executor],
        retries=0,
        strategy="none",
        strategy_period=0.5,
        run_dir=str(folder),
        initialize_logging=False,
    )


def _tethered(command: str) -> str:
    """Let the pool of workers be started so that it ends with this process."""
    _, _, arguments = command.partition(" ")
    return f"{shlex.quote(sys.executable)} -m sciagent.execution.tethered_pool {arguments}"


def config_from_file(path: Path) -> "Config":
    """Read a Parsl configuration: a Python file that defines `config`.

    Raises
    ------
    InputError
        If there is none, or it lets Parsl retry: that would repeat rows behind the ledger.
    """
    from parsl.config import Config

    if not path.is_file():
        raise InputError(f"There is no file {path}.", "Check `cluster`.")
    config = runpy.run_path(str(path)).get("config")
    if not isinstance(config, Config):
        raise InputError(f"{path} defines no Parsl `config`.", "Write `config = Config(...)`.")
    if config.retries:
        raise InputError(
            f"{path} lets Parsl retry.", "Set retries=0: the campaign retries by kind of error."
        )
    return config


class ParslEngine:
    """Workers that Parsl starts (an `Engine`).

    Parameters
    ----------
    size
        Rows that are handed to Parsl at once.
    folder
        Where Parsl and the driver's lease keep their files; workers must see it too.
    config
        A Python file that defines a Parsl `config`; workers of this machine if not given.

    Raises
    ------
    InputError
        If Parsl is not installed, or the file cannot be used.
    ResourceError
        If no worker of this machine starts within a minute.
    """

    def __init__(self, size: int, folder: Path, config: Path | None = None) -> None:
        load_when_used(*RARELY_USED)
        try:
            import parsl
        except ImportError as error:
            raise InputError(
                "Parsl is not installed.", "Install it: pip install 'sciagent[cluster]'."
            ) from error
        self.size = size
        folder.mkdir(parents=True, exist_ok=True)
        _make_programs_known()
        chosen = config_from_file(config) if config else local_config(size, folder)
        self._lease = folder / f"{new_ulid()}.lease"
        self._lease.touch()
        self._ended = threading.Event()
        self._beat = threading.Thread(target=self._beating, daemon=True)
        self._beat.start()
        self._kernel = parsl.load(chosen)
        self._app = parsl.python_app(carry_out_line, data_flow_kernel=self._kernel)
        if config is None:
            self._wait_for_worker()

    def submit(self, task: AttemptTask) -> "Future[AttemptResult | None]":
        """Run a row on the next free worker."""
        made: Future[AttemptResult | None] = Future()
        sent = self._app(task.model_dump_json(), str(self._lease))
        sent.add_done_callback(lambda ended: _pass_on(ended, made, task.row))
        return made

    def close(self) -> None:
        """End all workers, also busy ones."""
        import parsl

        self._lease.unlink(missing_ok=True)
        self._ended.set()
        self._beat.join()
        self._kernel.cleanup()
        parsl.clear()

    def _beating(self) -> None:
        while not self._ended.wait(_BEAT_S):
            with contextlib.suppress(OSError):
                os.utime(self._lease)

    def _wait_for_worker(self) -> None:
        deadline = time.monotonic() + _FIRST_WORKER_S
        executor: Any = self._kernel.executors["local"]
        while not executor.connected_managers():
            if time.monotonic() > deadline:
                self.close()
                raise ResourceError(
                    f"No worker of Parsl started within {_FIRST_WORKER_S:g} s.",
                    "Run the campaign without --engine parsl.",
                )
            time.sleep(_POLL_S)


def _make_programs_known() -> None:
    """Let Parsl find its own programs, also where the environment was not activated."""
    programs = str(Path(sys.executable).parent)
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", "")])
    os.environ[OWNER_VARIABLE] = str(os.getpid())


def _pass_on(ended: Any, made: "Future[AttemptResult | None]", row: str) -> None:
    from parsl.executors.high_throughput.errors import ManagerLost, WorkerLost

    error = ended.exception()
    if isinstance(error, ManagerLost | WorkerLost):
        made.set_exception(WorkerLostError(f"The process that ran the row {row} died."))
    elif error is not None:
        made.set_exception(error)
    else:
        answer = ended.result()
        made.set_result(None if answer is None else AttemptResult.model_validate_json(answer))

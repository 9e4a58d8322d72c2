"""A peer: whether it is installed, its process, and the row that shows it beside ours."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.peers.child import Question
from benchmarks.table import Row, progress

VARIABLE = "SCIAGENT_PEERS_PYTHON"
_ROOT = Path(__file__).parents[2]
_TIMEOUT_S = 300.0
_VERSIONS = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
_NO_TELEMETRY = {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "OTEL_SDK_DISABLED": "true",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
}


@dataclass(frozen=True)
class PeerAnswer:
    """What a peer said, or how it gave up; `refused` are the hosts that it was kept from."""

    text: str = ""
    error: str = ""
    wall_s: float = 0.0
    refused: Sequence[str] = ()


@dataclass(frozen=True)
class Measured:
    """A figure; `lacking` says in a few words what the peer did not do of the task."""

    value: float
    lacking: str = ""


@dataclass(frozen=True)
class Beside:
    """A peer's figure, how the table names it, and whether the peer did the whole task."""

    label: str
    value: float
    whole: bool = True


class RunningPeer:
    """A peer's process, which is started again after it died or was too slow."""

    def __init__(self, module: str, folder: Path) -> None:
        self._module, self._folder = module, folder
        self._process: subprocess.Popen[str] | None = None

    def ask(self, base_url: str, text: str, pages: dict[str, str], **given: Any) -> PeerAnswer:
        """Ask a fresh agent; `given` are further fields of the question."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        question = Question(base_url, text, pages, **given)
        killer = threading.Timer(_TIMEOUT_S, process.kill)
        killer.start()
        try:
            process.stdin.write(json.dumps(asdict(question)) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        finally:
            killer.cancel()
        if not line:
            self.close()
            return PeerAnswer(error="The process died or was too slow.")
        answer = PeerAnswer(**json.loads(line))
        if answer.refused:
            progress(f"{self._module} was kept from {', '.join(answer.refused)}")
        return answer

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _started(self) -> "subprocess.Popen[str]":
        if self._process is None:
            # Nothing of the caller's environment reaches a peer: it may hold keys.
            environment = {
                "PATH": os.defpath, "HOME": str(self._folder), "PYTHONPATH": str(_ROOT),
                "PYTHONUTF8": "1", **_NO_TELEMETRY,
            }  # fmt: skip
            self._process = subprocess.Popen(
                [interpreter(), "-m", self._module], cwd=self._folder, env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        return self._process


@dataclass(frozen=True)
class Peer:
    """A harness of others.

    Attributes
    ----------
    title
        Its name.
    quoted_version
        The version that the quoted figures were measured with.
    module
        What its process runs.
    distributions
        What must be installed; the first is the peer.
    """

    title: str
    quoted_version: str
    module: str
    distributions: tuple[str, ...]

    def version(self) -> str:
        """Version that is installed, empty if it is not."""
        command = [interpreter(), "-c", _VERSIONS, *self.distributions]
        try:
            found = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise SystemExit(
                f"{VARIABLE} names no interpreter ({error}). Unset it or correct it."
            ) from None
        return found.stdout.split()[0] if found.returncode == 0 else ""

    @contextmanager
    def running(self) -> Iterator[RunningPeer]:
        """Run it in a folder of its own."""
        with tempfile.TemporaryDirectory() as folder:
            running = RunningPeer(self.module, Path(folder))
            try:
                yield running
            finally:
                running.close()

    def beside(
        self, measure: Callable[[RunningPeer], Measured], quoted: float | None, note: str = ""
    ) -> list[Beside]:
        """Measure the peer, or quote what it reached; nothing if neither can be done."""
        version = self.version()
        if version:
            label = f"{self.title} {version}{note}"
            progress(f"beside: {label}")
            with self.running() as running:
                found = measure(running)
            named = f"{label}, {found.lacking}" if found.lacking else label
            return [Beside(named, found.value, not found.lacking)]
        if quoted is None:
            return []
        return [Beside(f"{self.title} {self.quoted_version}{note}, quoted", quoted)]


DEEPAGENTS = Peer(
    "deepagents", "0.7.32", "benchmarks.peers.run_deepagents", ("deepagents", "langchain-openai")
)
RESEARCH_HARNESS = Peer(
    "ResearchHarness", "0.0.52", "benchmarks.peers.run_researchharness", ("researchharness",)
)


def interpreter() -> str:
    """The interpreter that peers run in."""
    return os.environ.get(VARIABLE) or sys.executable


def rows_beside(ours: Row, peers: Sequence[Beside], *, lower_is_better: bool = False) -> list[Row]:
    """Show our figure beside the best peer's, and beside each other peer's in a row of its own.

    The best peer is one that did the whole task, if there is any.
    """
    sign = 1 if lower_is_better else -1
    ranked = sorted(peers, key=lambda each: (not each.whole, sign * each.value))
    rows = [replace(ours, peer=each.label, peer_value=each.value) for each in ranked]
    others = [replace(row, case=f"{row.case}, {row.peer}") for row in rows[1:]]
    return [*rows[:1], *others] or [ours]

"""The ground of the attempts: secrets, hosts and processes that nobody inside may reach."""

import contextlib
import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sciagent
from sciagent.contracts.ports import Journal
from sciagent.contracts.run import RunRequest
from sciagent.execution.code_runner import CodeSettings, KernelCode, KernelPool
from sciagent.execution.sandbox import SandboxLimits
from sciagent.execution.session import KernelSettings
from sciagent.testing.escapes.attempts import ATTEMPTS, Attempt
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.workspace import create_workspace

# Each process has addresses of its own, so that two suites on one machine do not meet.
_NET = os.getpid() % 63
_OURS = (f"10.213.{_NET}.1", f"198.51.100.{4 * _NET + 1}")
PRIVATE = f"10.213.{_NET}.2"
PUBLIC = f"198.51.100.{4 * _NET + 2}"  # RFC 5737: of nobody; here a host of the namespace
LIMITS = SandboxLimits(memory_mib=600, tmp_mib=24, file_mib=64, processes=64)
_TIMEOUT_S = 30.0
_LISTENER = "sciagent.testing.escapes.listener"


@dataclass(frozen=True, slots=True)
class Report:
    """What an attempt came to.

    Attributes
    ----------
    attempt
        What was tried.
    escaped
        Why it counts as an escape; empty if it does not.
    output
        What it printed.
    skipped
        Why it was not made; empty if it was.
    """

    attempt: str
    escaped: str
    output: str = ""
    skipped: str = ""


@dataclass(slots=True)
class Ground:
    """Where attempts are made. Use `ground()`.

    Attributes
    ----------
    workspace
        Of the code inside.
    outside
        Folder beside it, with the secret.
    token
        The secret.
    known
        What attempts know: `G` in their code.
    has_namespace
        Whether there is a network namespace with hosts.
    """

    workspace: Path
    outside: Path
    token: str
    known: dict[str, Any]
    canary: "subprocess.Popen[bytes]"
    logs: tuple[Path, ...]
    has_namespace: bool
    _seen: str = ""
    _heard: int = 0
    _forbidden: tuple[Path, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        probe = self.known["probe"]
        places = (Path("/usr"), Path(self.known["packages"]), Path(self.known["package"]))
        self._forbidden = tuple(place / probe for place in places)
        self.breach()

    def breach(self) -> str:
        """Say what changed outside since this was last asked, nothing if nothing did."""
        seen = _digest(self.outside)
        heard = sum(path.stat().st_size for path in self.logs)
        found = [
            ("a file outside changed", bool(self._seen) and seen != self._seen),
            ("a host was reached", heard != self._heard and bool(self._seen)),
            ("a process outside was stopped", _state(self.canary.pid) not in "SRD"),
            ("the journal was forged", b"forged" in (self.workspace / "events.jsonl").read_bytes()),
            ("the inbox was written", bool(list((self.workspace / "inbox").glob("*")))),
            ("the system was written", any(path.exists() for path in self._forbidden)),
        ]
        self._seen, self._heard = seen, heard
        for path in self._forbidden:
            path.unlink(missing_ok=True)
        return "; ".join(text for text, happened in found if happened)

    def judged(self, attempt: Attempt, output: str) -> Report:
        """Judge an attempt by what it printed and by what happened outside."""
        reasons = [self.breach()]
        if self.token in output:
            reasons.append("the secret was read")
        if "ESCAPED" in output.splitlines():
            reasons.append("it says so")
        return Report(attempt.name, "; ".join(filter(None, reasons)), output)

    def code_of(self, attempt: Attempt) -> str:
        """The attempt as a program of its own."""
        return f"G = {self.known!r}\n{attempt.code}"

    def unconfined(self, attempt: Attempt) -> Report:
        """Make an attempt in a plain process."""
        ended = subprocess.run(
            [sys.executable, "-c", self.code_of(attempt)],
            capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
        return self.judged(attempt, ended.stdout)

    def confined(self, attempt: Attempt, runner: KernelCode) -> Report:
        """Make an attempt in a sandboxed kernel."""
        if attempt.needs == "namespace" and not self.has_namespace:
            return Report(attempt.name, "", skipped="needs root and `ip` for a network namespace")
        result = runner.run(self.code_of(attempt), timeout_s=_TIMEOUT_S)
        runner.run("pass", timeout_s=_TIMEOUT_S)  # the owner writes its record after it, too
        return self.judged(attempt, result.output)


@contextmanager
def ground() -> Iterator[Ground]:
    """Make a ground, and take it away again with all its processes and addresses."""
    token = secrets.token_hex(16)
    with ExitStack() as stack:
        # Not below /tmp, which a sandbox replaces: there nothing could be found anyway.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=_place(), prefix="eg-")))
        outside = folder / "outside"
        outside.mkdir()
        (outside / "secret-of-the-ground").write_text(token, encoding="utf-8")
        (outside / "connection.json").write_text(f'{{"key": "{token}"}}', encoding="utf-8")
        layout = create_workspace(folder / "runs", RunRequest(question="agent/ask"), {}, slug="x")
        abstract, place = f"eg-{token[:8]}", str(folder / "socket")
        here, port = _listener(stack, folder / "here.log", "127.0.0.1", (), (abstract, place))
        name = _namespace(stack) if _can_make_namespaces() else ""
        logs, there = [here], 0
        if name:
            within = ("ip", "netns", "exec", name)
            log, there = _listener(stack, folder / "there.log", "0.0.0.0", within, ())  # noqa: S104
            logs.append(log)
        canary = _process(stack, ["sleep", "600"], {**os.environ, "SECRET_OF_THE_GROUND": token})
        known = {
            "secret": str(outside / "secret-of-the-ground"), "outside": str(outside),
            "connection": str(outside / "connection.json"), "home": str(Path.home()),
            "packages": sysconfig.get_path("purelib"), "probe": f"escaped-{token[:8]}",
            "package": str(Path(sciagent.__file__).parent), "owner": os.getpid(),
            "canary": canary.pid, "port": port, "there": there, "abstract": abstract,
            "socket": place, "private": PRIVATE, "public": PUBLIC,
            **LIMITS.model_dump(include={"memory_mib", "tmp_mib", "file_mib", "processes"}),
        }  # fmt: skip
        yield Ground(layout.root, outside, token, known, canary, tuple(logs), bool(name))


def attempts_in_sandbox(place: Ground, journal: Journal | None = None) -> list[Report]:
    """Make all attempts, one after the other, in one sandboxed kernel."""
    with JournalFile.open(place.workspace / "events.jsonl") as own:
        kernel = KernelSettings(workspace=place.workspace, limits=LIMITS)
        pool = KernelPool(journal or own, CodeSettings(kernel, pause_after_s=None))
        try:
            runner = pool.runner("main")
            return [place.confined(attempt, runner) for attempt in ATTEMPTS]
        finally:
            pool.close()


def _place() -> Path:
    """A folder that a sandbox would show if it showed too much."""
    candidates = (Path("/var/tmp"), Path.home(), Path.cwd())  # noqa: S108 - not the sandbox's /tmp
    return next(path for path in candidates if os.access(path, os.W_OK))


def _listener(
    stack: ExitStack, log: Path, address: str, within: tuple[str, ...], more: tuple[str, ...]
) -> tuple[Path, int]:
    log.touch()
    argv = [*within, sys.executable, "-m", _LISTENER, str(log), address, *more]
    package = str(Path(sciagent.__file__).parents[1])
    process = _process(stack, argv, {**os.environ, "PYTHONPATH": package})
    assert process.stdout is not None
    return log, int(process.stdout.readline())


def _process(
    stack: ExitStack, argv: list[str], environment: dict[str, str]
) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment)
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def _can_make_namespaces() -> bool:
    return os.geteuid() == 0 and shutil.which("ip") is not None


def _namespace(stack: ExitStack) -> str:
    """Make a network namespace with a private and a public address; empty if it is refused."""
    name = f"eg{os.getpid()}"
    ours, theirs = f"{name}a"[:15], f"{name}b"[:15]
    inside = ["netns", "exec", name, "ip"]
    steps = [
        ["netns", "add", name],
        ["link", "add", ours, "type", "veth", "peer", "name", theirs],
        ["link", "set", theirs, "netns", name],
        *(["addr", "add", f"{address}/30", "dev", ours] for address in _OURS),
        ["link", "set", ours, "up"],
        [*inside, "addr", "add", f"{PRIVATE}/30", "dev", theirs],
        [*inside, "addr", "add", f"{PUBLIC}/30", "dev", theirs],
        [*inside, "link", "set", theirs, "up"],
    ]
    stack.callback(_ip, ["netns", "del", name])
    stack.callback(_ip, ["link", "del", ours])
    return name if all(_ip(step) for step in steps) else ""


def _ip(arguments: list[str]) -> bool:
    ended = subprocess.run(["ip", *arguments], capture_output=True, check=False)
    return ended.returncode == 0


def _state(process: int) -> str:
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
        return stat.rpartition(")")[2].split()[0]
    return "X"


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(path.name.encode() + (path.read_bytes() if path.is_file() else b""))
    return found.hexdigest()

"""24 faults of endpoints, models, tools and machines: the task is done, and nothing twice.

The task writes five lines into a register by a tool that must not be repeated. The scripted
model knows only what it is sent: it goes on with the line behind the last one it was told of, and
looks into the register if the state is said to be unknown. Faults of the endpoint happen to the
third request that they fit, streamed and not. Peers that are installed do a task that only reads,
under the 14 faults that they were once measured with.
"""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peers import faults as faults_of_peers
from benchmarks.peers.peer import DEEPAGENTS, RESEARCH_HARNESS, Beside, rows_beside
from benchmarks.table import Row, present, progress
from sciagent.agent.settings import AgentSettings
from sciagent.contracts.errors import ResourceError
from sciagent.contracts.events import Event, EventBody
from sciagent.contracts.ports import Journal
from sciagent.execution.code_runner import CodeSettings, KernelPool
from sciagent.execution.session import KernelSettings
from sciagent.llm.client import sleep
from sciagent.testing.agents import ScriptedRun, library, register
from sciagent.testing.model_server import (
    Fault,
    Faults,
    Latency,
    ModelServer,
    Policy,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    calling,
    saying,
)
from sciagent.testing.star_puzzle import results_of, subagent_answer
from sciagent.tools.code import code
from sciagent.tools.context import ToolContext
from sciagent.tools.tool import Tool, tool
from sciagent.workspace.journal import JournalFile

LINES = 5
_CHILD = "from benchmarks.agent_faults import child; child({folder!r}, {base_url!r})"
URL = "https://faults.example/iron"
PAGE = "Iron melts at 1538 degrees Celsius under normal pressure."
AT = 2
OF_PEERS = {
    "http_503_burst": "503 burst", "context_length_400": "context length 400",
    "truncated_arguments": "truncated arguments",
    "double_encoded_arguments": "double-encoded arguments", "empty_arguments": "empty arguments",
    "empty_message": "empty message", "xml_call_in_content": "XML call in content",
    "call_in_reasoning": "call in reasoning", "think_only": "thought only",
    "unknown_tool": "unknown tool", "http_429": "429", "dropped_connection": "dropped connection",
    "malformed_json": "malformed JSON",
}  # fmt: skip
OF_SERVERS = {
    "dropped_stream": "dropped stream", "duplicate_ids": "duplicate identifiers",
    "parameter_end_inside_argument": "</parameter> inside an argument",
    "http_429_retry_after": "429 with Retry-After", "restart": "endpoint restart",
}  # fmt: skip


def no_pause(_seconds: float) -> None:
    """Try again at once."""


@dataclass(frozen=True)
class Result:
    """What came of the task under a fault."""

    answer: str
    lines: tuple[str, ...]

    @property
    def recovered(self) -> bool:
        """Whether the task was done, wholly and in order."""
        return "DONE" in self.answer and self.lines == tuple(line(n) for n in range(LINES))

    @property
    def executed_twice(self) -> int:
        """How many lines were written again."""
        return len(self.lines) - len(set(self.lines))


def line(number: int) -> str:
    """The text of a line of the register; some hold what looks like the end of an argument."""
    return f"line {number} <a></parameter></a> end"


def read_register(folder: Path) -> Tool:
    """Make the tool that tells what stands in the register."""

    @tool(read_only=True, approval="never", name="read_register")
    def read(_context: ToolContext) -> str:
        """Read the register."""
        return "\n".join(f"The register now ends with {each!r}." for each in written(folder))

    return read


def written(folder: Path) -> list[str]:
    """Lines of the register."""
    path = folder / "register.txt"
    return path.read_text().splitlines() if path.exists() else []


def clerk(request: ScriptedRequest) -> ScriptedAnswer:
    """Write line after line, then say that it is done."""
    told = request.results("write_line") + request.results("read_register")
    known = [n for n in range(LINES) if any(f"line {n} " in text for text in _ends(told))]
    following = max(known, default=-1) + 1
    if following == LINES:
        return saying("DONE")
    if "state unknown" in request.last:
        return calling("read_register")
    return calling("write_line", line=line(following))


def _ends(told: Sequence[str]) -> list[str]:
    return [text for text in told if "now ends with" in text]


def attempt(folder: Path, policy: Policy, faults: Faults | None = None, **given: Any) -> Result:
    """Do the task under faults of the server, and say what came of it."""
    tools = given.pop("tools", (register(folder), read_register(folder)))
    with ModelServer(policy, faults=faults) as server:
        outcome = ScriptedRun(folder, server, tools, **given).ask()
    return Result(outcome.answer, tuple(written(folder)))


def under_server_fault(folder: Path, name: str) -> list[Result]:
    """Let an endpoint break what it is known to break, streamed and not."""
    return [
        attempt(
            folder / ("streamed" if stream else "whole"), clerk, Faults(Fault(name, at=AT)),
            endpoint={"stream": stream}, pause=sleep if name == "restart" else no_pause,
        )
        for stream in (True, False)
    ]  # fmt: skip


def under_tool_exception(folder: Path) -> list[Result]:
    """Let a tool raise what nobody expects."""
    calls: Iterator[int] = iter(range(99))
    inner = register(folder)

    def run(context: ToolContext, arguments: Any) -> Any:
        if next(calls) == AT:
            raise ZeroDivisionError("the instrument is upset")
        return inner.run(context, arguments)

    tools = (replace(inner, run=run), read_register(folder))
    return [attempt(folder, clerk, tools=tools)]


def clerk_with_subagents(tasks: Sequence[int], subagent: Policy) -> Policy:
    """Delegate batches of these sizes until one comes back, then write."""

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        if request.system.startswith("You are a subagent"):
            return subagent(request)
        results = request.results("spawn_subagent")
        if results and "status=ok" in results[-1]:
            assert {each["status"] for each in results_of(results[-1])} == {"ok"}
            return clerk(request)
        task = {"task": "Find it.", "context": "", "expected_output": "a temperature"}
        size = tasks[min(len(results), len(tasks) - 1)]
        return ScriptedAnswer(calls=(ScriptedCall("spawn_subagent", {"tasks": [task] * size}),))

    return policy


def finder(request: ScriptedRequest) -> ScriptedAnswer:
    """Read the page and answer as a subagent must."""
    if not request.results("read_page"):
        return calling("read_page", url=URL)
    return subagent_answer("1538", "ok", [(URL, "Iron melts at 1538 degrees Celsius")])


def wordy_finder(request: ScriptedRequest) -> ScriptedAnswer:
    """The same, but in prose until it is sent back."""
    found = finder(request)
    prose = saying("I believe that it melts at 1538 degrees.")
    return found if found.calls or "JSON" in request.last else prose


def with_subagents(folder: Path, policy: Policy) -> list[Result]:
    """Do the task with subagents."""
    tools = (register(folder), read_register(folder), library({URL: PAGE}))
    return [attempt(folder, policy, tools=tools, settings=AgentSettings(subagents=True))]


_DEATH = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


def under_kernel_death(folder: Path) -> list[Result]:
    """Let a real kernel die in the middle of a cell; the agent goes on in a new one."""

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        told = request.results("code")
        if any("computed 42" in text for text in told):
            return clerk(request)
        return calling("code", code="print('computed', 40 + 2)" if told else _DEATH)

    workspace = folder / "kernel"
    workspace.mkdir(parents=True)
    settings = CodeSettings(KernelSettings(workspace=workspace, allow_unsandboxed=True))
    tools = (register(folder), read_register(folder), code)
    with JournalFile.create(workspace / "events.jsonl") as journal:
        pool = KernelPool(journal, settings)
        try:
            return [attempt(folder, policy, tools=tools, ports={"code": pool.runner("main")})]
        finally:
            pool.close()


class FullDisk:
    """A journal whose disk is full at one write (a `Journal`)."""

    def __init__(self, journal: Journal, at: int) -> None:
        self._journal, self._left = journal, at

    def _write(self, bodies: Sequence[EventBody], **names: str) -> list[Event]:
        self._left -= 1
        if self._left == 0:
            raise ResourceError("There is no space left on the disk.", "Make room and resume.")
        return self._journal.append_many(bodies, **names)

    def append(self, body: EventBody, **names: str) -> Event:
        """Write an event."""
        return self._write([body], **names)[0]

    def append_unwaited(self, body: EventBody, *, study: str = "") -> Event:
        """Write an event."""
        return self._write([body], study=study)[0]

    def append_many(self, bodies: Sequence[EventBody], **names: str) -> list[Event]:
        """Write several events."""
        return self._write(bodies, **names)

    def events(self) -> Iterator[Event]:
        """Read all events."""
        return self._journal.events()


def under_full_disk(folder: Path) -> list[Result]:
    """Fill the disk at each write in turn; the owner gives up, and goes on when there is room."""
    results = []
    full = True
    for at in range(1, 99):
        if not full:
            break
        here = folder / str(at)
        tools = (register(here), read_register(here))
        with ModelServer(clerk) as server:
            broken = ScriptedRun(here, server, tools, journal=partial(FullDisk, at=at))
            full = _gave_up(broken)
            answer = ScriptedRun(here, server, tools).ask().answer
        results.append(Result(answer, tuple(written(here))))
    return results


def _gave_up(run: ScriptedRun) -> bool:
    try:
        run.ask()
    except ResourceError:
        return True
    return False


def child(folder: str, base_url: str) -> None:
    """Do the task in a process that will be killed."""
    here = Path(folder)
    tools = (register(here), read_register(here))
    ScriptedRun(here, _Elsewhere(base_url), tools).ask()  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Elsewhere:
    """A scripted server in another process."""

    base_url: str

    @property
    def endpoint(self) -> Any:
        from sciagent.contracts.endpoint import Endpoint

        return Endpoint(base_url=self.base_url, model="scripted")


def under_kill(folder: Path, *, kills: int) -> list[Result]:
    """Kill the owner while the model answers, at a later answer each time, and resume."""
    results = []
    for number in range(1, kills + 1):
        here = folder / str(number)
        with ModelServer(clerk, latency=Latency(rtt_s=0.02)) as server:
            code = _CHILD.format(folder=str(here), base_url=server.base_url)
            with subprocess.Popen([sys.executable, "-c", code]) as process:
                while len(server.requests) < number and process.poll() is None:
                    time.sleep(0.002)
                time.sleep(0.004 * (number % 7))
                process.send_signal(signal.SIGKILL)
            answer = ScriptedRun(here, server, (register(here), read_register(here))).ask().answer
        results.append(Result(answer, tuple(written(here))))
    return results


def scenarios(quick: bool) -> dict[str, Callable[[Path], list[Result]]]:
    """All faults by name; the first 14 are those that peers were measured with."""
    names = {**OF_PEERS, **OF_SERVERS}
    of_servers: dict[str, Callable[[Path], list[Result]]] = {
        title: partial(under_server_fault, name=name) for name, title in names.items()
    }
    peers = {title: of_servers.pop(title) for title in OF_PEERS.values()}
    return {
        **peers,
        "tool exception": under_tool_exception,
        **of_servers,
        "batch of 6": lambda folder: with_subagents(folder, clerk_with_subagents([6, 5], finder)),
        "subagent answers no JSON": lambda folder: with_subagents(
            folder, clerk_with_subagents([2], wordy_finder)
        ),
        "kernel death": under_kernel_death,
        "disk full": under_full_disk,
        "kill -9 and resume": lambda folder: under_kill(folder, kills=2 if quick else 12),
    }


def measure(quick: bool) -> list[Row]:
    """Measure all faults."""
    rows, recovered, twice = [], [], 0
    for title, scenario in scenarios(quick).items():
        with tempfile.TemporaryDirectory() as folder:
            results = scenario(Path(folder) / "run")
        recovered.append(all(result.recovered for result in results))
        twice += sum(result.executed_twice for result in results)
        progress(f"{title}: {'recovered' if recovered[-1] else results}")
        rows.append(Row(title, "recovered", float(recovered[-1]), "1", "must be", 1.0))
    known = Row("14 of peers", "recovered", sum(recovered[:14]), "{count}")
    return [
        *rows,
        *rows_beside(known, _peers()),
        Row("all", "recovered", sum(recovered), "{count}", "must be", float(len(recovered))),
        Row("all", "executed_twice", twice, "{count}", "must be", 0.0),
    ]


def _peers() -> list[Beside]:
    return [
        beside
        for peer, quoted in ((RESEARCH_HARNESS, 12.0), (DEEPAGENTS, 5.0))
        for beside in peer.beside(
            lambda running: faults_of_peers.recovered(running, OF_PEERS, AT), quoted
        )
    ]


def main() -> int:
    """Print the figures."""
    return present("agent_faults", measure)


if __name__ == "__main__":
    sys.exit(main())

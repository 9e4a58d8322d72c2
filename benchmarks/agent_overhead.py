"""CPU and memory of an agent's turn beside a bare loop on the same SDK, written by hand.

Both run 50 turns against the same scripted server, each in a process of its own; the server
runs in a third. Each runs once to warm up; the second run is measured. The agent takes secrets
out of every message, journals it and waits for the disk; the bare loop keeps nothing. Then 100
runs at once in one process, each with facts of its own.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.table import Row, present, progress

TURNS = 50
RUNS = 100
TURNS_TOGETHER = 10
LIMIT = 1.3
RESULT_CHARACTERS = 2000
_SERVE = "from benchmarks.agent_overhead import serve; serve()"
_CODE = "from benchmarks.agent_overhead import {name}; {name}({argument!r})"


def result_of(key: str) -> str:
    """What the tool gives: the same in both loops."""
    return f"{key}: " + "lorem ipsum dolor sit amet " * (RESULT_CHARACTERS // 27)


def serve() -> None:
    """Serve the scripted model until standard input ends."""
    from sciagent.testing.model_server import (
        ModelServer,
        ScriptedAnswer,
        ScriptedRequest,
        calling,
        saying,
    )

    def policy(request: ScriptedRequest) -> ScriptedAnswer:
        task, turns = request.texts("user")[0].split()[:2]
        done = sum(each["role"] == "assistant" for each in request.messages)
        if done >= int(turns) - 1:
            return saying(f"{task} done")
        return calling("lookup", key=f"{task}-{done}")

    with ModelServer(policy) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        sys.stdin.read()


def bare(base_url: str) -> None:
    """Measure the loop as one writes it by hand on the SDK."""
    _measured(lambda: _bare(base_url))


def _bare(base_url: str) -> str:
    import openai

    tools: Any = [
        {
            "type": "function",
            "function": {
                "name": "lookup",
                "description": "Look a key up.",
                "parameters": {
                    "type": "object",
                    "properties": {"key": {"type": "string"}},
                    "required": ["key"],
                },
            },
        }
    ]
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    messages: list[Any] = [
        {"role": "system", "content": "You are a careful research agent."},
        {"role": "user", "content": f"bare {TURNS} Look everything up."},
    ]
    while True:
        content = ""
        calls: dict[int, dict[str, str]] = {}
        stream = client.chat.completions.create(
            model="scripted", messages=messages, tools=tools, stream=True,
            stream_options={"include_usage": True},
        )  # fmt: skip
        for chunk in stream:
            for choice in chunk.choices:
                content += choice.delta.content or ""
                for part in choice.delta.tool_calls or ():
                    call = calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
                    call["id"] += part.id or ""
                    if part.function:
                        call["name"] += part.function.name or ""
                        call["arguments"] += part.function.arguments or ""
        said: dict[str, Any] = {"role": "assistant", "content": content}
        if not calls:
            client.close()
            return content
        said["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls.values()
        ]
        messages.append(said)
        for call in calls.values():
            key = json.loads(call["arguments"])["key"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result_of(key)})


def agent(base_url: str) -> None:
    """Measure the same task with an agent in a workspace."""
    from sciagent.agent.settings import AgentSettings

    # No verification points, so that both send the same conversation.
    settings = AgentSettings(stretch_tokens=10**6)
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(9))
        _measured(lambda: _ask(base_url, Path(folder) / str(next(numbers)), "agent", settings))


def _ask(base_url: str, folder: Path, task: str, settings: Any, turns: int = TURNS) -> str:
    from sciagent.agent.team import Team
    from sciagent.contracts.endpoint import Endpoint
    from sciagent.contracts.events import RunStarted
    from sciagent.contracts.run import RunRequest
    from sciagent.llm.client import EndpointModel
    from sciagent.tools.context import ToolContext
    from sciagent.tools.secrets import RedactingJournal, Redactor
    from sciagent.tools.tool import tool
    from sciagent.tools.toolbox import Toolbox
    from sciagent.workspace.journal import JournalFile

    @tool(read_only=True, approval="never")
    def lookup(_context: ToolContext, key: str) -> str:
        """Look a key up."""
        return result_of(key)

    folder.mkdir(exist_ok=True)
    model = EndpointModel(Endpoint(base_url=base_url, model="scripted"))
    with JournalFile.create(folder / f"{task}.jsonl") as journal:
        journal.append(RunStarted(run=task, request=RunRequest(question="ask/agent")))
        redacting = RedactingJournal(journal, Redactor(["a-secret-of-this-machine"]))
        context = ToolContext(root=folder, journal=redacting)
        team = Team(model, Toolbox([lookup]), context, settings)
        answer = team.ask(f"{task} {turns} Look everything up.").answer
    model.close()
    return answer


def _measured(run: Callable[[], str]) -> None:
    run()
    started = time.process_time()
    answer = run()
    _report(answer, time.process_time() - started)


def _report(answer: str, cpu_s: float = 0.0) -> None:
    rss_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(json.dumps({"answer": answer, "cpu_s": cpu_s, "rss_mib": rss_mib}))


def together(base_url: str) -> None:
    """Run many agents at once in this process, and say how many kept to themselves."""
    from sciagent.agent.settings import AgentSettings

    names = [f"run{number}" for number in range(RUNS)]

    def ask(name: str) -> str:
        return _ask(base_url, Path(folder), name, AgentSettings(), TURNS_TOGETHER)

    with tempfile.TemporaryDirectory() as folder:
        with ThreadPoolExecutor(RUNS) as pool:
            answers = list(pool.map(ask, names))
        journals = [(Path(folder) / f"{name}.jsonl").read_text() for name in names]
    alone = 0
    for name, answer, text in zip(names, answers, journals, strict=True):
        others = [other for other in names if other != name and f"{other}-" in text]
        alone += answer == f"{name} done" and not others
    _report(str(alone))


@contextmanager
def _serving() -> Iterator[str]:
    command = [sys.executable, "-c", _SERVE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


def in_process(name: str, base_url: str) -> dict[str, Any]:
    """Call a function of this module in a process of its own and read what it reports."""
    code = _CODE.format(name=name, argument=base_url)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def measure(quick: bool) -> list[Row]:
    """Measure both loops in turn, several times, and the runs at once."""
    case = f"{TURNS} turns"
    figures: dict[str, dict[str, list[float]]] = {"bare": {}, "agent": {}}
    with _serving() as base_url:
        for repeat in range(3 if quick else 7):
            progress(f"{case}, repeat {repeat + 1}")
            for name, found in figures.items():
                report = in_process(name, base_url)
                assert report["answer"].endswith("done")
                for figure in ("cpu_s", "rss_mib"):
                    found.setdefault(figure, []).append(report[figure])
        progress(f"{RUNS} runs at once")
        alone = int(in_process("together", base_url)["answer"])
    cpu = {name: statistics.median(found["cpu_s"]) for name, found in figures.items()}
    rss = {name: statistics.median(found["rss_mib"]) for name, found in figures.items()}
    beside = "bare openai loop"
    return [
        Row(case, "cpu_ratio", cpu["agent"] / cpu["bare"], "1", "limit", LIMIT),
        Row(case, "rss_ratio", rss["agent"] / rss["bare"], "1", "limit", LIMIT),
        Row(
            case,
            "cpu_per_turn",
            cpu["agent"] / TURNS * 1e3,
            "ms",
            beside,
            cpu["bare"] / TURNS * 1e3,
        ),
        Row(case, "rss", rss["agent"], "MiBy", beside, rss["bare"]),
        Row(f"{RUNS} runs at once", "undisturbed", alone, "{count}", "must be", RUNS),
    ]


def main() -> int:
    """Print the figures."""
    return present("agent_overhead", measure)


if __name__ == "__main__":
    sys.exit(main())

"""Questions to scripted models about the toy field, and what came of them."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sciagent.agent.settings import AgentSettings
from sciagent.contracts.agent import AgentBudget
from sciagent.contracts.events import EffectStarted, Noted
from sciagent.runs import AskSettings, Run
from sciagent.runs.retrieval import LiteratureSettings
from sciagent.testing.model_server import ModelServer
from sciagent.testing.study_script import StudyScript
from sciagent.workspace.journal import read_events
from tests.cli.terminal import environment

QUESTION = "Where is the bowl lowest?"
SCRIPT = StudyScript("toy/parabola", tolerance=1e-9)
PLUGINS = Path(__file__).parents[1] / "plugins"


def settings(server: ModelServer, **given: Any) -> AskSettings:
    """Ask a scripted server; nobody is asked for approval unless that is given."""
    agent = {name: given.pop(name) for name in ("verification", "subagents") if name in given}
    budget = AgentBudget(**given.pop("budget", {}))
    return AskSettings(
        question=given.pop("question", QUESTION),
        endpoint=server.endpoint.model_copy(update={"attempts": 2, **given.pop("endpoint", {})}),
        agent=AgentSettings(budget=budget, **agent),
        approval=given.pop("approval", "auto"),
        literature=given.pop("literature", LiteratureSettings(mode="offline")),
        **given,
    )


def bodies(run: Run | Path, kind: type[Any]) -> list[Any]:
    """Bodies of all events of a kind."""
    journal = run / "events.jsonl" if isinstance(run, Path) else run.layout.journal
    return [event.body for event in read_events(journal) if isinstance(event.body, kind)]


def notes(run: Run | Path) -> list[str]:
    return [body.text for body in bodies(run, Noted)]


def effects(run: Run | Path) -> list[str]:
    """Identifiers of all uses of tools with effects, as often as each began."""
    return [body.effect for body in bodies(run, EffectStarted)]


def all_text(folder: Path) -> str:
    """All that stands in the files of a workspace."""
    texts = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\n".join(texts).decode("utf-8", "replace")


def workspace(out: Path) -> Path:
    """The one workspace below a folder."""
    (found,) = (path for path in out.iterdir() if not path.name.startswith("."))
    return found


def apart(*arguments: str, **variables: str) -> "subprocess.Popen[str]":
    """Type a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "sciagent.cli", *arguments],
        env=environment(PLUGINS, **variables), text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_until(true: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    """Wait for something that a process does; it must not end before."""
    while not true():
        if process.poll() is not None:
            raise AssertionError(f"It ended with {process.returncode}: {process.communicate()}")
        time.sleep(0.01)


def journaled(out: Path) -> int:
    """How many events stand in the journal of the one workspace below a folder, if it is there."""
    return sum(path.read_bytes().count(b"\n") for path in out.glob("[!.]*/events.jsonl"))

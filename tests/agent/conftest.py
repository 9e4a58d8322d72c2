from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sciagent.agent.settings import AgentSettings
from sciagent.contracts.agent import AgentBudget
from sciagent.testing.agents import ScriptedRun, library, register
from sciagent.testing.model_server import ModelServer, Policy
from tests.agent.scripts import PAGES

MakeRun = Callable[..., ScriptedRun]


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[MakeRun]:
    """Make runs over scripted models, with the tools `read_page` and `write_line`."""
    with ExitStack() as stack:

        def make(policy: Policy, **given: Any) -> ScriptedRun:
            server = given.pop("server", None)
            if server is None:
                server = stack.enter_context(ModelServer(policy, **given.pop("behaves", {})))
            folder = given.pop("folder", tmp_path / "run")
            tools = given.pop("tools", (library(PAGES), register(folder)))
            endpoint = given.pop("endpoint", {})
            journal = given.pop("journal", lambda each: each)
            settings = AgentSettings(budget=AgentBudget(**given.pop("budget", {})), **given)
            return ScriptedRun(folder, server, tools, settings, endpoint, journal=journal)

        yield make

"""An agent in a folder, with a scripted model, that can be asked, cut off and asked again."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sciagent.agent.settings import AgentSettings
from sciagent.agent.team import Team
from sciagent.contracts.agent import AgentOutcome
from sciagent.contracts.conversation import Message
from sciagent.contracts.errors import InputError
from sciagent.contracts.events import Event, EventBody, MessageAdded, OwnerStarted, RunStarted
from sciagent.contracts.literature import Source
from sciagent.contracts.model import sha256_text
from sciagent.contracts.ports import Journal
from sciagent.contracts.run import RunRequest
from sciagent.llm.client import EndpointModel
from sciagent.testing.model_server import ModelServer
from sciagent.tools.approval import ApprovalRule
from sciagent.tools.boundary import Boundary
from sciagent.tools.context import ToolContext
from sciagent.tools.tool import Tool, ToolOutput, tool
from sciagent.tools.toolbox import Toolbox
from sciagent.workspace.inbox import InboxFolder
from sciagent.workspace.journal import JournalFile, load_events
from sciagent.workspace.layout import Layout


def library(pages: Mapping[str, str]) -> Tool:
    """Make a tool `read_page` that knows some pages by their address."""

    @tool(read_only=True, approval="never", outside=True)
    def read_page(context: ToolContext, url: str) -> ToolOutput:
        """Read one page as text.

        Parameters
        ----------
        url
            Address of the page.
        """
        if context.cancelled():
            raise InputError("The reading was stopped.", "Read it later.")
        if url not in pages:
            raise InputError(f"There is no page {url!r}.", "Check the address.")
        text = pages[url]
        source = Source(url=url, title=url, sha256=sha256_text(text), text=text)
        return ToolOutput(text, sources=(source,))

    return read_page


def register(folder: Path) -> Tool:
    """Make a tool `write_line`, not read-only, that adds a line to ``register.txt``."""

    @tool(read_only=False, approval="never")
    def write_line(_context: ToolContext, line: str) -> str:
        """Add a line to the register.

        Parameters
        ----------
        line
            What it says.
        """
        with (folder / "register.txt").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        return f"The register now ends with {line!r}."

    return write_line


@dataclass(frozen=True)
class ScriptedRun:
    """An agent's run over a scripted server.

    Attributes
    ----------
    folder
        The workspace.
    server
        The scripted model, running.
    tools, settings
        Of the main agent.
    endpoint
        Fields of the endpoint that differ from the server's own, such as `stream`.
    ports
        Fields of the tools' context, such as `code`.
    journal
        Wraps the journal, so that a test can make it fail.
    pause
        Waits between two tries of a call; by default it does not.
    """

    folder: Path
    server: ModelServer
    tools: tuple[Tool, ...] = ()
    settings: AgentSettings = field(default_factory=AgentSettings)
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    ports: Mapping[str, Any] = field(default_factory=dict)
    journal: Callable[[Journal], Journal] = lambda journal: journal
    pause: Callable[[float], None] = lambda _: None

    @property
    def layout(self) -> Layout:
        """Paths of the workspace."""
        return Layout(self.folder)

    def ask(self, question: str = "What is known?") -> AgentOutcome:
        """Ask the main agent, or let it go on where the journal stands."""
        with self.team() as team:
            return team.ask(question)

    @contextmanager
    def team(self) -> Iterator[Team]:
        """Own the workspace and make its agents."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.layout.journal.exists():
            with JournalFile.create(self.layout.journal) as fresh:
                fresh.append(RunStarted(run="scripted", request=RunRequest(question="ask/agent")))
        endpoint = self.server.endpoint.model_copy(update=dict(self.endpoint))
        model = EndpointModel(endpoint, pause=self.pause, seed=0, root=self.folder)
        with JournalFile.open(self.layout.journal) as journal:
            journal.append(OwnerStarted(owner="scripted"))
            context = ToolContext(
                root=self.folder, journal=self.journal(journal), boundary=Boundary("5f2c9a01"),
                approval=ApprovalRule(mode="auto"), **self.ports,
            )  # fmt: skip
            inbox = InboxFolder(self.layout.inbox)
            try:
                yield Team(model, Toolbox(self.tools), context, self.settings, inbox)
            finally:
                model.close()

    @property
    def events(self) -> list[Event]:
        """All events of the journal."""
        return load_events(self.layout.journal)

    def bodies(self, span: str = "main") -> list[EventBody]:
        """Bodies of the events of one agent."""
        return [event.body for event in self.events if event.span == span]

    def messages(self, span: str = "main") -> list[Message]:
        """Messages of one agent, none left out."""
        return [body.message for body in self.bodies(span) if isinstance(body, MessageAdded)]

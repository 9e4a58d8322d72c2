"""What every agent of a run is made of, whether it answers a question or drives a study."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sciagent.agent.settings import AgentSettings
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.events import Noted
from sciagent.contracts.ports import CodeRunner, Literature, Model
from sciagent.execution.code_runner import CodeSettings, KernelPool
from sciagent.execution.network import only_endpoint, place_of
from sciagent.execution.sandbox import sandbox_mode
from sciagent.execution.session import KernelSettings
from sciagent.llm.client import EndpointModel
from sciagent.runs.configuration import Configuration
from sciagent.runs.ownership import Owned
from sciagent.runs.retrieval import literature_of
from sciagent.runs.setting_names import refuse_keys
from sciagent.runs.surroundings import Surroundings, redactor_for
from sciagent.tools.approval import ApprovalRule
from sciagent.tools.boundary import Boundary
from sciagent.tools.context import ToolContext
from sciagent.tools.inbox_approval import InboxApproval
from sciagent.tools.ports import Studies
from sciagent.tools.secrets import RedactingJournal
from sciagent.workspace.inbox import InboxFolder
from sciagent.workspace.journal import read_events


@dataclass(frozen=True, slots=True)
class AgentGround:
    """Where the agents of a run stand: its workspace, its configuration, what is around.

    Attributes
    ----------
    mine
        The run, which this process owns.
    configuration
        The endpoint, and how the agents may work.
    surroundings
        Ports, and who is asked and told.
    """

    mine: Owned
    configuration: Configuration
    surroundings: Surroundings

    @property
    def inbox(self) -> InboxFolder:
        """Where people leave commands."""
        return InboxFolder(self.mine.layout.inbox)

    @property
    def settings(self) -> AgentSettings:
        """Of the main agent; the window of the endpoint is that of the agent."""
        agent, window = self.configuration.agent, self.configuration.endpoint.context_tokens
        if window is None or agent.context_tokens is not None:
            return agent
        return agent.model_copy(update={"context_tokens": window})

    def stop_waits(self) -> bool:
        """Whether someone asks to stop; the command is left for the agent to take."""
        stop = any(each.command == "stop" for each in self.inbox.take())
        return stop or self.surroundings.cancelled()

    @contextmanager
    def model(self) -> Iterator[Model]:
        """Reach the model, and let go of it at the end."""
        if self.surroundings.model is not None:
            yield self.surroundings.model
            return
        model = EndpointModel(self.configuration.endpoint, root=self.mine.layout.root)
        try:
            yield model
        finally:
            model.close()

    @contextmanager
    def confined(self) -> Iterator[None]:
        """Refuse and journal all connections but those to the endpoint, if that is asked for."""
        configuration = self.configuration
        only = configuration.endpoint.base_url if configuration.local_only else None
        with only_endpoint(only, self._note_refused):
            yield

    def _note_refused(self, target: str) -> None:
        text = f"A connection to {target} was refused: the run is local only."
        self.mine.journal.append(Noted(text=text, level="warning"))

    @contextmanager
    def code(self, agent: str) -> Iterator[CodeRunner | None]:
        """Let agents run code in sandboxed kernels, which end with the ``with`` block.

        Where there is no sandbox they cannot, and the journal says why.
        """
        around = self.surroundings
        if around.code is not None:
            yield around.code
            return
        mode = sandbox_mode()
        if not mode.is_confined and not around.allow_unsandboxed:
            text = f"No code is run: there is no sandbox here ({mode.detail}). Do: {mode.remedy}."
            self.mine.journal.append(Noted(text=text, level="warning"))
            yield None
            return
        if not mode.is_confined:
            text = f"A person agreed that {mode.detail}."
            self.mine.journal.append(Noted(text=text, level="warning"))
        root, request = self.mine.layout.root, self.mine.request
        inputs = tuple(root / each.path for files in request.inputs.values() for each in files)
        kernel = KernelSettings(
            workspace=root, read_only=(*inputs, *around.readable), threads=request.threads,
            allow_unsandboxed=around.allow_unsandboxed,
        )  # fmt: skip
        kernel.require_existing()
        journal = RedactingJournal(self.mine.journal, redactor_for(self.configuration.endpoint))
        pool = KernelPool(journal, CodeSettings(kernel, cancelled=self.stop_waits))
        try:
            yield pool.runner(agent)
        finally:
            pool.close()

    @contextmanager
    def literature(self) -> Iterator[Literature | None]:
        """Open what can be searched, and let go of it at the end; none if there is nothing."""
        if self.surroundings.literature is not None:
            yield self.surroundings.literature
            return
        configuration, root = self.configuration, self.mine.layout.root
        settings, local_only = configuration.literature, configuration.local_only
        with literature_of(settings, root, local_only=local_only) as literature:
            yield literature

    def context(
        self,
        cancelled: Callable[[], bool],
        studies: Studies | None = None,
        code: CodeRunner | None = None,
        literature: Literature | None = None,
    ) -> ToolContext:
        """Make what tools act on.

        The fences are the same whenever the run is resumed, so that the prompt stays as it was.
        """
        redactor = redactor_for(self.configuration.endpoint)
        journal, around = self.mine.journal, self.surroundings
        by_inbox = InboxApproval(self.inbox, journal, self.stop_waits)
        begun = next(read_events(self.mine.layout.journal))
        return ToolContext(
            root=self.mine.layout.root,
            journal=RedactingJournal(journal, redactor),
            literature=literature or around.literature,
            code=code or around.code,
            studies=studies,
            ask_approval=around.ask_approval or by_inbox,
            approval=ApprovalRule(self.configuration.approval),
            cancelled=cancelled,
            boundary=Boundary.seeded(begun.hash),
            redactor=redactor,
            takes_images=self.configuration.endpoint.images,
        )


def require_usable(endpoint: Endpoint) -> None:
    """Refuse an endpoint whose address is none, or that holds a key.

    Raises
    ------
    InputError
        Before anything is written.
    """
    place_of(endpoint.base_url)
    refuse_keys(endpoint.model_dump(mode="json"), "The endpoint")

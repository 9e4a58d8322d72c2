"""Makes the agents of a run: the main one and those that it delegates to."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sciagent.agent.asking import Asker
from sciagent.agent.calls import Calls
from sciagent.agent.conversation import Conversation, SpanRecord, load_conversations
from sciagent.agent.diagnosis import diagnose_tool
from sciagent.agent.evidence import RECORD_REVIEW, SourceTexts, StoredTexts
from sciagent.agent.instructions import instruction
from sciagent.agent.loop import Agent
from sciagent.agent.reviewing import review_tool
from sciagent.agent.settings import AgentSettings
from sciagent.agent.steering import Steering
from sciagent.agent.subagents import SPAWN, Subagents
from sciagent.agent.window import PromptWindow
from sciagent.contracts.agent import AgentBudget, AgentOutcome
from sciagent.contracts.ports import Inbox, Model
from sciagent.tools.context import ToolContext
from sciagent.tools.history import recall
from sciagent.tools.toolbox import Toolbox

MAIN = "main"


@dataclass(slots=True)
class Team:
    """All agents of one run: they share its model, its tools and its journal.

    Attributes
    ----------
    model, toolbox, context
        Who is asked, with which tools, on what.
    settings
        Of the main agent.
    inbox
        Where people steer the main agent.
    heard
        Is told the pieces of the main agent's answers as they arrive.
    """

    model: Model
    toolbox: Toolbox
    context: ToolContext
    settings: AgentSettings = field(default_factory=AgentSettings)
    inbox: Inbox | None = None
    heard: Callable[[str, str], None] | None = None
    _known: dict[str, Conversation] = field(init=False)
    _stored: StoredTexts = field(init=False)

    def __post_init__(self) -> None:
        self._known = load_conversations(self.context.journal.events())
        self._stored = StoredTexts(self.context.root)

    def ask(self, question: str) -> AgentOutcome:
        """Let the main agent answer a question, or go on with it where the journal stands."""
        agent = self.main()
        instructions = agent.calls.instructions("system")
        if self.settings.subagents:
            instructions = f"{instructions}\n\n{instruction('orchestration')}"
        return agent.run(question, instructions)

    def main(self) -> Agent:
        """Make the main agent."""
        steering = Steering(self.inbox, self.context.cancelled)
        record, toolbox = self.record(MAIN), self.toolbox
        if self.settings.subagents:
            subagents = Subagents(
                record, self.settings,
                make=lambda span, budget: self._subagent(span, budget, steering),
                tools=self._names_for_subagents(),
            )  # fmt: skip
            toolbox = toolbox.including(subagents.tool())
        if self.context.studies is not None:
            toolbox = toolbox.including(diagnose_tool(self))
        return self.agent(record, toolbox, self.settings, steering)

    def agent(
        self,
        record: SpanRecord,
        toolbox: Toolbox,
        settings: AgentSettings,
        steering: Steering | None = None,
    ) -> Agent:
        """Make an agent over a record; it gets `record_review` and `recall` besides its tools.

        Without a steering of its own it is stopped by whatever stops the run.
        """
        steering = steering or Steering(cancelled=self.context.cancelled)
        conversation = record.conversation
        own = self.context.child(conversation.span) if record.parent else self.context
        context = replace(
            own, span=conversation.span, parent=record.parent, cancelled=steering.stop_asked
        )
        context.taint.learn(conversation.span, conversation.messages)
        texts = SourceTexts(self._stored.text, conversation.messages)
        retrieving = () if recall.name in toolbox.names else (recall,)
        toolbox = toolbox.including(review_tool(record, texts), *retrieving)
        calls = Calls(toolbox, context)
        window = PromptWindow(conversation, settings, calls.schema_characters, calls.fenced)
        heard = None if record.parent else self.heard
        asker = Asker(self.model, window, record, settings, steering, texts, heard)
        return Agent(asker, calls, record, settings, steering)

    def known(self, span: str) -> Conversation | None:
        """Return the conversation of a span, if it has begun."""
        return self._known.get(span)

    def spans(self, parent: str) -> list[str]:
        """Name the spans below another."""
        return [span for span in self._known if span.startswith(f"{parent}/")]

    def record(self, span: str, parent: str = "") -> SpanRecord:
        """Take up the conversation of a span, or begin one."""
        conversation = self._known.setdefault(span, Conversation(span))
        return SpanRecord(self.context.journal, conversation, parent)

    def _tools_of_subagents(self) -> Toolbox:
        """The tools of subagents; they can never delegate themselves."""
        inherited = self.toolbox.without(SPAWN, RECORD_REVIEW)
        narrowed = self.settings.subagent_tools
        return inherited if narrowed is None else inherited.only(narrowed)

    def _names_for_subagents(self) -> list[str]:
        names = [*self._tools_of_subagents().names, RECORD_REVIEW]
        return names if recall.name in names else [*names, recall.name]

    def _subagent(self, span: str, budget: AgentBudget, steering: Steering) -> Agent:
        settings = self.settings.model_copy(update={"budget": budget, "subagents": False})
        record = self.record(span, parent=MAIN)
        inherited = Steering(cancelled=steering.stop_asked)
        return self.agent(record, self._tools_of_subagents(), settings, inherited)

"""`spawn_subagent`: a batch of tasks given to subagents that see nothing but their task."""

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue, ValidationError

from sciagent.agent.answers import subagent_result
from sciagent.agent.conversation import Delegation, SpanRecord
from sciagent.agent.evidence import UNKNOWN, checked_result
from sciagent.agent.settings import AgentSettings
from sciagent.contracts.agent import AgentBudget, SubagentResult, SubagentTask
from sciagent.contracts.conversation import Usage
from sciagent.contracts.errors import InputError, LimitError
from sciagent.contracts.events import Delegated, DelegationReturned
from sciagent.contracts.tool import ToolSpec
from sciagent.tools.context import ToolContext
from sciagent.tools.tool import Tool, ToolOutput

if TYPE_CHECKING:
    from sciagent.agent.loop import Agent

_LOG = logging.getLogger(__name__)
SPAWN = "spawn_subagent"
_ALIKE = 0.5
_SHOWN = 2000

MakeSubagent = Callable[[str, AgentBudget], "Agent"]
"""Makes the agent of a span with its budget."""


@dataclass(slots=True)
class Subagents:
    """Sends out batches of subagents and brings their checked results back.

    Attributes
    ----------
    record
        Of the agent that delegates; it is the ledger of all delegations.
    settings
        Limits of a batch.
    make
        Makes a subagent.
    tools
        Names of the tools that subagents really get.
    """

    record: SpanRecord
    settings: AgentSettings
    make: MakeSubagent
    tools: Sequence[str]
    _served: set[str] = field(default_factory=set)
    _opening: threading.Lock = field(default_factory=threading.Lock)

    def tool(self) -> Tool:
        """Make the tool; to register it turns delegation on."""
        spec = ToolSpec(
            name=SPAWN, description=self._description(), parameters=SCHEMA,
            read_only=True, approval="never",
        )  # fmt: skip
        return Tool(spec=spec, run=self._run, origin="subagent", check=self._check)

    def _description(self) -> str:
        tools = ", ".join(self.tools) or "none"
        return (
            "Give tasks to subagents that work at the same time, each alone: a subagent sees only "
            "its own task, not this conversation nor the other tasks. Returns one result for each "
            "task, in their order. "
            f"At most {self.settings.max_tasks_per_spawn} tasks in one call, and "
            f"{self.settings.subagent_max_turns} turns for each. "
            f"Subagents have these tools: {tools}."
        )

    def _check(self, arguments: Mapping[str, JsonValue]) -> None:
        tasks, most = _tasks(arguments), self.settings.max_tasks_per_spawn
        if len(tasks) > most:
            raise InputError(
                f"The batch has {len(tasks)} tasks, but at most {most} are allowed; nothing was "
                "started.",
                "Send fewer tasks, or several batches one after the other.",
            )

    def _run(self, context: ToolContext, arguments: Mapping[str, JsonValue]) -> ToolOutput:
        delegation = self._opened(_tasks(arguments))
        places = range(len(delegation.body.tasks))
        missing = [place for place in places if place not in delegation.results]
        if missing:
            turns = self.settings.subagent_max_turns
            used = self.record.conversation.used
            share = used.share(self.settings.budget, len(missing), turns)
            with ThreadPoolExecutor(len(missing)) as pool:
                list(pool.map(lambda place: self._carry_out(delegation, place, share), missing))
        if len(delegation.results) < len(places):
            raise LimitError("The subagents were stopped before all had returned.")
        results = [delegation.results[place].model_dump(mode="json") for place in places]
        text = json.dumps(results, ensure_ascii=False, separators=(",", ":"))
        return ToolOutput(text, tainted=context.taint.in_workspace)

    def _opened(self, tasks: tuple[SubagentTask, ...]) -> Delegation:
        """Find the batch that an earlier owner sent out for this call, or send a new one."""
        with self._opening:
            conversation = self.record.conversation
            for delegation in conversation.open_delegations:
                if delegation.body.tasks == tasks and delegation.body.batch not in self._served:
                    break
            else:
                batch = str(len(conversation.delegations) + 1)
                body = Delegated(batch=batch, composition=composition_of(tasks), tasks=tasks)
                self.record.write(body)
                delegation = conversation.delegations[-1]
            self._served.add(delegation.body.batch)
            return delegation

    def _carry_out(self, delegation: Delegation, place: int, budget: AgentBudget) -> None:
        batch = delegation.body.batch
        span = f"{self.record.conversation.span}/{batch}.{place + 1}"
        usage = Usage()
        try:
            agent = self.make(span, budget)
            result = _result_of(agent, delegation.body.tasks[place])
            usage = agent.conversation.usage
        except Exception as error:  # noqa: BLE001 # process boundary: its siblings go on
            _LOG.warning("The subagent %s failed", span, exc_info=True)
            result = _unresolved(f"The subagent failed: {error}")
        if result is not None:
            self.record.write(
                DelegationReturned(batch=batch, place=place, result=result, usage=usage)
            )


def _result_of(agent: "Agent", task: SubagentTask) -> SubagentResult | None:
    """Let a subagent work, and check what it says; none if it was stopped."""
    agent.accepts = _fault
    outcome = agent.run(task_text(task), agent.calls.instructions("subagent"))
    if outcome.status == "stopped":
        return None
    result = subagent_result(outcome.answer)
    if isinstance(result, str):
        partial = f"Partial findings: {outcome.answer[:_SHOWN]}"
        return _unresolved(outcome.reason or result, partial)
    if outcome.reason:
        issues = (*result.unresolved_issues, outcome.reason)
        result = result.model_copy(update={"unresolved_issues": issues})
    return checked_result(result, agent.asker.texts)


def _fault(text: str) -> str:
    result = subagent_result(text)
    return result if isinstance(result, str) else ""


def _unresolved(*issues: str) -> SubagentResult:
    return SubagentResult(answer=UNKNOWN, status="insufficient_evidence", unresolved_issues=issues)


def task_text(task: SubagentTask) -> str:
    """All that a subagent is told."""
    return (
        f"# Task\n\n{task.task}\n\n# Context\n\n{task.context}\n\n"
        f"# Expected output\n\n{task.expected_output}"
    )


def composition_of(tasks: Sequence[SubagentTask]) -> Literal["exploratory", "constructive"]:
    """Tell which of the two ways a batch goes, for the record.

    Tasks that look for the same output from the same context, or that share at least half of
    their words, are rival attempts at one question; others are parts of an answer.
    """
    if len(tasks) > 1 and len({(task.context, task.expected_output) for task in tasks}) == 1:
        return "exploratory"
    words = [set(task.task.casefold().split()) for task in tasks]
    shared, together = set[str].intersection(*words), set[str].union(*words)
    alike = len(tasks) > 1 and len(shared) >= _ALIKE * len(together)
    return "exploratory" if alike else "constructive"


def _tasks(arguments: Mapping[str, JsonValue]) -> tuple[SubagentTask, ...]:
    given = arguments.get("tasks")
    if set(arguments) != {"tasks"} or not isinstance(given, list) or not given:
        raise InputError(
            f"{SPAWN} needs `tasks`, a list of at least one task.",
            "Each has the strings task, context and expected_output.",
        )
    try:
        return tuple(SubagentTask.model_validate(each) for each in given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"A task cannot be used: {place or 'it'}: {first['msg']}.",
            "Each has the strings task, context and expected_output.",
        ) from error


_TEXTS: dict[str, JsonValue] = {
    name: {"type": "string", "description": field_.description or ""}
    for name, field_ in SubagentTask.model_fields.items()
}
SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "tasks": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {**_TEXTS},
                "required": list(_TEXTS),
                "additionalProperties": False,
            },
        }
    },
    "required": ["tasks"],
    "additionalProperties": False,
}

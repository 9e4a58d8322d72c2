"""`diagnose`: why one trial failed, found out by somebody who sees nothing but that trial."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import JsonValue

from sciagent.agent.answers import json_object
from sciagent.agent.conversation import SpanRecord
from sciagent.agent.loop import Agent
from sciagent.agent.proposals import action_fault, proposal_from, trial_line
from sciagent.agent.settings import AgentSettings
from sciagent.agent.subagents import task_text
from sciagent.contracts.agent import SubagentResult, SubagentTask
from sciagent.contracts.errors import InputError
from sciagent.contracts.events import Delegated, DelegationReturned
from sciagent.contracts.study import ActionSpec, Proposal
from sciagent.contracts.tool import ToolSpec
from sciagent.contracts.tree import Trial
from sciagent.tools.context import ToolContext
from sciagent.tools.tool import Tool, ToolOutput
from sciagent.tools.toolbox import Toolbox
from sciagent.workspace.layout import Layout

_SPAN = "diagnosis"
_CHARACTERS = 6000


class AgentMaker(Protocol):
    """What makes agents: the team of a run."""

    settings: AgentSettings

    def record(self, span: str, parent: str = "") -> SpanRecord:
        """Take up the conversation of a span, or begin one."""
        ...

    def agent(self, record: SpanRecord, toolbox: Toolbox, settings: AgentSettings) -> Agent:
        """Make an agent over a record."""
        ...


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why a trial failed, and what to try instead from the same parent, if anything."""

    cause: str
    proposal: Proposal | None


def built_in_diagnosis(trial: Trial, offered: Sequence[ActionSpec]) -> Diagnosis:
    """Diagnose without a model, by the kind of the error and the correction that its field names.

    Parameters
    ----------
    trial
        The trial that failed.
    offered
        Actions from its parent.
    """
    outcome = trial.outcome
    error = None if outcome is None else outcome.error
    if outcome is None or error is None:
        return Diagnosis("The trial did not fail.", None)
    action = outcome.correction
    if action is None and error.kind == "random":
        action = trial.proposal.action
    cause = f"{error.message} {error.remedy}".strip()
    if action is None or action_fault(action, offered):
        return Diagnosis(cause, None)
    again = Proposal(
        parent=trial.proposal.parent, action=action, rationale=cause,
        hypothesis=f"The failure of trial {trial.number} was of the kind {error.kind!r}.",
        expected="The trial succeeds.",
    )  # fmt: skip
    return Diagnosis(cause, again)


def diagnose(
    trial: Trial, offered: Sequence[ActionSpec], team: AgentMaker | None, *, code: str = ""
) -> Diagnosis:
    """Diagnose a failed trial by a subagent with a fresh context; without a model, by rules.

    Parameters
    ----------
    trial
        The trial; the subagent sees its action, outcome and error.
    offered
        Actions from its parent.
    team
        Makes the subagent; none where there is no model.
    code
        Code and output of the trial, if it has any.
    """
    rules = built_in_diagnosis(trial, offered)
    if team is None or trial.outcome is None or trial.outcome.error is None:
        return rules
    task = _task(trial, offered, code)
    ledger, batch = team.record(_SPAN), str(trial.number)
    known = {each.body.batch: each for each in ledger.conversation.delegations}
    if batch not in known:
        ledger.write(Delegated(batch=batch, composition="diagnosis", tasks=(task,)))
    agent = team.agent(
        team.record(f"{_SPAN}/{trial.number}", parent=_SPAN), Toolbox(()), team.settings
    )
    agent.accepts = lambda text: _fault(text, trial, offered)
    outcome = agent.run(task_text(task), agent.calls.instructions("diagnosis"))
    found = rules
    if outcome.status == "completed":
        found = _found(json_object(outcome.answer) or {}, trial)
    if batch not in known or not known[batch].results:
        result = SubagentResult(answer=found.cause, status="ok" if found.proposal else "unknown")
        usage = agent.conversation.usage
        ledger.write(DelegationReturned(batch=batch, place=0, result=result, usage=usage))
    return found


def _task(trial: Trial, offered: Sequence[ActionSpec], code: str) -> SubagentTask:
    context: dict[str, Any] = {
        "trial": trial_line(trial),
        "error": trial.outcome and trial.outcome.error and trial.outcome.error.model_dump(),
        "offered_actions": [each.model_dump(mode="json") for each in offered],
        "code_and_output": code[-_CHARACTERS:],
    }
    return SubagentTask(
        task=f"Find out why trial {trial.number} failed.",
        context=json.dumps(context, ensure_ascii=False, indent=1),
        expected_output="The cause, and one action to try instead from the same parent.",
    )


def _fault(text: str, trial: Trial, offered: Sequence[ActionSpec]) -> str:
    content = json_object(text)
    if content is None or not str(content.get("cause") or "").strip():
        return "Give the JSON object that was asked for, only, with a `cause`."
    if not content.get("action"):
        return ""
    try:
        return action_fault(proposal_from(content, trial.proposal.parent).action, offered)
    except ValueError:
        return "`action` must be a text and `arguments` an object."


def _found(content: Mapping[str, Any], trial: Trial) -> Diagnosis:
    cause = str(content["cause"])
    if not content.get("action"):
        return Diagnosis(cause, None)
    told = {**content, "parent": trial.proposal.parent, "rationale": cause}
    return Diagnosis(cause, proposal_from(told, trial.proposal.parent))


def code_of(layout: Layout, trial: int) -> str:
    """Read the code and the end of the output that a trial left in its folder."""
    folder = layout.trial(trial)
    files = [*sorted(folder.glob("*.py")), *sorted(folder.glob("*.log"))]
    return "\n".join(f"# {path.name}\n{_end_of(path)}" for path in files)


def _end_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")[-_CHARACTERS:]


def diagnose_tool(team: AgentMaker) -> Tool:
    """Make the tool `diagnose` for an agent that drives the studies of a run."""

    def run(context: ToolContext, arguments: Mapping[str, JsonValue]) -> ToolOutput:
        if context.studies is None:
            raise InputError("This run has no studies.", "Look at list_questions.")
        study, number = str(arguments.get("study")), arguments.get("trial")
        view = context.studies.view(study)
        trial = next((each for each in view.trials if each.number == number), None)
        if trial is None:
            raise InputError(f"{study} has no trial {number}.", "Look at inspect_study.")
        offered = context.studies.actions(study, trial.proposal.parent)
        found = diagnose(trial, offered, team, code=code_of(context.layout, trial.number))
        told = {
            "cause": found.cause,
            "proposal": found.proposal and found.proposal.model_dump(mode="json"),
        }
        return ToolOutput(json.dumps(told, ensure_ascii=False), tainted=context.taint.in_workspace)

    return Tool(SPEC, run, origin="subagent")


SPEC = ToolSpec(
    name="diagnose",
    description=(
        "Let someone who sees nothing but one failed trial find out why it failed. Returns the "
        "cause and, if there is one, a proposal to try instead."
    ),
    parameters={
        "type": "object",
        "properties": {"study": {"type": "string"}, "trial": {"type": "integer"}},
        "required": ["study", "trial"],
    },
    read_only=True,
    approval="never",
)

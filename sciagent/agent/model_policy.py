"""A model as the one who proposes: the policy `model` of a study."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sciagent.agent.answers import json_object
from sciagent.agent.conversation import Conversation
from sciagent.agent.limits import Used
from sciagent.agent.proposals import action_fault, proposal_from, trial_line
from sciagent.agent.team import Team
from sciagent.contracts.agent import AgentBudget, AgentOutcome
from sciagent.contracts.conversation import Usage
from sciagent.contracts.events import Noted
from sciagent.contracts.ports import Policy, Problem
from sciagent.contracts.study import Abstain, Batch, Finish, Proposal
from sciagent.contracts.tree import StudyView
from sciagent.study.loop import StudyStopped
from sciagent.tools.toolbox import Toolbox

_TRIALS = 30
_FAILURES = 3
_TURNS = 20


@dataclass(slots=True)
class ModelPolicy:
    """Asks a model what to try next, and the built-in policy where the model cannot say.

    The model sees the view of the study and nothing else. Each question is an agent of its own,
    whose span names the study and the number of trials; one that was answered before a crash is
    not asked again. A model that hands the tree back is not asked any more, and neither is one
    that could not answer three times in a row, or whose tokens are used up.

    Attributes
    ----------
    problem, builtin
        What is studied, and the policy that needs no model.
    team
        Makes the agents. Its context's `cancelled` must be the one that takes stop commands
        for the study.
    toolbox
        Reading tools that the model may use before it answers; none by default.
    """

    problem: Problem
    builtin: Policy
    team: Team
    toolbox: Toolbox = field(default_factory=lambda: Toolbox(()))
    _failures: int = 0
    _handed_back: bool = False

    def propose(self, view: StudyView) -> Batch | Finish | Abstain:
        """Ask what to try next.

        Raises
        ------
        StudyStopped
            If a stop command came while the model was asked.
        """
        if self._failures >= _FAILURES or self._is_handed_back(view.study):
            return self.builtin.propose(view)
        used, budget = self._used(view.study), self.team.settings.budget
        if limit := used.reached(budget):
            return self._fall_back(view, limit)
        outcome = self._ask(view, used.share(budget, 1, _TURNS))
        if outcome.status == "stopped":
            raise StudyStopped
        content = json_object(outcome.answer) if outcome.status != "failed" else None
        if content is None or self._fault(view, outcome.answer):
            self._failures += 1
            return self._fall_back(view, f"The model gave no proposal: {outcome.reason}")
        self._failures = 0
        if "hand_back" in content:
            self._handed_back = True
            return self._fall_back(view, f"The model hands back: {content['hand_back']}")
        return self._read(view, content)

    def _used(self, study: str) -> Used:
        """Add up what all questions of a study used; its wall time is the study's own limit."""
        known = [self.team.known(span) for span in self.team.spans(_prefix(study))]
        usage = sum((each.usage for each in known if each is not None), Usage())
        return Used(turns=0, usage=usage, wall_s=0.0)

    def _ask(self, view: StudyView, budget: AgentBudget) -> AgentOutcome:
        record = self.team.record(self._span(view), parent=_prefix(view.study))
        settings = self.team.settings.model_copy(update={"budget": budget})
        agent = self.team.agent(record, self.toolbox, settings)
        agent.asker.heard = self.team.heard
        agent.accepts = lambda text: self._fault(view, text)
        return agent.run(self._task(view), agent.calls.instructions("policy"))

    def _span(self, view: StudyView) -> str:
        """Name the question; one that was answered with an end, but is asked again, anew."""
        span = f"{_prefix(view.study)}/{len(view.trials) + 1}"
        again = 1
        name = span
        while _ended_the_study(self.team.known(name)):
            again += 1
            name = f"{span}.{again}"
        return name

    def _is_handed_back(self, study: str) -> bool:
        if not self._handed_back:
            spans = self.team.spans(_prefix(study))
            self._handed_back = any("hand_back" in _content(self.team.known(s)) for s in spans)
        return self._handed_back

    def _fall_back(self, view: StudyView, why: str) -> Batch | Finish | Abstain:
        text = f"{why.strip()} The built-in policy proposes."
        self.team.context.journal.append(Noted(text=text, level="warning"), study=view.study)
        return self.builtin.propose(view)

    def _fault(self, view: StudyView, text: str) -> str:
        """Say what is wrong with an answer, so that the model can mend it."""
        content = json_object(text)
        if content is None:
            return "Your answer is no JSON object. Give the JSON object that was asked for, only."
        if content.keys() & {"finish", "abstain", "hand_back"}:
            return ""
        try:
            proposal = proposal_from(content, _head(view))
        except ValueError:
            return "`action` must be a text, `arguments` an object and `parent` a number or null."
        return self._proposal_fault(view, proposal)

    def _proposal_fault(self, view: StudyView, proposal: Proposal) -> str:
        accepted = {trial.number: trial for trial in view.trials if trial.accepted}
        if proposal.parent is not None and proposal.parent not in accepted:
            known = ", ".join(map(str, accepted)) or "none yet, so it must be null"
            return f"`parent` {proposal.parent} is no accepted trial. Accepted: {known}."
        parent = None if proposal.parent is None else accepted[proposal.parent]
        fault = action_fault(proposal.action, self.problem.actions(parent))
        if not fault and view.tried(proposal.parent, proposal.action):
            return "That was tried from this parent already; propose something else, or finish."
        return fault

    def _read(self, view: StudyView, content: dict[str, Any]) -> Batch | Finish | Abstain:
        if "abstain" in content:
            return Abstain(reason=str(content["abstain"]))
        if "finish" in content:
            return Finish(reason=str(content["finish"]))
        return Batch(proposals=(proposal_from(content, _head(view)),))

    def _task(self, view: StudyView) -> str:
        """Write the view down: the objective, what is left, the trials and the actions."""
        path = {each.number for each in view.path(view.head)} if view.head else set()
        recent = view.trials[-_TRIALS:]
        shown = [each for each in view.trials if each.number in path or each in recent]
        told = {
            "objective": view.objective.model_dump(mode="json"),
            "head": _head(view),
            "best": None if view.best is None else view.best.number,
            "trials_left": view.trials_left,
            "trials": [trial_line(trial) for trial in shown],
            "actions": [
                spec.model_dump(mode="json", exclude={"acceptance"})
                for spec in self.problem.actions(view.head)
            ],
        }
        lines = json.dumps(told, ensure_ascii=False, indent=1)
        return f"Study {view.study}. `actions` are those from the head.\n\n{lines}"


def model_policy(builtin: Policy, team: Team) -> Callable[[Problem], ModelPolicy]:
    """Make the function that gives a problem to a model."""
    return lambda problem: ModelPolicy(problem, builtin, team)


def _prefix(study: str) -> str:
    return f"policy/{study}"


def _head(view: StudyView) -> int | None:
    return None if view.head is None else view.head.number


def _content(conversation: Conversation | None) -> dict[str, Any]:
    outcome = None if conversation is None else conversation.outcome
    return (json_object(outcome.answer) if outcome else None) or {}


def _ended_the_study(conversation: Conversation | None) -> bool:
    return bool(_content(conversation).keys() & {"finish", "abstain"})

"""Studies of the toy field in one process and in memory, as an agent's tools drive them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from sciagent.contracts.errors import LimitError, SciagentError, error_record
from sciagent.contracts.model import canonical_model
from sciagent.contracts.ports import Problem
from sciagent.contracts.study import ActionSpec, Batch, Conclusion, Finish, Outcome, Proposal
from sciagent.contracts.tree import StudyView, Trial
from sciagent.domains import registry
from sciagent.execution.process_runner import LocalProcessRunner
from sciagent.study.acceptance import decide
from sciagent.study.context import TrialContext, TrialTask
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.layout import Layout


@dataclass(slots=True)
class _OpenStudy:
    question: str
    problem: Problem
    trials: list[Trial] = field(default_factory=list)
    conclusion: Conclusion | None = None


@dataclass(slots=True)
class PretendedStudies:
    """Runs, judges and keeps trials without journal, workers or lock (a `Studies`).

    Problems, checks and acceptance are the real ones; each trial's files and its
    ``outcome.json`` lie in the workspace as those of a real run do.

    Attributes
    ----------
    root
        The workspace.
    trials
        Trials that each study may use.
    """

    root: Path
    trials: int = 100
    _studies: dict[str, _OpenStudy] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """Name the studies in the order they were opened."""
        return tuple(self._studies)

    def start(
        self,
        question: str,
        *,
        dataset: str,
        inputs: Mapping[str, Sequence[str]],
        settings: Mapping[str, JsonValue],
    ) -> str:
        """Open a study; datasets are not known here, files are those of the workspace."""
        del dataset
        files = {name: [str(self.root / path) for path in paths] for name, paths in inputs.items()}
        name = question.partition("/")[2]
        problem = registry.problem(question, files, dict(settings))
        self._studies[name] = _OpenStudy(question, problem)
        return name

    def view(self, study: str) -> StudyView:
        """Show a study as a policy sees it: without selection values."""
        opened = self._studies[study]
        shown = [each.model_copy(update={"outcome": _feedback(each)}) for each in opened.trials]
        accepted = [each for each in shown if each.accepted]
        objective = opened.problem.objective
        sign = 1.0 if objective.direction == "minimise" else -1.0
        best = min(accepted, key=lambda each: sign * each.metric(objective.metric), default=None)
        return StudyView(
            study=study, objective=objective, trials=shown, head=accepted[-1] if accepted else None,
            best=best, trials_left=self.trials - len(shown), cpu_left_s=None, wall_left_s=None,
            seed=0, directory=str(self.root),
        )  # fmt: skip

    def actions(self, study: str, parent: int | None) -> tuple[ActionSpec, ...]:
        """List what may be proposed."""
        return self._studies[study].problem.actions(self._trial(study, parent))

    def propose(self, study: str, proposal: Proposal) -> Trial:
        """Run and judge a proposal.

        Raises
        ------
        LimitError
            If the trials are used up, or the study has ended.
        """
        opened = self._studies[study]
        if opened.conclusion is not None or len(opened.trials) >= self.trials:
            raise LimitError(f"The study {study!r} takes no more trials.")
        number = len(opened.trials) + 1
        parent = self._trial(study, proposal.parent)
        outcome = self._ran(opened.problem, proposal, number)
        problem = opened.problem
        offered = {each.name: each for each in problem.actions(parent)}
        decision = decide(
            outcome,
            parent.outcome if parent is not None else None,
            problem.checks(outcome) if outcome.status == "ok" else (),
            action=offered.get(proposal.action.name),
            objective=problem.objective,
            selection=problem.selection,
        )
        trial = Trial(number=number, proposal=proposal, outcome=outcome, decision=decision)
        opened.trials.append(trial)
        return trial

    def hand_back(self, study: str, trials: int | None) -> StudyView:
        """Let the built-in policy go on; it may use all that is left if `trials` is none."""
        opened = self._studies[study]
        policy = registry.question(opened.question).policy(opened.problem)
        left = self.trials - len(opened.trials)
        allowed = len(opened.trials) + (left if trials is None else min(trials, left))
        while len(opened.trials) < allowed:
            batch = policy.propose(self.view(study))
            if not isinstance(batch, Batch):
                opened.conclusion = _conclusion(opened.problem, batch, self.view(study))
                break
            for proposal in batch.proposals[: allowed - len(opened.trials)]:
                if self.propose(study, proposal).accepted:
                    break
        return self.view(study)

    def finish(self, study: str, reason: str, *, abstain: bool) -> Conclusion:
        """End a study."""
        view = self.view(study)
        best = view.best.number if view.best is not None else None
        status = "abstained" if abstain or best is None else "completed"
        opened = self._studies[study]
        opened.conclusion = Conclusion.model_validate(
            {"status": status, "reason": reason, "best": None if abstain else best}
        )
        return opened.conclusion

    def _trial(self, study: str, number: int | None) -> Trial | None:
        return None if number is None else self._studies[study].trials[number - 1]

    def _ran(self, problem: Problem, proposal: Proposal, number: int) -> Outcome:
        layout = Layout(self.root)
        layout.trial(number).mkdir(parents=True)
        parent = None if proposal.parent is None else str(layout.trial(proposal.parent))
        task = TrialTask(
            trial=number, proposal=proposal, directory=str(layout.trial(number)),
            parent_directory=parent, seed=number, threads=1, cache=str(self.root / "cache"),
        )  # fmt: skip
        try:
            outcome = problem.run(proposal, TrialContext(task, LocalProcessRunner(), lambda: False))
        except SciagentError as error:
            outcome = Outcome(status="failed", error=error_record(error))
        write_atomic(layout.outcome(number), canonical_model(outcome) + "\n")
        return outcome


def _feedback(trial: Trial) -> Outcome | None:
    return trial.outcome and trial.outcome.model_copy(update={"selection": {}})


def _conclusion(problem: Problem, ended: object, view: StudyView) -> Conclusion:
    if isinstance(ended, Finish) and view.best is not None:
        return problem.conclude(view)
    return Conclusion(status="abstained", reason=getattr(ended, "reason", "No trial counts."))

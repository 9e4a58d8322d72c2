"""The one loop of every science: propose, run, check, decide, until there is nothing to gain."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from sciagent.contracts.errors import LimitError
from sciagent.contracts.events import StudyConcluded, StudyOpened, TrialDecided, TrialProposed
from sciagent.contracts.ports import Journal, Policy, Problem
from sciagent.contracts.study import Abstain, Batch, Budget, Conclusion, Finish
from sciagent.contracts.tree import StudyView
from sciagent.study.commands import StopDesk
from sciagent.study.execution import TrialRunner
from sciagent.study.judge import Judge, superseded
from sciagent.study.sealed import open_sealed
from sciagent.study.spending import Spent
from sciagent.workspace.tree import StudyTree, TreeBuilder


class StudyStopped(Exception):  # noqa: N818 - not an error: someone asked for it
    """A stop command ended the loop before the study was concluded."""

    kind = "stopped"


@dataclass(slots=True)
class StudyLoop:
    """Drives one study of a run from where its journal stands to its conclusion.

    The loop keeps nothing of its own that matters: it decides on the tree, which is built from
    the journal, so that a new loop over the same journal goes on where the last was cut off.

    Attributes
    ----------
    study, question
        Name of the study within the run, and ``domain/question``.
    problem, policy
        What is studied, and who proposes.
    journal, builder
        The record, and the trees that the journal's observer keeps up to date.
    desk
        Says whether someone asks to stop.
    trials
        Runs trials in worker processes.
    budget, seed
        Of the study.
    directory
        The workspace, for policies that look at files.
    wall_used_s
        Wall time that earlier owners spent on this run.
    """

    study: str
    question: str
    problem: Problem
    policy: Policy
    journal: Journal
    builder: TreeBuilder
    desk: StopDesk
    trials: TrialRunner
    budget: Budget
    seed: int
    directory: str
    wall_used_s: float = 0.0
    _started: float = field(default_factory=time.monotonic)

    @property
    def tree(self) -> StudyTree:
        """The study as it stands."""
        return self.builder.studies[self.study]

    def run(self) -> Conclusion:
        """Run until the study is concluded.

        Raises
        ------
        StudyStopped
            If a stop command came; trials that were running are cut off and run again later.
        """
        self.open()
        try:
            while self.tree.conclusion is None:
                self._step()
        finally:
            self.close()
        return self.tree.conclusion

    def open(self) -> None:
        """Begin the study, unless it has begun."""
        if self.study not in self.builder.studies:
            opened = StudyOpened(
                question=self.question, objective=self.problem.objective, budget=self.budget
            )
            self.journal.append(opened, study=self.study)

    def close(self) -> None:
        """End the worker processes; the loop can go on afterwards with new ones."""
        self.trials.close()

    def attempt(self, batch: Batch) -> None:
        """Commit proposals that someone makes from outside and bring them to their decisions.

        Raises
        ------
        LimitError
            If the budget of the study is used up.
        StudyStopped
            If a stop command came.
        """
        self._settle()
        if limit := self._spent().reached(self.tree.budget):
            raise LimitError(limit, "Finish the study, or resume it with a new budget.")
        self._commit(batch)
        self._settle()

    def go_on(self, trials: int | None = None) -> None:
        """Let the policy propose for at most so many trials; nothing is concluded."""
        until = None if trials is None else self.tree.decided + trials
        self._settle()
        while until is None or self.tree.decided < until:
            if self._spent().reached(self.tree.budget):
                return
            answer = self._allowed(self.policy.propose(self.view()))
            if not isinstance(answer, Batch):
                return
            self._commit(answer)
            self._settle()

    def conclude(self, answer: Finish | Abstain) -> Conclusion:
        """End the study as whoever drives it from outside says."""
        self._settle()
        limit = self._spent().reached(self.tree.budget)
        self._conclude(self.view(), answer, at_limit=limit is not None)
        if self.tree.conclusion is None:
            raise AssertionError("The journal's observer keeps the tree up to date.")
        return self.tree.conclusion

    def _settle(self) -> None:
        while self.tree.undecided:
            self._obey()
            self._finish_batch()

    def _step(self) -> None:
        self._obey()
        if self.tree.undecided:
            self._finish_batch()
            return
        view = self.view()
        limit = self._spent().reached(self.tree.budget)
        answer = Finish(reason=limit) if limit else self._allowed(self.policy.propose(view))
        if isinstance(answer, Batch):
            self._commit(answer)
        else:
            self._conclude(view, answer, at_limit=limit is not None)

    def _obey(self) -> None:
        if self.desk.stop_asked():
            raise StudyStopped

    def _spent(self) -> Spent:
        wall = self.wall_used_s + time.monotonic() - self._started
        return Spent(trials=self.tree.decided, cpu_s=self.tree.cpu_s, wall_s=wall)

    def view(self) -> StudyView:
        """Show the study as whoever proposes may see it."""
        tree, spent = self.tree, self._spent()
        return StudyView(
            study=self.study,
            objective=tree.objective,
            trials=tuple(tree.shown),
            head=tree.shown_trial(tree.head),
            best=tree.shown_trial(tree.best),
            trials_left=spent.trials_left(tree.budget),
            cpu_left_s=spent.cpu_left_s(tree.budget),
            wall_left_s=spent.wall_left_s(tree.budget),
            seed=self.seed,
            directory=self.directory,
        )

    def _allowed(self, answer: Batch | Finish | Abstain) -> Batch | Finish | Abstain:
        """Keep what was tried before from being tried again where the problem forbids it."""
        if self.problem.repeatable or not isinstance(answer, Batch):
            return answer
        new = tuple(each for each in answer.proposals if not self.tree.was_tried(each.action))
        if not new:
            return Finish(reason="All that was proposed had been tried before.")
        return answer.model_copy(update={"proposals": new})

    def _commit(self, batch: Batch) -> None:
        proposals = batch.proposals[: self._spent().trials_left(self.tree.budget)]
        if batch.rule == "first":
            # The rest would run only if these are all rejected; the policy then proposes it again.
            proposals = proposals[: self.trials.side_by_side]
        first = self.builder.next_trial
        bodies = [
            TrialProposed(
                trial=first + place, proposal=proposal,
                batch=first, batch_size=len(proposals), rule=batch.rule,
            )
            for place, proposal in enumerate(proposals)
        ]  # fmt: skip
        self.journal.append_many(bodies, study=self.study)

    def _finish_batch(self) -> None:
        """Bring the batch proposed last to its decisions, also if an owner died within it."""
        tree = self.tree
        recent = tree.trials[-tree.batch_size :]
        members = [trial.number for trial in recent if trial.number >= tree.batch]
        undecided = list(tree.undecided)
        winner = next((n for n in members if tree.trial(n).accepted), None)
        if len(members) < tree.batch_size:
            self._supersede(undecided, "Its batch was cut off when it was being proposed.")
        elif tree.rule == "first" and winner is not None:
            self._supersede(undecided, f"Trial {winner} was accepted first.")
        else:
            self._run_batch(members, undecided)

    def _run_batch(self, members: Sequence[int], undecided: Sequence[int]) -> None:
        tree, judge = self.tree, Judge(self.problem, self.tree)
        self.trials.begin([tree.trial(n) for n in undecided], deadline_s=self._deadline_s())
        if tree.rule == "best":
            for number in undecided:
                self._wait_for(number)
            waiting = set(undecided)
            decided = [body for body in judge.rivals(members) if body.trial in waiting]
            self.journal.append_many(decided, study=self.study)
            return
        for place, number in enumerate(undecided):
            self._wait_for(number)
            decision = judge.decision(number)
            self.journal.append(TrialDecided(trial=number, decision=decision), study=self.study)
            if decision.accepted and tree.rule == "first":
                self._supersede(undecided[place + 1 :], f"Trial {number} was accepted first.")
                return

    def _deadline_s(self) -> float | None:
        left = self._spent().wall_left_s(self.tree.budget)
        return None if left is None else time.time() + left

    def _wait_for(self, number: int) -> None:
        while not self.trials.finished(number):
            self.trials.step()
            self._obey()

    def _supersede(self, numbers: Sequence[int], reason: str) -> None:
        for number in numbers:
            self.trials.cut_off(number)
        self.journal.append_many(superseded(numbers, reason), study=self.study)

    def _conclude(self, view: StudyView, answer: Finish | Abstain, *, at_limit: bool) -> None:
        conclusion = self._conclusion(view, answer, at_limit=at_limit)
        if conclusion.best is not None:
            open_sealed(self.problem, self.tree, conclusion.best, self.journal, self.trials)
        self.journal.append(StudyConcluded(conclusion=conclusion), study=self.study)

    def _conclusion(
        self, view: StudyView, answer: Finish | Abstain, *, at_limit: bool
    ) -> Conclusion:
        best = None if view.best is None else view.best.number
        if isinstance(answer, Abstain):
            return Conclusion(status="abstained", reason=answer.reason, best=best)
        if best is None:
            return Conclusion(status="limit" if at_limit else "failed", reason=answer.reason)
        found = self.problem.conclude(view)
        if found.status != "completed":
            return found
        reason = f"{answer.reason} {found.reason}".strip()
        status = "limit" if at_limit else "completed"
        return found.model_copy(update={"status": status, "reason": reason})

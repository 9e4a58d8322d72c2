"""Runs trials of a finished workspace again, in a folder of their own.

This is what the cells of a workspace's `notebook.ipynb` call.
"""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sciagent.contracts.claim import ClaimsFile, NumberClaim
from sciagent.contracts.errors import ConvergenceError, InputError
from sciagent.contracts.ports import Problem
from sciagent.contracts.quantity import written
from sciagent.contracts.run import RunRequest
from sciagent.contracts.study import Action, Outcome, Proposal
from sciagent.contracts.tree import StudyRecord
from sciagent.reports.resolve import read_pointer
from sciagent.runs.problems import problem_source
from sciagent.study.context import TrialTask
from sciagent.study.seeds import TrialSeeds
from sciagent.study.worker import execute_here, load_problem
from sciagent.workspace.layout import CLAIMS, Layout
from sciagent.workspace.record import load_studies
from sciagent.workspace.workspace import open_workspace, read_request


@dataclass(slots=True)
class Replay:
    """Trials run again from the inputs that a workspace keeps.

    Attributes
    ----------
    workspace
        The finished run; nothing in it is changed.
    output
        Folder that the new trials are written to, laid out as a workspace.
    """

    workspace: Layout
    output: Layout
    request: RunRequest
    studies: tuple[StudyRecord, ...]
    problems: dict[str, Problem] = field(default_factory=dict)
    proposals: dict[int, Proposal] = field(default_factory=dict)
    outcomes: dict[int, Outcome] = field(default_factory=dict)

    def trial(
        self,
        number: int,
        *,
        parent: int | None = None,
        action: str,
        arguments: dict[str, Any] | None = None,
    ) -> "ReplayedTrial":
        """Run one trial again.

        Parameters
        ----------
        number
            Number of the trial in the run: it names the folder.
        parent
            Trial it starts from; it must have been replayed before.
        action, arguments
            What it does.

        Raises
        ------
        InputError
            If the parent has not been replayed.
        ConvergenceError
            If the trial fails now although it did not then.
        """
        if parent is not None and parent not in self.outcomes:
            raise InputError(f"Trial {number} starts from trial {parent}, which was not replayed.")
        folder = self.output.trial(number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        proposal = Proposal(parent=parent, action=Action(name=action, arguments=arguments or {}))
        self.proposals[number] = proposal
        task = TrialTask(
            trial=number,
            proposal=proposal,
            directory=str(folder),
            parent_directory=None if parent is None else str(self.output.trial(parent)),
            seed=TrialSeeds(self.request.seed, self.proposals.__getitem__).seed(number),
            threads=self.request.threads,
            cache=str(self.output / "cache"),
        )
        outcome = execute_here(self._problem_of(number), task)
        if outcome.status == "failed":
            message = outcome.error.message if outcome.error else "no reason given"
            raise ConvergenceError(f"Trial {number} failed when it was replayed: {message}")
        self.outcomes[number] = outcome
        return ReplayedTrial(number, action, outcome)

    def _problem_of(self, trial: int) -> Problem:
        study = next((s for s in self.studies if any(t.number == trial for t in s.trials)), None)
        name = "" if study is None else study.study
        if name not in self.problems:
            source = problem_source(self.workspace, self.request, study)
            self.problems[name] = load_problem(source)
        return self.problems[name]

    def workflow(self) -> None:
        """Execute the workflow notebook of the run again.

        Raises
        ------
        InputError
            If a cell fails.
        """
        from sciagent.runs.workflow_run import execute_again

        execute_again(self.workspace, self.output)

    def compare(self) -> "ReplayedClaims":
        """Read the value of each number of the report from the replayed trials."""
        path = self.workspace / CLAIMS
        if not path.exists():
            return ReplayedClaims(())
        claims = ClaimsFile.model_validate_json(path.read_bytes()).claims
        numbers = [claim for claim in claims if isinstance(claim, NumberClaim)]
        return ReplayedClaims(tuple(self._row(c) for c in numbers if self._replayed(c)))

    def _replayed(self, claim: NumberClaim) -> bool:
        return claim.kind == "number" and (self.output / claim.source.path).exists()

    def _row(self, claim: NumberClaim) -> tuple[str, str, str, bool]:
        value = read_pointer(self.output / claim.source.path, claim.source.pointer)
        again = float(value) if isinstance(value, int | float) else float("nan")
        return (
            claim.label,
            written(claim.value, claim.unit, claim.decimals),
            written(again, claim.unit, claim.decimals),
            abs(again - claim.value) <= claim.tolerance,
        )


@dataclass(frozen=True, slots=True)
class ReplayedTrial:
    """A replayed trial, shown as its metrics."""

    number: int
    action: str
    outcome: Outcome

    def __repr__(self) -> str:
        metrics = (
            f"{name} = {each.value:.6g} {each.unit}" for name, each in self.outcome.metrics.items()
        )
        return f"trial {self.number} ({self.action}): " + ", ".join(metrics)


@dataclass(frozen=True, slots=True)
class ReplayedClaims:
    """Numbers of the report beside those of the replay."""

    rows: tuple[tuple[str, str, str, bool], ...]

    def __repr__(self) -> str:
        return "\n".join(
            f"{'equal ' if equal else 'DIFFERS'}  {label}: {then} then, {now} now"
            for label, then, now, equal in self.rows
        )


def replay(workspace: str | Path, output: str | Path) -> Replay:
    """Prepare to run trials of a workspace again.

    Parameters
    ----------
    workspace
        Folder of the run.
    output
        Folder for the new trials; it must not lie inside the run's own trials.
    """
    layout = open_workspace(Path(workspace))
    target = Layout(Path(output).resolve())
    if target.root == layout.root.resolve():
        raise InputError("A run cannot be replayed into its own folder.", "Name another folder.")
    return Replay(layout, target, read_request(layout), load_studies(layout.root))

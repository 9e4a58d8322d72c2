"""A study of the toy field without a whole run around it: journal, tree and loop in a folder."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sciagent.contracts.events import Event, OwnerStarted, RunStarted
from sciagent.contracts.ports import Policy, Problem, ProblemSource
from sciagent.contracts.run import RunRequest
from sciagent.contracts.study import Budget, Conclusion
from sciagent.study.commands import CommandDesk
from sciagent.study.execution import TrialRunner
from sciagent.study.loop import StudyLoop
from sciagent.study.pool import WorkerPool
from sciagent.study.seeds import TrialSeeds
from sciagent.testing.toy import Bowl, BowlSettings, Walker
from sciagent.workspace.inbox import InboxFolder
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import Layout
from sciagent.workspace.record import load_tree
from sciagent.workspace.tree import StudyTree, TreeBuilder


def bowl(**settings: Any) -> Bowl:
    """Make the toy problem; worker processes call this by name."""
    return Bowl(settings=BowlSettings.model_validate(settings), start=(0.0, 0.0))


@dataclass(frozen=True)
class ToyStudy:
    """A study of the toy field in a folder, which can be run, killed and run again.

    Attributes
    ----------
    folder
        Where the journal and the trials are.
    settings
        Of the bowl.
    factory
        ``module:function`` that makes the problem from the settings.
    policy
        Who proposes.
    """

    folder: Path
    settings: dict[str, Any]
    budget: Budget = field(default_factory=Budget)
    parallel: int = 1
    factory: str = "sciagent.testing.studies:bowl"
    policy: Callable[[Problem], Policy] = Walker  # type: ignore[assignment]

    @property
    def layout(self) -> Layout:
        """Paths of the study."""
        return Layout(self.folder)

    def begin(self) -> None:
        """Make the folder with the beginning of a journal."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with JournalFile.create(self.layout.journal) as fresh:
            fresh.append(RunStarted(run="toy", request=RunRequest(question="toy/parabola")))

    def run(self, problem: Problem | None = None) -> Conclusion:
        """Run the study to its conclusion from where its journal stands."""
        if not self.layout.journal.exists():
            self.begin()
        with JournalFile.open(self.layout.journal) as journal:
            builder = load_tree(self.folder)
            journal.observer = builder.apply
            journal.append(OwnerStarted(owner="test"))
            return self._loop(journal, builder, problem or bowl(**self.settings)).run()

    def _loop(self, journal: JournalFile, builder: TreeBuilder, problem: Problem) -> StudyLoop:
        source = ProblemSource(factory=self.factory, arguments=self.settings)
        pool = WorkerPool(source, self.parallel, threads=1)
        return StudyLoop(
            study="parabola",
            question="toy/parabola",
            problem=problem,
            policy=self.policy(problem),
            journal=journal,
            builder=builder,
            desk=CommandDesk(InboxFolder(self.layout.inbox), journal),
            trials=TrialRunner(
                "parabola",
                journal,
                self.layout,
                pool,
                TrialSeeds(0, lambda n: builder.studies["parabola"].trial(n).proposal),
                1,
                str(self.folder / "cache"),
            ),
            budget=self.budget,
            seed=0,
            directory=str(self.folder),
        )

    @property
    def tree(self) -> StudyTree:
        """The tree as the journal has it."""
        return load_tree(self.folder).studies["parabola"]

    @property
    def events(self) -> list[Event]:
        """The events of the journal."""
        from sciagent.workspace.journal import read_events

        return list(read_events(self.layout.journal))

    def accepted_path(self) -> list[str]:
        """Actions of the trials from the first to the best."""
        tree = self.tree
        path, number = [], tree.best
        while number is not None:
            trial = tree.trial(number)
            path.append(trial.proposal.action.key)
            number = trial.proposal.parent
        return path[::-1]

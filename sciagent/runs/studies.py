"""The studies of a run that an agent drives: the same tree, loop and rules as everywhere."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.errors import InputError, LimitError, UnknownNameError
from sciagent.contracts.events import StudyOpened
from sciagent.contracts.study import Abstain, ActionSpec, Batch, Conclusion, Finish, Proposal
from sciagent.contracts.tree import StudyView, Trial
from sciagent.domains.registry import question
from sciagent.runs.checking import checked
from sciagent.runs.loops import study_loop
from sciagent.runs.ownership import Owned
from sciagent.study.commands import StopFlag
from sciagent.study.loop import StudyLoop, StudyStopped
from sciagent.tools.secrets import Redactor
from sciagent.workspace.content import artifact_of
from sciagent.workspace.layout import DATA


@dataclass(slots=True)
class RunStudies:
    """Opens studies in a run and runs what an agent proposes (the `Studies` of tools).

    Attributes
    ----------
    mine
        The run, which this process owns.
    cancelled
        Whether the agent was told to stop.
    redactor
        Takes secrets out of what the agent writes: trials and their reasons are kept.
    """

    mine: Owned
    cancelled: Callable[[], bool]
    redactor: Redactor = field(default_factory=Redactor)
    _loops: dict[str, StudyLoop] = field(default_factory=dict)

    def names(self) -> Sequence[str]:
        """Name the studies of the run, in the order they were opened."""
        return list(self.mine.builder.studies)

    def start(
        self,
        name: str,
        *,
        dataset: str,
        inputs: Mapping[str, Sequence[str]],
        settings: Mapping[str, JsonValue],
    ) -> str:
        """Open a study of ``domain/question`` and name it.

        Raises
        ------
        InputError
            If a file or setting cannot be used; no study is opened then.
        """
        paths = {
            key: [self.mine.layout.root / path for path in each] for key, each in inputs.items()
        }
        given = checked(name, dataset or None, paths, self.redactor.value(dict(settings)))
        study = self._free_name(question(name).name)
        opened = StudyOpened(
            question=name,
            objective=given.problem.objective,
            budget=self.mine.request.budget,
            inputs=self._kept(study, given.files),
            settings=given.settings,
        )
        self.mine.journal.append(opened, study=study)
        return study

    def view(self, study: str) -> StudyView:
        """Look at a study."""
        return self._loop(study).view()

    def actions(self, study: str, parent: int | None) -> Sequence[ActionSpec]:
        """List the actions that may be proposed from a trial."""
        loop = self._loop(study)
        return loop.problem.actions(None if parent is None else loop.tree.shown_trial(parent))

    def propose(self, study: str, proposal: Proposal) -> Trial:
        """Run one proposal and return the trial once it is decided.

        Raises
        ------
        InputError
            If the study has ended, or the proposal starts from a trial that was not accepted.
        LimitError
            If a budget is used up, or the run is being stopped.
        """
        loop = self._going_on(study)
        _require_accepted(loop, proposal.parent)
        number = self.mine.builder.next_trial
        proposal = Proposal.model_validate(self.redactor.value(proposal.model_dump(mode="json")))
        with _cut_off_is_a_limit():
            loop.attempt(Batch(proposals=(proposal,)))
        shown = loop.tree.shown_trial(number)
        if shown is None:
            raise UnknownNameError.among("trial", str(number), [])
        return shown

    def hand_back(self, study: str, trials: int | None) -> StudyView:
        """Let the built-in policy go on with the same tree, for at most so many trials.

        Raises
        ------
        InputError
            If the study has ended.
        LimitError
            If the run is being stopped; what was decided until then stays.
        """
        loop = self._going_on(study)
        with _cut_off_is_a_limit():
            loop.go_on(trials)
        return loop.view()

    def finish(self, study: str, reason: str, *, abstain: bool) -> Conclusion:
        """End a study: with its best trial, or without an answer.

        Raises
        ------
        InputError
            If it has ended already; the message says how.
        """
        reason = self.redactor.text(reason)
        answer = Abstain(reason=reason) if abstain else Finish(reason=reason)
        loop = self._going_on(study)
        with _cut_off_is_a_limit():
            return loop.conclude(answer)

    def close(self) -> None:
        """End all worker processes."""
        for loop in self._loops.values():
            loop.close()

    def _loop(self, study: str) -> StudyLoop:
        if study not in self.mine.builder.studies:
            raise UnknownNameError.among("study", study, self.mine.builder.studies)
        if study not in self._loops:
            self._loops[study] = study_loop(self.mine, study=study, desk=StopFlag(self.cancelled))
        return self._loops[study]

    def _going_on(self, study: str) -> StudyLoop:
        loop = self._loop(study)
        ended = loop.tree.conclusion
        if ended is not None:
            best = f" Its result is trial {ended.best}." if ended.best is not None else ""
            raise InputError(
                f"The study {study!r} has ended as {ended.status}: {ended.reason}{best}",
                "Start another one if there is more to try.",
            )
        return loop

    def _free_name(self, name: str) -> str:
        taken, number, free = self.mine.builder.studies, 1, name
        while free in taken:
            number += 1
            free = f"{name}-{number}"
        return free

    def _kept(
        self, study: str, files: Mapping[str, Sequence[Path]]
    ) -> dict[str, tuple[Artifact, ...]]:
        """Copy the files into the workspace, where the study reads them from."""
        return {
            name: tuple(
                self._copied(self.mine.layout / DATA / study / name, path) for path in paths
            )
            for name, paths in files.items()
        }

    def _copied(self, folder: Path, path: Path) -> Artifact:
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / path.name
        shutil.copyfile(path, target)
        return artifact_of(target, self.mine.layout.root)


@contextmanager
def _cut_off_is_a_limit() -> Iterator[None]:
    """Tell an agent that its study was cut off as what it is: the end of its time."""
    try:
        yield
    except StudyStopped as stopped:
        raise LimitError(
            "The study was cut off: the run is being stopped, or its time is up.",
            "It goes on where it stands when it is driven again.",
        ) from stopped


def _require_accepted(loop: StudyLoop, parent: int | None) -> None:
    accepted = [trial.number for trial in loop.tree.shown if trial.accepted]
    if parent is not None and parent not in accepted:
        known = ", ".join(map(str, accepted)) or "none"
        raise InputError(
            f"Trial {parent} was not accepted, so that nothing can start from it.",
            f"Accepted: {known}.",
        )

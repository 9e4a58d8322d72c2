"""A run as a person or program reads it: everything from its folder, nothing kept open."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from sciagent.contracts.claim import ClaimsFile, Verification
from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.events import Event
from sciagent.contracts.run import ObjectiveValue, RunRequest, RunResult, RunStatus, RunSummary
from sciagent.contracts.tree import StudyRecord, Trial
from sciagent.workspace.journal import read_events, tail
from sciagent.workspace.layout import CLAIMS, JOURNAL, REPORT_HTML, VERIFICATION, Layout
from sciagent.workspace.record import load_studies, summarise
from sciagent.workspace.workspace import open_workspace, read_request

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True)
class Run:
    """A run, finished or not, opened for reading.

    Attributes
    ----------
    path
        Folder of the workspace.
    """

    path: Path

    @property
    def name(self) -> str:
        """Name of the run: that of its folder."""
        return self.path.name

    @property
    def layout(self) -> Layout:
        """Where the files of the workspace lie."""
        return Layout(self.path)

    @property
    def report(self) -> Path:
        """The report to read first."""
        return self.path / REPORT_HTML

    @cached_property
    def request(self) -> RunRequest:
        """What was asked."""
        return read_request(self.layout)

    @cached_property
    def summary(self) -> RunSummary:
        """The run in one row."""
        return summarise(self.path)

    @cached_property
    def studies(self) -> tuple[StudyRecord, ...]:
        """The trees of trials."""
        return load_studies(self.path)

    @property
    def study(self) -> StudyRecord:
        """The first study, which is the only one of most runs."""
        if not self.studies:
            raise WorkspaceError(f"The run {self.name} has no study yet.")
        return self.studies[0]

    @property
    def best(self) -> Trial | None:
        """The trial whose result is reported."""
        if not self.studies:
            return None
        study = self.studies[0]
        number = study.conclusion.best if study.conclusion else study.best
        return next((trial for trial in study.trials if trial.number == number), None)

    @property
    def claims(self) -> ClaimsFile | None:
        """What the report claims; None before there is a report."""
        return self._read(CLAIMS, ClaimsFile)

    @property
    def verification(self) -> Verification | None:
        """The last verdicts; None if the run was never verified."""
        return self._read(VERIFICATION, Verification)

    @property
    def result(self) -> RunResult:
        """What the run came to."""
        best, summary = self.best, self.summary
        objective = summary.objective
        value = None
        if best is not None and best.outcome is not None and objective is not None:
            value = best.outcome.metrics[objective.metric].value
        return RunResult(
            run=str(self.path),
            status=self._status(),
            reason=summary.reason,
            objective=ObjectiveValue(
                name=objective.metric if objective else "",
                value=value,
                unit=objective.unit if objective else "",
            ),
            trials=summary.trials,
            accepted=summary.accepted,
            rejected=summary.rejected,
            metrics=best.outcome.metrics if best and best.outcome else {},
        )

    def events(self) -> Iterator[Event]:
        """Read the journal from the first event."""
        return read_events(self.path / JOURNAL)

    def last_events(self, count: int) -> list[Event]:
        """Read the last `count` events, from the journal's end only."""
        return tail(self.path / JOURNAL, count) if count else []

    def _status(self) -> RunStatus:
        return self.summary.status

    def _read(self, name: str, model: type[ModelT]) -> ModelT | None:
        path = self.path / name
        return model.model_validate_json(path.read_bytes()) if path.exists() else None

    def _repr_html_(self) -> str:
        from html import escape

        result = self.result
        value = result.objective.value
        shown = "-" if value is None else f"{value:.4g} {result.objective.unit}"
        return (
            f"<b>{escape(self.name)}</b>: {escape(result.status)}, "
            f"{escape(result.objective.name)} {escape(shown)}, {result.trials} trials"
        )


def open_run(path: str | Path) -> Run:
    """Open a run for reading.

    Raises
    ------
    WorkspaceError
        If the folder is no workspace, or one that a newer version wrote.
    """
    return Run(open_workspace(Path(path)).root)


def list_runs(out: str | Path = "artifacts") -> list[RunSummary]:
    """List the runs in a folder, newest first; folders that are no runs are passed over."""
    folder = Path(out)
    if not folder.is_dir():
        return []
    # A hidden folder is a workspace that was being made when its process died.
    names = (path for path in folder.iterdir() if not path.name.startswith("."))
    runs = [path for path in names if (path / JOURNAL).is_file()]
    return sorted((summarise(path) for path in runs), key=lambda run: run.started, reverse=True)

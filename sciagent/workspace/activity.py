"""What was done in a run and when, read from its journal."""

from dataclasses import dataclass, field
from pathlib import Path

from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.events import (
    EffectFinished,
    EffectStarted,
    Event,
    RunStarted,
    TrialFinished,
    TrialStarted,
)
from sciagent.contracts.tree import Trial
from sciagent.workspace.journal import RunStart, read_events
from sciagent.workspace.layout import JOURNAL
from sciagent.workspace.tree import TreeBuilder

NOTEBOOK_TOOL = "run_notebook"
"""Tool name of an effect that runs a notebook. Its arguments `notebook` and `output` are paths
relative to the workspace."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Start and end as UTC, ISO 8601; the end is empty while it is not known."""

    start: str
    end: str = ""


@dataclass(frozen=True, slots=True)
class NotebookActivity:
    """A notebook that was run, where its executed copy lies, and what went wrong, if anything."""

    notebook: str
    output: str
    interval: Interval
    error: str


@dataclass(slots=True)
class Activity:
    """All that was done in a run.

    Attributes
    ----------
    start
        The first event.
    last_time
        Time of the last event that changed the run's content; a seal does not.
    trials
        All trials of all studies, in order of number.
    intervals
        When each trial that was carried out ran, by its number; of several attempts the last.
    notebooks
        The notebooks that were run, in order.
    """

    start: RunStart
    last_time: str
    trials: tuple[Trial, ...] = ()
    intervals: dict[int, Interval] = field(default_factory=dict)
    notebooks: list[NotebookActivity] = field(default_factory=list)


def read_activity(root: Path) -> Activity:
    """Read the activity of a workspace from its journal.

    Raises
    ------
    WorkspaceError
        If the journal does not begin with the start of a run, or contradicts itself.
    """
    builder, started, activity = TreeBuilder(), dict[str, Event](), None
    for event in read_events(root / JOURNAL):
        builder.apply(event)
        if activity is None:
            if not isinstance(event.body, RunStarted):
                break
            activity = Activity(RunStart(event.time, event.body), event.time)
        _take_in(activity, started, event)
    if activity is None:
        raise WorkspaceError(
            f"The journal of {root} does not begin with the start of a run.",
            "Give the folder of a run, such as one below artifacts/.",
        )
    trials = [trial for tree in builder.studies.values() for trial in tree.trials]
    activity.trials = tuple(sorted(trials, key=lambda trial: trial.number))
    return activity


def _take_in(activity: Activity, started: dict[str, Event], event: Event) -> None:
    body = event.body
    if event.kind != "sealed":
        activity.last_time = event.time
    if isinstance(body, TrialStarted):
        activity.intervals[body.trial] = Interval(event.time)
    elif isinstance(body, TrialFinished):
        begin = activity.intervals.get(body.trial, Interval(event.time)).start
        activity.intervals[body.trial] = Interval(begin, event.time)
    elif isinstance(body, EffectStarted) and body.tool == NOTEBOOK_TOOL:
        started[body.effect] = event
    elif isinstance(body, EffectFinished) and body.effect in started:
        activity.notebooks.append(_notebook(started.pop(body.effect), event.time, body))


def _notebook(started: Event, end: str, finished: EffectFinished) -> NotebookActivity:
    arguments = started.body.arguments if isinstance(started.body, EffectStarted) else {}
    error = "" if finished.status == "ok" else finished.detail or f"It {finished.status}."
    return NotebookActivity(
        notebook=str(arguments.get("notebook", "")), output=str(arguments.get("output", "")),
        interval=Interval(started.time, end), error=error,
    )  # fmt: skip

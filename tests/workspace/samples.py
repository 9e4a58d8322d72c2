"""Journals, events and workspaces to test with."""

import string
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st
from pydantic import JsonValue

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.events import (
    EffectFinished,
    EffectStarted,
    EventBody,
    Noted,
    RunStarted,
    StudyConcluded,
    StudyOpened,
    TrialDecided,
    TrialFinished,
    TrialProposed,
    TrialStarted,
)
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.run import Command, RunRequest
from sciagent.contracts.study import (
    Action,
    Budget,
    Conclusion,
    Decision,
    Objective,
    Outcome,
    Proposal,
)
from sciagent.workspace.content import artifact_of
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import Layout
from sciagent.workspace.workspace import create_workspace

OBJECTIVE = Objective(metric="r_wp", unit="%", direction="minimise", noise=0.01)
STARTED = RunStarted(run="r", request=RunRequest(question="toy/line"))
OPENED = StudyOpened(question="toy/line", objective=OBJECTIVE, budget=Budget(trials=9))

texts = st.text(max_size=30)
numbers = st.floats(allow_nan=False, allow_infinity=False)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(texts, json_values, max_size=3)
quantities = st.builds(Quantity, value=numbers, unit=st.sampled_from(["%", "Ao", "s"]))
outcomes = st.builds(
    Outcome,
    status=st.sampled_from(["ok", "failed"]),
    metrics=st.dictionaries(texts, quantities, max_size=3),
    selection=st.dictionaries(texts, quantities, max_size=2),
    notes=st.lists(texts, max_size=2).map(tuple),
    cpu_s=st.floats(0.0, 1e6),
)
proposals = st.builds(
    Proposal,
    parent=st.none() | st.integers(1, 99),
    action=st.builds(Action, name=st.text(string.ascii_letters, min_size=1), arguments=arguments),
    rationale=texts,
)
bodies: st.SearchStrategy[EventBody] = st.one_of(
    st.builds(Noted, text=texts),
    st.builds(
        TrialProposed,
        trial=st.integers(1, 10**6),
        proposal=proposals,
        batch=st.integers(1, 9),
        batch_size=st.integers(1, 9),
    ),
    st.builds(TrialFinished, trial=st.integers(1, 9), outcome=outcomes),
    st.builds(
        EffectStarted, effect=texts, tool=texts, read_only=st.booleans(), arguments=arguments
    ),
    st.builds(EffectFinished, effect=texts, status=st.sampled_from(["ok", "failed"]), detail=texts),
)


def outcome(r_wp: float, *, cpu_s: float = 1.0, files: Sequence[Artifact] = ()) -> Outcome:
    metrics = {"r_wp": Quantity(value=r_wp, unit="%")}
    selection = {"r_wp_held_out": Quantity(value=r_wp + 1.0, unit="%")}
    return Outcome(
        status="ok", metrics=metrics, selection=selection, cpu_s=cpu_s, files=tuple(files)
    )


def proposed(trial: int, parent: int | None = None, action: str = "release") -> TrialProposed:
    proposal = Proposal(parent=parent, action=Action(name=action), rationale="It is next.")
    return TrialProposed(trial=trial, proposal=proposal, batch=trial, batch_size=1)


def decided(trial: int, verdict: str = "accepted") -> TrialDecided:
    return TrialDecided(
        trial=trial,
        decision=Decision.model_validate({"verdict": verdict, "reasons": ("It is better.",)}),
    )


def tried(
    trial: int, r_wp: float, *, parent: int | None = None, verdict: str = "accepted"
) -> list[EventBody]:
    """Events of one trial from proposal to decision."""
    return [
        proposed(trial, parent),
        TrialStarted(trial=trial),
        TrialFinished(trial=trial, outcome=outcome(r_wp)),
        decided(trial, verdict),
    ]


CONCLUDED = StudyConcluded(
    conclusion=Conclusion(status="completed", reason="Nothing more helps.", best=1)
)


def journal_with(path: Path, *entries: EventBody) -> JournalFile:
    """Begin a journal with a study named ``main`` and append to it."""
    journal = JournalFile.create(path)
    journal.append(STARTED)
    journal.append(OPENED, study="main")
    journal.append_many(entries, study="main")
    return journal


def command_of(identifier: str) -> Command:
    return Command(id=identifier, command="stop", time="2026-01-01T00:00:00.000Z")


def finished_workspace(folder: Path) -> Layout:
    """A workspace with one accepted and one rejected trial, not yet sealed."""
    source = folder / "pattern.xye"
    source.write_text("10.0 100 10\n10.1 120 11\n")
    request = RunRequest(question="toy/line", dataset="line")
    layout = create_workspace(folder / "artifacts", request, {"pattern": [source]})
    with JournalFile.open(layout.journal) as journal:
        journal.append(OPENED, study="main")
        for number, r_wp, verdict in ((1, 20.0, "accepted"), (2, 21.0, "rejected")):
            parent = None if number == 1 else 1
            run_trial(layout, journal, number, r_wp, parent=parent, verdict=verdict)
        journal.append(CONCLUDED, study="main")
    (layout / "report.md").write_text("# Report\n")
    return layout


def run_trial(
    layout: Layout,
    journal: JournalFile,
    number: int,
    r_wp: float,
    *,
    parent: int | None = None,
    verdict: str = "accepted",
) -> None:
    """Append a trial's events, and write the files that it would have left."""
    journal.append_many([proposed(number, parent), TrialStarted(trial=number)], study="main")
    folder = layout.trial(number)
    folder.mkdir(parents=True)
    (folder / "fit.csv").write_text(f"x,y\n1,{r_wp}\n")
    result = outcome(r_wp, files=[artifact_of(folder / "fit.csv", folder)])
    layout.outcome(number).write_text(result.model_dump_json())
    finished = TrialFinished(trial=number, outcome=result)
    journal.append_many([finished, decided(number, verdict)], study="main")

import json
from pathlib import Path

import pytest

from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.events import (
    EventBody,
    OwnerStopped,
    SegmentOpened,
    TrialInvalidated,
)
from sciagent.contracts.quantity import Quantity
from sciagent.contracts.study import Budget
from sciagent.contracts.tree import StudyFile
from sciagent.workspace.journal import JournalFile, load_events
from sciagent.workspace.layout import Layout
from sciagent.workspace.lock import OwnerLock
from sciagent.workspace.record import (
    checkpoint_is_due,
    load_studies,
    load_tree,
    summarise,
    write_study_file,
)
from sciagent.workspace.seal import seal
from sciagent.workspace.tree import TreeBuilder
from tests.workspace.samples import CONCLUDED, finished_workspace, journal_with, tried

HISTORY: list[EventBody] = [
    *tried(1, 20.0), *tried(2, 22.0, parent=1, verdict="rejected"), *tried(3, 9.0, parent=1),
    TrialInvalidated(trial=3, reason="leak"), *tried(4, 15.0, parent=1), CONCLUDED,
    SegmentOpened(reason="More.", budget=Budget()), *tried(5, 12.0, parent=4),
]  # fmt: skip


def test_the_studies_are_read_from_the_journal_alone(tmp_path: Path) -> None:
    journal_with(tmp_path / "events.jsonl", *tried(1, 20.0)).close()
    (tmp_path / "study.json").write_text("not even JSON")
    (record,) = load_studies(tmp_path)
    assert (record.study, record.best) == ("main", 1)


def test_the_study_file_is_a_view_of_the_journal_up_to_an_event(tmp_path: Path) -> None:
    journal_with(tmp_path / "events.jsonl", *HISTORY).close()
    builder = load_tree(tmp_path)
    write_study_file(tmp_path, builder)
    file = StudyFile.model_validate_json((tmp_path / "study.json").read_bytes())
    assert file.sequence == len(load_events(tmp_path / "events.jsonl"))
    assert file.studies == load_studies(tmp_path)
    assert TreeBuilder.from_file(file).file() == file


def test_the_summary_is_the_same_wherever_the_last_checkpoint_was(tmp_path: Path) -> None:
    journal_with(tmp_path / "events.jsonl", *HISTORY).close()
    expected = summarise(tmp_path)
    assert (expected.trials, expected.accepted, expected.rejected) == (5, 3, 1)
    assert expected.best == Quantity(value=12.0, unit="%")
    events = load_events(tmp_path / "events.jsonl")
    for length in range(len(events) + 1):
        write_study_file(tmp_path, TreeBuilder().apply_all(events[:length]))
        assert summarise(tmp_path) == expected, f"checkpoint after event {length}"


def test_a_damaged_or_foreign_checkpoint_does_not_mislead_the_summary(tmp_path: Path) -> None:
    journal_with(tmp_path / "events.jsonl", *tried(1, 20.0)).close()
    expected = summarise(tmp_path)
    for content in ("{", '{"sequence": 3}', '{"sequence": 999, "studies": []}'):
        (tmp_path / "study.json").write_text(content)
        assert summarise(tmp_path) == expected


def test_a_checkpoint_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    journal_with(tmp_path / "events.jsonl", *tried(1, 20.0)).close()
    write_study_file(tmp_path, load_tree(tmp_path))
    file = json.loads((tmp_path / "study.json").read_text())
    (tmp_path / "study.json").write_text(json.dumps(file | {"schema_version": 7}))
    with pytest.raises(WorkspaceError, match="newer version"):
        summarise(tmp_path)


def test_the_status_follows_the_owner_and_the_seal(tmp_path: Path) -> None:
    layout = finished_workspace(tmp_path)
    assert summarise(layout.root).status == "stopped"
    with OwnerLock(layout):
        assert summarise(layout.root).status == "running"
    with JournalFile.open(layout.journal) as journal:
        journal.append(OwnerStopped(reason="A stop command came."))
        assert summarise(layout.root).reason == "A stop command came."
        seal(journal, layout.root, "completed")
    summary = summarise(layout.root)
    assert (summary.status, summary.sealed) == ("completed", True)
    assert (summary.reason, summary.dataset) == ("Nothing more helps.", "line")
    assert summary.run == layout.root.name


def test_a_run_without_a_study_has_a_summary(tmp_path: Path) -> None:
    layout = finished_workspace(tmp_path)
    first = layout.journal.read_bytes().splitlines(keepends=True)[0]
    layout.journal.write_bytes(first)
    summary = summarise(layout.root)
    assert (summary.trials, summary.objective, summary.best) == (0, None, None)


def test_a_folder_without_a_journal_has_no_summary(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no journal"):
        summarise(Layout(tmp_path).root)


def test_checkpoints_get_rarer_as_the_run_gets_longer() -> None:
    builder, last, count = TreeBuilder(), 0, 0
    for sequence in range(1, 100_001):
        builder.sequence = sequence
        if checkpoint_is_due(builder, last):
            last, count = sequence, count + 1
    assert count < 70
    assert 100_000 - last < 11_000

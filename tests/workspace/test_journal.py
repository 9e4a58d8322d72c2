import itertools
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.contracts.events import GENESIS, Event, EventBody, Noted, TrialProposed
from sciagent.contracts.model import canonical_json, sha256_text
from sciagent.contracts.study import Action, Proposal
from sciagent.workspace.chain import last_lines, verify_chain
from sciagent.workspace.journal import (
    JournalFile,
    events_after,
    load_events,
    read_events,
    read_start,
    tail,
)
from tests.workspace.samples import OPENED, STARTED, bodies, journal_with, tried


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


fresh_names = itertools.count()


@settings(max_examples=60, deadline=None)
@given(written=st.lists(bodies, min_size=1, max_size=4), study=st.text(max_size=5))
def test_what_is_written_is_read_back(
    written: list[EventBody], study: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"round-trip-{next(fresh_names)}.jsonl"
    with JournalFile.create(path) as journal:
        returned = [journal.append(written[0], study=study, span="s", parent="p")]
        returned += journal.append_many(written[1:], study=study)
        assert list(journal.events()) == returned
    assert [event.body for event in read_events(path)] == written
    assert [event.sequence for event in returned] == list(range(1, len(written) + 1))
    assert verify_chain(path) == []
    with JournalFile.open(path) as again:
        assert (again.sequence, again.last_hash) == (len(written), returned[-1].hash)


def test_each_hash_is_that_of_the_previous_hash_and_the_canonical_body(path: Path) -> None:
    journal_with(path, *tried(1, 20.0)).close()
    previous = GENESIS
    for event in read_events(path):
        content = event.model_dump(mode="json", exclude={"hash"})
        assert event.hash == sha256_text(previous + canonical_json(content))
        previous = event.hash


def test_the_observer_is_told_each_event_when_it_is_on_the_disk(path: Path) -> None:
    told: list[tuple[int, int]] = []

    def observe(event: Event) -> None:
        told.append((event.sequence, len(load_events(path))))

    with JournalFile.create(path, observer=observe) as journal:
        journal.append(STARTED)
        journal.append_many([Noted(text="a"), Noted(text="b")])
    assert told == [(1, 1), (2, 3), (3, 3)]


def test_appending_nothing_writes_nothing(path: Path) -> None:
    with JournalFile.create(path) as journal:
        assert journal.append_many([]) == []
    assert path.read_bytes() == b""


def test_a_journal_is_never_begun_over_another(path: Path) -> None:
    journal_with(path).close()
    before = path.read_bytes()
    with pytest.raises(WorkspaceError, match="already"):
        JournalFile.create(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_json_cannot_hold_is_refused_and_nothing_is_written(
    path: Path, value: float | str
) -> None:
    action = Action.model_construct(name="set", arguments={"x": value})
    body = TrialProposed.model_construct(
        kind="trial_proposed", trial=1, batch=1, batch_size=1, rule="first",
        proposal=Proposal.model_construct(parent=None, action=action),
    )  # fmt: skip
    with journal_with(path) as journal:
        before = path.read_bytes()
        with pytest.raises(InputError, match="JSON cannot hold"):
            journal.append_many([Noted(text="good"), body])
        assert path.read_bytes() == before
        journal.append(Noted(text="still usable"))
    assert verify_chain(path) == []


def test_a_last_line_cut_anywhere_is_removed_and_said(path: Path) -> None:
    journal_with(path, *tried(1, 20.0)).close()
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    kept = whole[: -len(lines[-1])]
    for length in range(1, len(lines[-1])):
        path.write_bytes(whole[: len(kept) + length])
        assert len(load_events(path)) == len(lines) - 1
        with JournalFile.open(path) as journal:
            assert f"{length} bytes" in journal.recovered
            assert journal.sequence == len(lines) - 1
        assert path.read_bytes() == kept


def test_a_recovered_journal_goes_on_in_one_chain(path: Path) -> None:
    journal_with(path, *tried(1, 20.0)).close()
    path.write_bytes(path.read_bytes()[:-20])
    with JournalFile.open(path) as journal:
        journal.append(Noted(text="after the crash"))
    assert verify_chain(path) == []
    with JournalFile.open(path) as journal:
        assert journal.recovered == ""


@pytest.mark.parametrize("number", [1, 3, 6])
def test_a_journal_changed_in_any_line_is_not_opened_for_writing(path: Path, number: int) -> None:
    journal_with(path, *tried(1, 20.0)).close()
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace(b'"kind":"', b'"kind":"x')
    path.write_bytes(b"".join(lines))
    with pytest.raises(WorkspaceError, match=f"line {number} "):
        JournalFile.open(path)
    assert path.read_bytes() == b"".join(lines)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_changed_byte_is_named_by_its_line(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "tampered.jsonl"
    path.unlink(missing_ok=True)
    journal_with(path, *tried(1, 20.0)).close()
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[place]))
    line = path.read_bytes()[:place].count(b"\n") + 1
    path.write_bytes(content)
    details = [finding.detail for finding in verify_chain(path)]
    assert details, "the change was not seen"
    assert details[0].startswith(f"Line {line}: ")


def test_a_removed_a_doubled_and_a_swapped_line_are_named(path: Path) -> None:
    journal_with(path, *tried(1, 20.0)).close()
    lines = path.read_bytes().splitlines(keepends=True)
    changed = {
        "removed": (lines[:2] + lines[3:], 3),
        "doubled": (lines[:3] + lines[2:], 4),
        "swapped": ([lines[0], lines[2], lines[1], *lines[3:]], 2),
    }
    for order, first in changed.values():
        path.write_bytes(b"".join(order))
        assert verify_chain(path)[0].detail.startswith(f"Line {first}: ")


def test_one_changed_line_is_one_finding(path: Path) -> None:
    journal_with(path, *tried(1, 20.0)).close()
    path.write_bytes(path.read_bytes().replace(b'"value":20.0', b'"value":19.0'))
    assert len(verify_chain(path)) == 1


@settings(max_examples=40, deadline=None)
@given(count=st.integers(0, 40), length=st.integers(0, 3000), cut=st.booleans())
def test_the_tail_is_the_end_of_all_events(
    count: int, length: int, cut: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "tail.jsonl"
    path.unlink(missing_ok=True)
    with JournalFile.create(path) as journal:
        journal.append_many([Noted(text=f"{n}" + "x" * length) for n in range(33)])
    if cut:
        path.write_bytes(path.read_bytes()[:-1])
    everything = load_events(path)
    assert tail(path, count) == (everything[-count:] if count else [])
    assert events_after(path, count) == everything[count:]


def test_the_tail_of_an_empty_journal_is_empty(path: Path) -> None:
    path.write_bytes(b"")
    assert last_lines(path, 5) == []
    assert tail(path, 5) == []


def test_a_line_that_is_no_event_is_named(path: Path) -> None:
    journal_with(path, *tried(1, 20.0)).close()
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"trial_started", b"trial_dreamed")
    path.write_bytes(b"".join(lines))
    with pytest.raises(WorkspaceError, match="Line 4 of"):
        load_events(path)
    with pytest.raises(WorkspaceError, match="Line 3 from the end"):
        tail(path, 4)


def test_a_journal_of_a_newer_schema_is_refused(path: Path) -> None:
    with JournalFile.create(path) as journal:
        journal.append(STARTED.model_copy(update={"schema_version": 2}))
    for read in (read_start, JournalFile.open):
        with pytest.raises(WorkspaceError, match="newer version"):
            read(path)


def test_the_start_of_a_run_is_read_from_the_first_line(path: Path) -> None:
    journal_with(path).close()
    assert read_start(path).body == STARTED


def test_a_journal_without_a_start_is_refused(path: Path) -> None:
    with JournalFile.create(path) as journal:
        journal.append(OPENED)
    with pytest.raises(WorkspaceError, match="does not begin"):
        read_start(path)
    with pytest.raises(WorkspaceError, match="no journal"):
        read_start(path.with_name("absent.jsonl"))


def append_interrupted_at(journal: JournalFile, line: int) -> bool:
    """Append an event; an interrupt comes at a line of the journal's code. False if none came."""
    passed = itertools.count(1)

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        if Path(frame.f_code.co_filename).name != "journal.py":
            return None
        if event == "line" and next(passed) == line:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        journal.append(Noted(text="interrupted"))
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_at_any_line_of_a_write_leaves_a_journal_that_goes_on(tmp_path: Path) -> None:
    for line in itertools.count(1):
        path = tmp_path / f"{line}.jsonl"
        with JournalFile.create(path) as journal:
            journal.append(Noted(text="before"))
            was_interrupted = append_interrupted_at(journal, line)
            journal.append(Noted(text="after"))
        assert verify_chain(path) == []
        events = load_events(path)
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        if not was_interrupted:
            break
    assert line > 10

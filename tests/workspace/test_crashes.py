import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sciagent.contracts.errors import WorkspaceError
from sciagent.workspace.chain import verify_chain
from sciagent.workspace.journal import JournalFile, load_events
from sciagent.workspace.layout import Layout
from sciagent.workspace.lock import OwnerLock, owner

APPEND_FOR_EVER = """
import sys
from pathlib import Path
from sciagent.contracts.events import Noted
from sciagent.workspace.journal import JournalFile
with JournalFile.open(Path(sys.argv[1])) as journal:
    while True:
        events = journal.append_many([Noted(text="x" * n) for n in (10, 5000, 100)])
        print(events[-1].sequence, flush=True)
"""
APPEND_UNTIL_FULL = """
import resource, sys
from pathlib import Path
from sciagent.contracts.errors import ResourceError
from sciagent.contracts.events import Noted
from sciagent.workspace.journal import JournalFile
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
with JournalFile.open(Path(sys.argv[1])) as journal:
    try:
        while True:
            journal.append(Noted(text="x" * 999))
    except ResourceError as error:
        print(journal.sequence, error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, resource.RLIM_INFINITY))
    print(journal.append(Noted(text="there is room again")).sequence)
"""
HOLD_LOCK = """
import sys, time
from pathlib import Path
from sciagent.workspace.layout import Layout
from sciagent.workspace.lock import OwnerLock
with OwnerLock(Layout(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(60)
"""


def started(program: str, argument: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(argument)], stdout=subprocess.PIPE, text=True
    )


def test_kill_9_in_the_middle_of_appends_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    JournalFile.create(path).close()
    lottery = random.Random(1)
    for _ in range(3):
        with started(APPEND_FOR_EVER, path) as writer:
            assert writer.stdout is not None
            confirmed = [writer.stdout.readline() for _ in range(lottery.randint(2, 40))]
            writer.send_signal(signal.SIGKILL)
            confirmed += writer.stdout.readlines()
        last = max(int(line) for line in confirmed if line.endswith("\n") and line.strip())
        with JournalFile.open(path) as journal:
            assert journal.sequence >= last
        assert verify_chain(path) == []
        assert [event.sequence for event in load_events(path)][-1] >= last


def test_a_full_disk_leaves_a_valid_journal_that_goes_on_when_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    JournalFile.create(path).close()
    run = subprocess.run(
        [sys.executable, "-c", APPEND_UNTIL_FULL, str(path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    full, after = run.stdout.splitlines()
    written = int(full.split()[0])
    assert written > 5
    assert "disk is full" in full
    assert int(after) == written + 1
    assert verify_chain(path) == []
    assert len(load_events(path)) == written + 1


def test_the_second_writer_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with started(HOLD_LOCK, tmp_path) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert f"process {holder.pid} on " in (owner(layout) or "")
        with pytest.raises(WorkspaceError, match=f"in use by process {holder.pid} on "):
            OwnerLock(layout).__enter__()
        holder.kill()
        holder.wait()
        # Its file is still there, but a dead owner is no obstacle.
        assert layout.lock.exists()
        assert owner(layout) is None
        with OwnerLock(layout) as lock:
            assert owner(layout) == lock.owner
    assert not layout.lock.exists()


def test_one_process_cannot_own_a_workspace_twice(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with OwnerLock(layout) as lock:
        with pytest.raises(WorkspaceError, match=re.escape(lock.owner)):
            OwnerLock(layout).__enter__()
        assert owner(layout) == lock.owner
    assert owner(layout) is None


def test_a_lock_can_be_taken_again_after_it_was_released(tmp_path: Path) -> None:
    for _ in range(3):
        with OwnerLock(Layout(tmp_path)):
            assert (tmp_path / ".lock").exists()
        assert not (tmp_path / ".lock").exists()

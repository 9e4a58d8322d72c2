"""Folders of kernels go when their owner does, also if that was killed."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciagent.execution.runtime_folder import (
    PREFIX,
    make_runtime_folder,
    remove_abandoned_folders,
    runtime_folder,
)

MAKE = """
import sys
from sciagent.execution.runtime_folder import make_runtime_folder
print(make_runtime_folder(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stands for the folder of temporary files; its path is short."""
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        monkeypatch.setenv("TMPDIR", short)
        tempfile.tempdir = None  # it is looked up again
        yield Path(short)
        tempfile.tempdir = None


def test_a_folder_is_there_for_its_user_only_while_it_is_used(base: Path) -> None:
    with runtime_folder() as folder:
        assert folder.parent == base
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "connection.json").write_text("{}")
    assert list(base.iterdir()) == []


def test_folders_of_killed_owners_are_removed_and_those_of_living_ones_kept(base: Path) -> None:
    unknown = base / f"{PREFIX}of-somebody"
    unknown.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", MAKE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().strip())
        (folder / "connection.json").write_text("{}")
        remove_abandoned_folders(base)
        assert (folder / "connection.json").exists()
        owner.kill()
    mine = make_runtime_folder()
    assert not folder.exists()
    assert mine.exists()
    assert unknown.exists()


def test_a_process_that_got_the_number_of_a_dead_owner_is_not_taken_for_it(base: Path) -> None:
    mine = make_runtime_folder()
    namespace, process = mine.name.removeprefix(PREFIX).split("-")[:2]
    earlier = base / f"{PREFIX}{namespace}-{process}-1-abc"
    elsewhere = base / f"{PREFIX}1-{process}-1-abc"
    earlier.mkdir()
    elsewhere.mkdir()
    remove_abandoned_folders(base)
    assert mine.exists()
    assert not earlier.exists()
    assert elsewhere.exists()


def test_sockets_find_room_where_the_path_of_temporary_files_is_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("long" * 20)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    tempfile.tempdir = None  # it is looked up again
    with runtime_folder() as folder:
        assert len(str(folder / "socket-1")) < 100
    tempfile.tempdir = None

"""Copies of the user's folders, compared, accepted and reverted without an agent."""

import os
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.contracts.events import FolderCopied
from sciagent.workspace.folders import (
    FileChange,
    accept,
    changes_of,
    copy_folder,
    revert,
    text_difference,
)
from sciagent.workspace.layout import Layout


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "run.sh").write_text("true\n")
    (mine / "run.sh").chmod(0o750)
    (mine / "notes.txt").write_text("one\n")
    (mine / "away").symlink_to(tmp_path)
    return mine


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "run" / "data").mkdir(parents=True)
    return Layout(tmp_path / "run")


@pytest.fixture
def copied(layout: Layout, mine: Path) -> FolderCopied:
    return copy_folder(layout, mine)


def only_change(layout: Layout, copied: FolderCopied) -> FileChange:
    (change,) = changes_of(layout.root, copied)
    return change


def test_who_may_execute_a_file_survives_copying_and_accepting(
    layout: Layout, copied: FolderCopied, mine: Path
) -> None:
    copy = layout / copied.path / "run.sh"
    assert os.access(copy, os.X_OK)
    copy.write_text("false\n")
    accept(layout.root, only_change(layout, copied))
    assert (mine / "run.sh").read_text() == "false\n"
    assert (mine / "run.sh").stat().st_mode & 0o777 == 0o750


def test_a_change_that_went_on_after_it_was_looked_at_is_not_accepted(
    layout: Layout, copied: FolderCopied, mine: Path
) -> None:
    copy = layout / copied.path / "notes.txt"
    copy.write_text("two\n")
    looked_at = only_change(layout, copied)
    copy.write_text("three\n")
    with pytest.raises(WorkspaceError, match="while it was taken over"):
        accept(layout.root, looked_at)
    assert (mine / "notes.txt").read_text() == "one\n"


@pytest.mark.parametrize("force", [False, True])
def test_a_link_in_the_users_folder_is_never_written_through(
    layout: Layout, copied: FolderCopied, tmp_path: Path, *, force: bool
) -> None:
    (layout / copied.path / "away").mkdir()
    (layout / copied.path / "away" / "new.txt").write_text("new")
    with pytest.raises(WorkspaceError, match="behind a link"):
        accept(layout.root, only_change(layout, copied), force=force)
    assert not (tmp_path / "new.txt").exists()


def test_a_link_put_there_after_looking_is_not_followed(
    layout: Layout, copied: FolderCopied, mine: Path, tmp_path: Path
) -> None:
    copy = layout / copied.path / "notes.txt"
    copy.write_text("two\n")
    change = only_change(layout, copied)
    (tmp_path / "secret").write_text("secret")
    copy.unlink()
    copy.symlink_to(tmp_path / "secret")
    assert text_difference(layout.root, change) == ""
    revert(layout.root, change)
    assert not copy.is_symlink()
    assert (tmp_path / "secret").read_text() == "secret"
    assert copy.read_text() == (mine / "notes.txt").read_text() == "one\n"


def test_hooks_of_version_control_cannot_be_accepted(layout: Layout, copied: FolderCopied) -> None:
    for name in (".git", ".GIT"):
        hook = layout / copied.path / name / "hooks" / "post-commit"
        hook.parent.mkdir(parents=True)
        hook.write_text("true\n")
    (layout / copied.path / "sub").mkdir()
    (layout / copied.path / "sub" / ".git").write_text("gitdir: ../hooks\n")
    assert list(changes_of(layout.root, copied)) == []


def test_a_copy_that_was_cut_off_is_made_anew(layout: Layout, mine: Path) -> None:
    leftover = layout.root / "data" / "folders" / ".mine.copying"
    leftover.mkdir(parents=True)
    (leftover / "half.txt").write_text("ha")
    copied = copy_folder(layout, mine)
    assert sorted(copied.files) == ["notes.txt", "run.sh"]
    assert [path.name for path in leftover.parent.iterdir()] == ["mine"]
    with pytest.raises(InputError, match="already"):
        copy_folder(layout, mine)


def test_nothing_is_copied_through_a_link_in_the_workspace(
    layout: Layout, mine: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (layout.root / "data" / "folders").symlink_to(outside)
    with pytest.raises(WorkspaceError, match="is a link"):
        copy_folder(layout, mine)
    assert list(outside.iterdir()) == []


def test_long_differences_are_cut_and_huge_texts_are_left_out(
    layout: Layout, copied: FolderCopied
) -> None:
    copy = layout / copied.path / "notes.txt"
    copy.write_text("".join(f"{each}\n" for each in range(4000)))
    shown = text_difference(layout.root, only_change(layout, copied)).splitlines()
    assert len(shown) == 401
    assert shown[-1] == "\\ and 3604 lines more"
    copy.write_text("".join(f"{each}\n" for each in range(6000)))
    change = only_change(layout, copied)
    assert text_difference(layout.root, change) == ""

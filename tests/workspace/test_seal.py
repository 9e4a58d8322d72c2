import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.events import SegmentOpened
from sciagent.contracts.study import Budget
from sciagent.workspace.inbox import send_command
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import Layout
from sciagent.workspace.seal import check_seal, files_of, is_sealed, seal
from tests.workspace.samples import finished_workspace, run_trial

FILES = [
    "data/pattern/pattern.xye",
    "report.md",
    "trials/0001/fit.csv",
    "trials/0001/outcome.json",
    "trials/0002/fit.csv",
    "trials/0002/outcome.json",
]


def sealed_workspace(folder: Path) -> Layout:
    layout = finished_workspace(folder)
    with JournalFile.open(layout.journal) as journal:
        seal(journal, layout.root, "completed")
    return layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return sealed_workspace(tmp_path)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    return sealed_workspace(tmp_path_factory.mktemp("original"))


def found(layout: Layout) -> list[tuple[str, str]]:
    return [(finding.path, finding.problem) for finding in check_seal(layout.root)]


def test_an_untouched_workspace_agrees_with_its_seal(layout: Layout) -> None:
    assert [artifact.path for artifact in files_of(layout.root)] == FILES
    assert is_sealed(layout.root)
    assert check_seal(layout.root) == []


def test_what_may_change_after_the_seal_does_no_harm(layout: Layout) -> None:
    (layout / "verification.json").write_text("{}")
    (layout / "reviews.jsonl").write_text("{}\n")
    layout.lock.write_text("left by a dead owner")
    send_command(layout, "stop", author="someone")
    assert check_seal(layout.root) == []


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_changed_byte_of_any_file_is_named_by_its_path(
    data: st.DataObject, original: Layout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copy = Layout(tmp_path_factory.getbasetemp() / "changed")
    shutil.rmtree(copy.root, ignore_errors=True)
    shutil.copytree(original.root, copy.root)
    name = data.draw(st.sampled_from([*FILES, "events.jsonl"]))
    content = bytearray((copy / name).read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    line = bytes(content[:place]).count(b"\n") + 1
    (copy / name).write_bytes(content)
    findings = check_seal(copy.root)
    assert findings[0].path == name
    if name == "events.jsonl":
        assert findings[0].detail.startswith(f"Line {line}: ")
    else:
        assert [finding.problem for finding in findings] == ["changed"]


def remove_file(layout: Layout) -> None:
    (layout / "report.md").unlink()


def add_file(layout: Layout) -> None:
    (layout / "trials/0001/more.csv").write_text("x\n")


def add_hidden_file(layout: Layout) -> None:
    (layout / ".hidden").write_text("")


def replace_by_link(layout: Layout) -> None:
    target = layout.root.parent / "elsewhere.md"
    (layout / "report.md").rename(target)
    (layout / "report.md").symlink_to(target)


def link_a_folder(layout: Layout) -> None:
    (layout / "more").symlink_to(layout.root.parent)


def link_the_verification(layout: Layout) -> None:
    (layout / "verification.json").symlink_to(layout.journal)


def hide_a_folder_in_the_inbox(layout: Layout) -> None:
    (layout / "inbox/deep").mkdir()
    (layout / "inbox/deep/x.csv").write_text("")


def swap_files(layout: Layout) -> None:
    first, second = layout / "trials/0001/fit.csv", layout / "trials/0002/fit.csv"
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


def remove_last_line(layout: Layout) -> None:
    lines = layout.journal.read_bytes().splitlines(keepends=True)
    layout.journal.write_bytes(b"".join(lines[:-1]))


def remove_journal(layout: Layout) -> None:
    layout.journal.unlink()


def empty_journal(layout: Layout) -> None:
    layout.journal.write_bytes(b"")


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (remove_file, [("report.md", "missing")]),
        (add_file, [("trials/0001/more.csv", "added")]),
        (add_hidden_file, [(".hidden", "added")]),
        (replace_by_link, [("report.md", "added")]),
        (link_a_folder, [("more", "added")]),
        (link_the_verification, [("verification.json", "added")]),
        (hide_a_folder_in_the_inbox, [("inbox/deep/x.csv", "added")]),
        (swap_files, [("trials/0001/fit.csv", "changed"), ("trials/0002/fit.csv", "changed")]),
        (remove_last_line, [("events.jsonl", "unsealed")]),
        (remove_journal, [("events.jsonl", "missing")]),
        (empty_journal, [("events.jsonl", "unsealed")]),
    ],
)
def test_each_defect_is_named(
    layout: Layout, spoil: Callable[[Layout], None], expected: list[tuple[str, str]]
) -> None:
    spoil(layout)
    assert found(layout) == expected


def test_defects_do_not_hide_each_other(layout: Layout) -> None:
    remove_file(layout)
    add_file(layout)
    layout.outcome(1).write_text("{}")
    assert found(layout) == [
        ("report.md", "missing"),
        ("trials/0001/more.csv", "added"),
        ("trials/0001/outcome.json", "changed"),
    ]


def test_every_link_of_the_journal_is_checked_even_if_its_end_is_unreadable(layout: Layout) -> None:
    content = layout.journal.read_bytes()
    layout.journal.write_bytes(content.replace(b'"kind":"sealed"', b'"kind":"closed"'))
    assert found(layout) == [("events.jsonl", "journal"), ("events.jsonl", "unsealed")]


def test_a_symbolic_link_is_not_sealed(tmp_path: Path) -> None:
    layout = finished_workspace(tmp_path)
    (layout / "linked.md").symlink_to(layout / "report.md")
    with (
        JournalFile.open(layout.journal) as journal,
        pytest.raises(WorkspaceError, match=r"no plain file: linked\.md"),
    ):
        seal(journal, layout.root, "completed")
    assert not is_sealed(layout.root)


def test_leftovers_of_killed_writers_are_removed_before_sealing(tmp_path: Path) -> None:
    layout = finished_workspace(tmp_path)
    (layout / ".study.json.4242.tmp").write_text("half")
    with JournalFile.open(layout.journal) as journal:
        seal(journal, layout.root, "completed")
    assert [artifact.path for artifact in files_of(layout.root)] == FILES


def test_a_continued_run_is_unsealed_until_it_is_sealed_again_and_then_the_new_seal_rules(
    layout: Layout,
) -> None:
    first_journal = layout.journal.read_bytes()
    with JournalFile.open(layout.journal) as journal:
        journal.append(SegmentOpened(reason="More trials.", budget=Budget(trials=5)))
        assert found(layout) == [("events.jsonl", "unsealed")]
        run_trial(layout, journal, 3, 12.0, parent=1)
        (layout / "report.md").write_text("# Report of the longer run\n")
        seal(journal, layout.root, "completed")
    assert check_seal(layout.root) == []
    assert layout.journal.read_bytes().startswith(first_journal)
    # The chain covers what was before the first seal too.
    changed = layout.journal.read_bytes().replace(b'"value":20.0', b'"value":19.0', 1)
    layout.journal.write_bytes(changed)
    assert found(layout) == [("events.jsonl", "journal")]

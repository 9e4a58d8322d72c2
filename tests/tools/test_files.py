import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciagent.contracts.errors import InputError
from sciagent.tools.approval import ApprovalRule
from sciagent.tools.confinement import opened_below, writable_path
from sciagent.tools.context import ToolContext
from sciagent.tools.files import find_text, list_files, read_file, write_file
from sciagent.tools.taint import Taint
from tests.tools.calls import used

ESCAPES = (
    "../secret.txt", "data/../../secret.txt", "/etc/passwd", "/proc/self/environ", "~/x",
    "\\\\server\\share", "C:/Windows/x", "link.txt", "folder/secret.txt", "up/secret.txt",
    "data/files/link.txt", "data/files/up/secret.txt", "a\0b", "a\nb", "./../secret.txt",
    "process/environ", "x" * 2_000, "\ud800",
)  # fmt: skip


OWNED = (
    "events.jsonl", "claims.json", "trials/0001/outcome.json", "data/files", "data/files/",
    "data/filesystem/x", "inbox/a.json", "data/report/request.json", "report.md", "",
)  # fmt: skip
STEPS = (
    "..", ".", "up", "folder", "link.txt", "secret.txt", "data", "files", "/", "//", "process",
    "root", "~",
)  # fmt: skip


@pytest.fixture
def trapped(root: Path) -> Path:
    """A workspace with links out of it, as code that a model ran could have made."""
    files = root / "data" / "files"
    files.mkdir(parents=True)
    for folder in (root, files):
        (folder / "link.txt").symlink_to(root.parent / "secret.txt")
        (folder / "up").symlink_to(root.parent)
    (root / "folder").symlink_to("..")
    (root / "process").symlink_to("/proc/self")
    os.mkfifo(root / "pipe")
    (root / "inside.txt").write_text("words inside")
    (root / "inner.txt").symlink_to("inside.txt")
    return root


@pytest.fixture
def free(context: ToolContext, trapped: Path) -> ToolContext:
    """A context in which nobody needs to be asked."""
    return ToolContext(root=trapped, journal=context.journal, approval=ApprovalRule("auto"))


@pytest.mark.parametrize("path", ESCAPES)
def test_no_tool_reads_what_lies_outside_of_the_workspace(free: ToolContext, path: str) -> None:
    for tool_used, arguments in (
        (read_file, {"path": path}),
        (find_text, {"path": path, "text": "secret"}),
        (list_files, {"folder": path}),
    ):
        result = used(tool_used, free, **arguments)
        assert result.label.status == "failed", tool_used.name
        assert "secret of the house" not in result.text


@pytest.mark.parametrize("path", [*ESCAPES, *OWNED])
def test_no_tool_writes_outside_of_the_folder_for_it(free: ToolContext, path: str) -> None:
    before = sorted(each for each in free.root.parent.rglob("*"))
    result = used(write_file, free, path=path, text="overwritten")
    assert result.label.status == "failed"
    assert (free.root.parent / "secret.txt").read_text() == "the secret of the house"
    assert sorted(each for each in free.root.parent.rglob("*")) == before


@given(st.lists(st.sampled_from(STEPS), max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_at_all_leads_to_the_secret(trapped: Path, parts: list[str]) -> None:
    path = "/".join(parts)
    try:
        with opened_below(trapped, path) as stream:
            assert stream.read() != b"the secret of the house"
    except InputError:
        pass
    try:
        place = writable_path(trapped, path)
    except InputError:
        return
    assert place.resolve().is_relative_to(trapped / "data" / "files")


def test_links_are_not_followed_even_inside_the_workspace(free: ToolContext) -> None:
    assert "Links are not followed" in used(read_file, free, path="inner.txt").text
    assert "inner.txt (link, not followed)" in used(list_files, free).text


def test_a_pipe_is_refused_without_waiting_for_a_writer(free: ToolContext) -> None:
    assert "is not a file" in used(read_file, free, path="pipe").text


def test_a_file_is_written_read_and_listed(free: ToolContext) -> None:
    assert used(write_file, free, path="data/files/a/b.md", text="αβγ words").text == (
        "Wrote 12 bytes."
    )
    assert used(read_file, free, path="data/files/a/b.md").text == "αβγ words"
    assert used(read_file, free, path="data/files/a/b.md", start=4, characters=3).text == "wor"
    assert used(list_files, free, folder="data/files/a").text == "b.md  12"


def test_reading_behind_the_end_or_a_binary_file_is_said(free: ToolContext) -> None:
    (free.root / "a.bin").write_bytes(b"\0\1\2")
    assert "is not text" in used(read_file, free, path="a.bin").text
    assert "has 12 characters" in used(read_file, free, path="inside.txt", start=99).text
    assert "cannot be opened" in used(read_file, free, path="nothing.txt").text


def test_words_are_found_across_line_breaks_and_case(free: ToolContext) -> None:
    (free.root / "a.txt").write_text("one\nTwo   three " + "x " * 500 + "two three")
    lines = used(find_text, free, path="a.txt", text="two three").text.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["4", "1016"]
    assert "is not in a.txt" in used(find_text, free, path="a.txt", text="four").text


@pytest.mark.parametrize(
    ("path", "fetched"),
    [("sources/a.txt", True), ("data/pattern/a.xye", True), ("trials/0001/a.txt", False),
     ("data/files/a.txt", False)],
)  # fmt: skip
def test_files_that_came_from_outside_are_marked_as_fetched(
    free: ToolContext, path: str, fetched: bool
) -> None:
    (free.root / path).parent.mkdir(parents=True, exist_ok=True)
    (free.root / path).write_text("words")
    assert used(read_file, free, path=path).label.fetched is fetched


def test_once_any_agent_has_read_from_outside_every_file_may_hold_it(free: ToolContext) -> None:
    assert not used(read_file, free, path="inside.txt").label.fetched
    free.taint.add("main/1.1", "words of a stranger")
    other = ToolContext(root=free.root, journal=free.journal, taint=Taint(agents=free.taint.agents))
    assert used(read_file, other, path="inside.txt").label.fetched

from pathlib import Path

import pytest

from sciagent.contracts.errors import WorkspaceError
from sciagent.workspace.identity import new_ulid
from sciagent.workspace.inbox import InboxFolder, send_command
from sciagent.workspace.layout import Layout
from tests.workspace.samples import command_of, finished_workspace


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return finished_workspace(tmp_path)


def test_a_command_is_taken_until_it_is_done(layout: Layout) -> None:
    inbox = InboxFolder(layout.inbox)
    sent = send_command(layout, "steer", {"text": "Free the cell."}, author="Ada")
    assert inbox.take() == [sent]
    assert inbox.take() == [sent]
    inbox.done(sent)
    inbox.done(sent)
    assert inbox.take() == []


def test_commands_come_in_the_order_they_were_sent(layout: Layout) -> None:
    sent = [send_command(layout, "steer", {"number": number}) for number in range(20)]
    assert InboxFolder(layout.inbox).take() == sent


def test_what_is_no_command_is_put_aside_and_holds_nothing_up(
    layout: Layout, caplog: pytest.LogCaptureFixture
) -> None:
    sent = send_command(layout, "stop")
    misnamed = command_of(new_ulid()).model_dump_json()
    (layout.inbox / "00.json").write_text("{")
    (layout.inbox / f"{new_ulid()}.json").write_text(misnamed)
    (layout.inbox / "climb.json").write_text(command_of("../climb").model_dump_json())
    (layout.inbox / "link.json").symlink_to(layout.journal)
    (layout.inbox / "large.json").write_text(" " * (1 << 21))
    (layout.inbox / ".half.json.12.tmp").write_text("{")
    assert InboxFolder(layout.inbox).take() == [sent]
    assert len(caplog.records) == 5
    assert InboxFolder(layout.inbox).take() == [sent]
    assert len(caplog.records) == 5
    assert len(list(layout.inbox.glob("*.refused"))) == 5


def test_a_command_names_no_file_outside_the_inbox(layout: Layout) -> None:
    outside = layout / "victim.json"
    outside.write_text("{}")
    InboxFolder(layout.inbox).done(command_of("../victim"))
    assert outside.exists()


def test_a_missing_inbox_is_empty(tmp_path: Path) -> None:
    assert InboxFolder(tmp_path / "inbox").take() == []


def test_a_command_to_what_is_no_workspace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="is not the folder of a run"):
        send_command(Layout(tmp_path / "absent"), "stop")
    assert not (tmp_path / "absent").exists()

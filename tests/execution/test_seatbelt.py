"""The settings for macOS, as far as they can be checked elsewhere."""

import json
import shlex
from pathlib import Path

from sciagent.execution.bubblewrap import Confinement
from sciagent.execution.sandbox import SandboxMode, confined_command, probed
from sciagent.execution.seatbelt import SETTINGS


def test_the_settings_deny_the_network_and_all_writing_outside_of_the_workspace(
    tmp_path: Path,
) -> None:
    workspace, runtime, data = (tmp_path / name for name in ("workspace", "runtime", "data"))
    for folder in (workspace, runtime, data):
        folder.mkdir()
    confinement = Confinement("/opt/srt", workspace, runtime, read_only=(data,))
    command = confined_command(
        SandboxMode(mode="srt", program="/opt/srt", detail=""), confinement, ["python", "-c", "x y"]
    )
    assert command[1] == f"TMPDIR={runtime}"
    assert command[2:6] == ["/opt/srt", "--settings", str(runtime / SETTINGS), "-c"]
    inner = shlex.split(command[6])
    assert inner[:2] == ["env", "-i"]
    assert inner[-3:] == ["python", "-c", "x y"]
    settings = json.loads((runtime / SETTINGS).read_text())
    assert settings["network"]["allowedDomains"] == []
    assert settings["filesystem"]["allowWrite"] == [str(workspace), str(runtime)]
    assert str(workspace / "events.jsonl") in settings["filesystem"]["denyWrite"]
    assert str(data) in settings["filesystem"]["denyWrite"]
    assert str(data) in settings["filesystem"]["allowRead"]


def test_a_program_that_is_no_sandbox_of_macos_is_not_taken_for_one(tmp_path: Path) -> None:
    pretender = tmp_path / "srt"
    pretender.write_text('#!/bin/sh\nshift 3\nexec /bin/sh -c "$1"\n')
    pretender.chmod(0o755)
    assert probed([], landlock=False, macos=str(pretender)).mode == "unsandboxed"

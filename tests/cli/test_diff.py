"""``sciagent diff`` at the terminal."""

import json
from collections.abc import Iterator

import pytest

from sciagent.cli.diff import visible
from sciagent.execution.sandbox import sandbox_mode
from sciagent.testing.model_server import ModelServer, calling, in_turn, saying
from tests.cli.terminal import Terminal
from tests.cli.test_running import runs_in

pytestmark = pytest.mark.skipif(
    not sandbox_mode().is_confined, reason=f"no sandbox here: {sandbox_mode().remedy}"
)
EDIT = "open('data/folders/analysis/fit.py', 'w').write('slope = 2\\n')"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(in_turn(calling("code", code=EDIT), saying("Done."))) as server:
        yield server


def test_a_change_is_shown_and_then_taken_over(terminal: Terminal, server: ModelServer) -> None:
    terminal.variables["XDG_CONFIG_HOME"] = str(terminal.folder / "config")
    mine = terminal.folder / "analysis" / "fit.py"
    mine.parent.mkdir()
    mine.write_text("slope = 1\n")
    asked = terminal.type(
        "ask", "Mend the fit.", "--base-url", server.base_url, "--model", "scripted",
        "--approve", "auto", "--folder", "analysis",
    )  # fmt: skip
    assert asked.returncode == 0
    (run,) = runs_in(terminal)
    shown = terminal.type("diff", str(run))
    assert "changed: data/folders/analysis/fit.py" in shown.stdout
    assert "+slope = 2" in shown.stdout
    assert mine.read_text() == "slope = 1\n"
    accepted = json.loads(terminal.type("diff", str(run), "--accept-all", "--json").stdout)
    assert [each["decision"] for each in accepted["user"]] == ["accepted"]
    assert mine.read_text() == "slope = 2\n"
    unknown = terminal.type("diff", str(run), "--accept", "data/nothing")
    assert unknown.returncode == 2
    assert "data/nothing" in unknown.stderr


def test_nothing_of_a_change_is_hidden_from_the_reviewer() -> None:
    hidden = "+rm -r data\x1b[2K\r+fine\n+\u202eesrever\u200b\tµ\n"
    assert visible(hidden) == "+rm -r data\\x1b[2K\\r+fine\n+\\u202eesrever\\u200b\tµ\n"

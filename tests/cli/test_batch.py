import json

from tests.cli.terminal import Terminal

SPEC = """
campaign: bowls
question: toy/parabola
grid:
  lowest_x_um: [1.0, 2.0]
"""


def test_a_campaign_is_listed_run_and_read_again(terminal: Terminal) -> None:
    (terminal.folder / "bowls.yaml").write_text(SPEC)
    planned = terminal.type("batch", "bowls.yaml", "--dry-run")
    assert planned.returncode == 0
    assert "lowest_x_um=1.0" in planned.stdout
    assert not (terminal.folder / "artifacts").exists()
    done = terminal.type_apart("batch", "bowls.yaml", "--json")
    content = json.loads(done.stdout)
    assert [row["status"] for row in content["rows"]] == ["finished", "finished"]
    assert done.returncode == 0
    state = terminal.type("batch", "bowls.yaml", "--state")
    assert "height 0 µm" in state.stdout
    assert "report: " in state.stdout


def test_a_campaign_with_a_mistake_is_refused_in_a_sentence(terminal: Terminal) -> None:
    (terminal.folder / "bowls.yaml").write_text(SPEC.replace("lowest_x_um", "lowest"))
    refused = terminal.type("batch", "bowls.yaml")
    assert refused.returncode == 2
    assert "lowest_x_um" in refused.stderr
    assert not (terminal.folder / "artifacts").exists()
    assert terminal.type("batch", "nowhere.yaml").returncode == 2

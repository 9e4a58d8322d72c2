"""What pages promise in passing."""

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

import sciagent
from sciagent.cli.verdicts import counts
from sciagent.contracts.run import RunResult
from sciagent.contracts.study import Budget
from sciagent.runs import export
from tests.docs.pages import HOW_TO, ROOT


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of the toy question that a budget ended."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return sciagent.run("toy/parabola", out=tmp_path / "here", budget=Budget(trials=4)).path


def test_a_workspace_may_be_moved_and_continued_elsewhere(short: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / short.name
    moved.parent.mkdir()
    shutil.move(short, moved)
    run = sciagent.resume(moved, budget=Budget(trials=100))
    assert run.result.status == "completed"
    assert sciagent.verify(moved, rerun=True).ok


def test_an_unpacked_archive_verifies_like_the_original(short: Path, tmp_path: Path) -> None:
    archive = export(short, tmp_path / "run.zip")
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "unpacked")
    assert sciagent.verify(tmp_path / "unpacked" / short.name).ok


def test_the_page_on_scripts_names_every_key_of_the_objects_that_are_printed(short: Path) -> None:
    text = (HOW_TO / "use-the-command-line.md").read_text(encoding="utf-8")
    for name in RunResult.model_fields:
        assert f"`{name}`" in text, name
    printed = counts(sciagent.verify(short))
    assert {name for name in ("run", "claims", "ok") if f"`{name}`" in text} <= set(printed)


def test_the_picture_in_the_read_me_is_small_enough_to_be_committed() -> None:
    assert (ROOT / "docs" / "images" / "report.png").stat().st_size < 300_000


def test_the_copies_of_notebooks_that_the_build_makes_are_not_committed() -> None:
    copies = "docs/tutorials/notebooks/any.ipynb"
    asked = ["git", "check-ignore", "--quiet", "--no-index", copies]
    if not (ROOT / ".git").exists():
        pytest.skip("not a git work tree")
    assert subprocess.run(asked, cwd=ROOT, check=False).returncode == 0

"""What a run changed in the user's folders, and what people take over of it."""

from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError, UnknownNameError, WorkspaceError
from sciagent.contracts.events import ChangeDecided, CommandTaken, FolderCopied, MessageAdded
from sciagent.execution.sandbox import sandbox_mode
from sciagent.runs import Decisions, Surroundings, ask, decide, differences, resume
from sciagent.testing.model_server import ModelServer, calling, in_turn, saying
from sciagent.workspace.layout import Layout
from sciagent.workspace.reviews import read_reviews
from tests.runs.asking import bodies, settings

pytestmark = pytest.mark.skipif(
    not sandbox_mode().is_confined, reason=f"no sandbox here: {sandbox_mode().remedy}"
)

COPY = "data/folders/analysis"
WORK = f"""
import pathlib
folder = pathlib.Path('{COPY}')
(folder / 'fit.py').write_text('slope = 2\\n')
(folder / 'new.bin').write_bytes(bytes(range(256)))
(folder / 'old.txt').unlink()
pathlib.Path('figures/own.txt').write_text('own')
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "analysis"
    (folder / ".git").mkdir(parents=True)
    (folder / "fit.py").write_text("slope = 1\n")
    (folder / "old.txt").write_text("old")
    (folder / "kept.txt").write_text("kept")
    return folder


def changed(folder: Path) -> Path:
    """Let an agent change a folder, and return the finished run."""
    with ModelServer(in_turn(calling("code", code=WORK), saying("Done."))) as server:
        around = Surroundings(folders=(folder,))
        return ask(settings(server), out=folder.parent / "runs", surroundings=around).path


def stopped_after_a_cell(folder: Path, code: str) -> Path:
    """Let an agent run a cell, and return the run, which is not sealed."""
    seen: list[str] = []
    with ModelServer(in_turn(calling("code", code=code), saying("Done."))) as server:
        around = Surroundings(
            folders=(folder,), cancelled=lambda: bool(seen),
            observer=lambda event: seen.append(event.kind) if event.kind == "cell_ran" else None,
        )  # fmt: skip
        return ask(settings(server), out=folder.parent / "runs", surroundings=around).path


def test_a_run_shows_what_it_changed_and_leaves_the_users_folder_alone(folder: Path) -> None:
    run = changed(folder)
    found = differences(run)
    assert [(each.file.change, each.file.path) for each in found.user] == [
        ("changed", f"{COPY}/fit.py"), ("added", f"{COPY}/new.bin"), ("removed", f"{COPY}/old.txt"),
    ]  # fmt: skip
    assert {each.cells for each in found.user} == {("cell-0001",)}
    assert found.user[0].text.endswith("-slope = 1\n+slope = 2\n")
    assert found.user[1].text == ""
    assert [(each.path, each.size_bytes) for each in found.own] == [("figures/own.txt", 3)]
    assert sorted(path.name for path in folder.iterdir()) == [
        ".git", "fit.py", "kept.txt", "old.txt",
    ]  # fmt: skip
    assert (folder / "fit.py").read_text() == "slope = 1\n"


def test_accepted_changes_reach_the_users_folder_and_stand_beside_the_seal(folder: Path) -> None:
    run = changed(folder)
    decide(run, Decisions(accept=tuple(each.file.path for each in differences(run).user)))
    assert (folder / "fit.py").read_text() == "slope = 2\n"
    assert (folder / "new.bin").read_bytes() == bytes(range(256))
    assert not (folder / "old.txt").exists()
    (review,) = read_reviews(Layout(run))
    assert f"{COPY}/fit.py" in review.text


def test_a_file_that_the_user_changed_meanwhile_is_not_overwritten(folder: Path) -> None:
    run = changed(folder)
    (folder / "fit.py").write_text("slope = 3\n")
    both = Decisions(accept=(f"{COPY}/new.bin", f"{COPY}/fit.py"))
    with pytest.raises(WorkspaceError, match=r"fit\.py was changed since it was copied"):
        decide(run, both)
    assert not (folder / "new.bin").exists()
    decide(run, Decisions(accept=(f"{COPY}/fit.py",), force=True))
    assert (folder / "fit.py").read_text() == "slope = 2\n"


def test_a_sealed_run_takes_nothing_back_and_knows_only_what_changed(folder: Path) -> None:
    run = changed(folder)
    with pytest.raises(InputError, match="sealed"):
        decide(run, Decisions(revert=(f"{COPY}/fit.py",)))
    with pytest.raises(UnknownNameError, match=r"kept\.txt"):
        decide(run, Decisions(accept=(f"{COPY}/kept.txt",)))


def test_before_the_seal_a_change_is_reverted_and_journaled(folder: Path) -> None:
    run = stopped_after_a_cell(folder, WORK)
    decide(run, Decisions(revert=(f"{COPY}/fit.py", f"{COPY}/new.bin"), author="Ada"))
    assert (run / COPY / "fit.py").read_text() == "slope = 1\n"
    assert [each.file.path for each in differences(run).user] == [f"{COPY}/old.txt"]
    decided = bodies(run, ChangeDecided)
    assert [(each.decision, each.author) for each in decided] == [("reverted", "Ada")] * 2


def test_a_living_owner_journals_what_a_person_decided(folder: Path) -> None:
    sent: list[Path] = []

    def observer(event: object) -> None:
        if getattr(event, "kind", "") == "cell_ran":
            (run,) = (path for path in (folder.parent / "runs").iterdir())
            decide(run, Decisions(accept=(f"{COPY}/fit.py",), author="Ada"))
            sent.append(run)

    with ModelServer(in_turn(calling("code", code=WORK), saying("Done."))) as server:
        around = Surroundings(folders=(folder,), observer=observer)
        run = ask(settings(server), out=folder.parent / "runs", surroundings=around)
    assert (folder / "fit.py").read_text() == "slope = 2\n"
    (decided,) = bodies(run, ChangeDecided)
    assert (decided.path, decided.decision, decided.author) == (
        f"{COPY}/fit.py", "accepted", "Ada",
    )  # fmt: skip
    assert [each.command.command for each in bodies(run, CommandTaken)] == ["accept"]
    assert differences(run.path).user[0].decision == "accepted"


ESCAPES = {
    "a copy that became a link": ("shutil.rmtree(copy); os.symlink(outside, copy)", "secret.txt"),
    "a folder in it that became a link": (
        "shutil.rmtree(f'{copy}/sub'); os.symlink(outside, f'{copy}/sub')", "sub/kept.txt",
    ),
}  # fmt: skip


@pytest.mark.parametrize("trick", ESCAPES)
def test_links_that_code_makes_lead_no_decision_outside(folder: Path, trick: str) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (folder / "sub").mkdir()
    (folder / "sub" / "kept.txt").write_text("kept")
    act, name = ESCAPES[trick]
    code = f"import os, shutil\ncopy, outside = '{COPY}', '{outside}'\n{act}"
    run = stopped_after_a_cell(folder, code)
    assert "secret" not in "".join(each.text for each in differences(run).user)
    with pytest.raises((UnknownNameError, WorkspaceError)):
        decide(run, Decisions(revert=(f"{COPY}/{name}",)))
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]


def test_a_folder_given_on_resume_is_copied_and_told_to_the_agent(folder: Path) -> None:
    later = folder.parent / "later"
    later.mkdir()
    (later / "note.txt").write_text("note")
    run = stopped_after_a_cell(folder, "1")
    with ModelServer(in_turn(saying("Done."))) as server:
        resume(
            run, asked={"endpoint.base_url": server.base_url},
            surroundings=Surroundings(folders=(folder, later)),
        )  # fmt: skip
    assert [each.path for each in bodies(run, FolderCopied)] == [COPY, "data/folders/later"]
    said = [each.message.content for each in bodies(run, MessageAdded)]
    assert sum("data/folders/later" in text for text in said) == 1


def test_two_folders_of_one_name_are_refused_before_anything_is_made(folder: Path) -> None:
    other = folder.parent / "other" / "analysis"
    other.mkdir(parents=True)
    out = folder.parent / "runs"
    with ModelServer(in_turn(saying("Done."))) as server, pytest.raises(InputError, match="named"):
        ask(settings(server), out=out, surroundings=Surroundings(folders=(folder, other)))
    assert not out.exists()


@pytest.mark.parametrize("place", ["home", "runs", "missing"])
def test_a_folder_that_holds_too_much_is_refused_before_anything_is_made(
    tmp_path: Path, place: str
) -> None:
    out = tmp_path / "runs"
    chosen = {"home": Path.home(), "runs": tmp_path, "missing": tmp_path / "missing"}[place]
    with ModelServer(in_turn(saying("Done."))) as server, pytest.raises(InputError, match="folder"):
        ask(settings(server), out=out, surroundings=Surroundings(folders=(chosen,)))
    assert not out.exists()

import errno
import json
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError, ResourceError, SciagentError, WorkspaceError
from sciagent.contracts.run import RunRequest
from sciagent.workspace.atomic import is_leftover, storage_error, write_atomic
from sciagent.workspace.chain import verify_chain
from sciagent.workspace.content import media_type
from sciagent.workspace.journal import load_events
from sciagent.workspace.workspace import (
    create_workspace,
    input_paths,
    open_workspace,
    read_request,
)
from tests.workspace.samples import finished_workspace

REQUEST = RunRequest(question="toy/line", dataset="Line of Å")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "given" / "pattern.xye"
    path.parent.mkdir()
    path.write_text("10.0 100 10\n")
    return path


def test_a_new_workspace_holds_copies_of_its_inputs_and_a_begun_journal(
    tmp_path: Path, source: Path
) -> None:
    layout = create_workspace(tmp_path / "out", REQUEST, {"pattern": [source]})
    request = read_request(layout)
    (artifact,) = request.inputs["pattern"]
    assert artifact.path == "data/pattern/pattern.xye"
    assert input_paths(layout, request)["pattern"][0].read_bytes() == source.read_bytes()
    assert request.model_copy(update={"inputs": {}}) == REQUEST
    assert [event.kind for event in load_events(layout.journal)] == ["run_started"]
    assert verify_chain(layout.journal) == []
    assert "-line-of-a-" in layout.root.name
    assert list((tmp_path / "out").iterdir()) == [layout.root]


def test_inputs_of_the_same_name_are_all_kept(tmp_path: Path, source: Path) -> None:
    other = tmp_path / "pattern.xye"
    other.write_text("other\n")
    layout = create_workspace(tmp_path / "out", REQUEST, {"structure": [source, other, other]})
    paths = input_paths(layout, read_request(layout))["structure"]
    assert [path.name for path in paths] == ["pattern.xye", "pattern-2.xye", "pattern-3.xye"]
    assert paths[1].read_text() == "other\n"


def test_two_runs_of_one_moment_have_different_names(tmp_path: Path) -> None:
    names = {create_workspace(tmp_path, REQUEST, {}).root.name for _ in range(20)}
    assert len(names) == 20


@pytest.mark.parametrize("given", ["absent.xye", "."])
def test_what_is_no_file_is_refused_and_nothing_is_made(tmp_path: Path, given: str) -> None:
    with pytest.raises(InputError, match="'pattern'"):
        create_workspace(tmp_path / "out", REQUEST, {"pattern": [tmp_path / given]})
    assert not (tmp_path / "out").exists()


def test_a_failure_half_way_leaves_nothing_behind(tmp_path: Path, source: Path) -> None:
    # The name of this input cannot be a folder, so copying fails after the first input.
    bad = "x" * 300
    with pytest.raises(SciagentError, match="no workspace can be made"):
        create_workspace(tmp_path / "out", REQUEST, {"pattern": [source], bad: [source]})
    assert list((tmp_path / "out").iterdir()) == []


def test_an_output_folder_that_cannot_be_made_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SciagentError, match="no workspace can be made"):
        create_workspace(tmp_path / "file" / "out", REQUEST, {})


def test_a_folder_without_a_journal_is_no_workspace(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(WorkspaceError, match="is not the folder of a run"):
            open_workspace(path)


def test_a_workspace_is_opened_by_its_folder(tmp_path: Path) -> None:
    layout = finished_workspace(tmp_path)
    assert open_workspace(layout.root) == layout


@pytest.mark.parametrize("name", ["study.json", "claims.json", "verification.json"])
@pytest.mark.parametrize("key_first", [True, False])
def test_a_newer_schema_in_any_file_is_refused(tmp_path: Path, name: str, key_first: bool) -> None:
    layout = finished_workspace(tmp_path)
    version, rest = {"schema_version": 2}, {"text": 'a "schema_version": 1', "z": [1]}
    (layout / name).write_text(json.dumps(version | rest if key_first else rest | version))
    with pytest.raises(WorkspaceError, match=f"{name} was written by a newer version"):
        open_workspace(layout.root)


def test_a_number_that_only_looks_like_a_schema_version_does_no_harm(tmp_path: Path) -> None:
    layout = finished_workspace(tmp_path)
    settings = {"schema_version": 1, "settings": {"schema_version": 9}}
    (layout / "study.json").write_text(json.dumps(settings))
    (layout / "claims.json").write_text('{"schema_version": 9 and then it was cut')
    assert open_workspace(layout.root) == layout


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "study.json"
    write_atomic(path, "Å")
    assert path.read_bytes() == "Å".encode()
    with pytest.raises(TypeError):
        write_atomic(path, 7)  # type: ignore[arg-type]
    assert path.read_bytes() == "Å".encode()
    assert list(path.parent.iterdir()) == [path]


def test_a_temporary_file_is_known_by_its_name() -> None:
    assert is_leftover(Path(".study.json.4242.tmp"))
    assert not is_leftover(Path("study.json.tmp"))
    assert not is_leftover(Path(".study.json"))


def test_failures_of_the_file_system_are_sorted_by_remedy() -> None:
    full = storage_error(OSError(errno.ENOSPC, "No space"), "it cannot be written")
    denied = storage_error(OSError(errno.EROFS, "Read-only"), "it cannot be written")
    other = storage_error(OSError(errno.EIO, "Input/output error"), "it cannot be written")
    assert (type(full), type(denied), type(other)) == (ResourceError, InputError, ResourceError)
    assert "disk is full" in str(full)
    assert "Input/output error" in str(other)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.CIF", "chemical/x-cif"),
        ("a.json", "application/json"),
        ("a", "application/octet-stream"),
    ],
)
def test_the_media_type_follows_the_ending(name: str, expected: str) -> None:
    assert media_type(name) == expected

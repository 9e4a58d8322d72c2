from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.workspace.store import ContentStore


@settings(max_examples=40, deadline=None)
@given(content=st.binary(max_size=2000))
def test_content_is_read_back_from_its_hash(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "store"
    store = ContentStore(folder)
    artifact = store.put(content, "text/plain")
    with store.open(artifact.sha256) as stream:
        assert stream.read() == content
    assert (folder / artifact.path).read_bytes() == content
    assert artifact.size_bytes == len(content)
    assert artifact.media_type == "text/plain"


def test_equal_content_is_kept_once_whether_given_as_bytes_or_as_a_file(tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_bytes(b"the same")
    store = ContentStore(tmp_path / "store")
    assert store.put(source) == store.put(b"the same") == store.put(source)
    assert len([path for path in (tmp_path / "store").rglob("*") if path.is_file()]) == 1


def test_changed_content_is_not_given_out(tmp_path: Path) -> None:
    store = ContentStore(tmp_path)
    artifact = store.put(b"right")
    (tmp_path / artifact.path).write_bytes(b"wrong")
    with pytest.raises(WorkspaceError, match="was changed"):
        store.open(artifact.sha256)


@pytest.mark.parametrize("name", ["0" * 64, "../../secret", "0" * 63, ""])
def test_what_the_store_does_not_hold_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        ContentStore(tmp_path).open(name)


def test_a_source_that_is_not_there_leaves_nothing_behind(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "store")
    with pytest.raises(Exception, match="nothing can be kept"):
        store.put(tmp_path / "absent")
    assert list((tmp_path / "store").iterdir()) == []

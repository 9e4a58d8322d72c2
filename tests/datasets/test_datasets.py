import contextlib
import hashlib
import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError, ResourceError, UnknownNameError
from sciagent.datasets import DatasetRegistry, fetch, list_datasets, load_dataset, resolve
from sciagent.datasets.registry import shipped_folder

CONTENT = b"10.0 100 10\n"
LONG = b"#" * 10_000_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HEAD = """
schema_version = 1
name = "line"
title = "A line"
question = "toy/line"
kind = "simulated"
source = "Made for this test."
licence = "CC0-1.0"
"""


class CountingServer(http.server.ThreadingHTTPServer):
    """Gives two files and counts how often it was asked."""

    requests = 0


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, CountingServer)
        self.server.requests += 1
        content = {"/pattern.xye": CONTENT, "/long.xye": LONG}.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay silent."""


@pytest.fixture
def server() -> Iterator[CountingServer]:
    with CountingServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def address_of(server: CountingServer, name: str = "pattern.xye") -> str:
    return f"http://127.0.0.1:{server.server_port}/{name}"


def entry(origin: str, path: str = "pattern.xye", sha256: str = SHA256, **others: str) -> str:
    more = "".join(f'{key} = "{value}"\n' for key, value in others.items())
    return (
        f'[[files]]\ninput = "pattern"\norigin = "{origin}"\npath = "{path}"\n'
        f'sha256 = "{sha256}"\nsize_bytes = {len(CONTENT)}\n{more}'
    )


def registry_with(folder: Path, description: str) -> DatasetRegistry:
    place = folder / "datasets" / "line"
    place.mkdir(parents=True, exist_ok=True)
    (place / "dataset.toml").write_text(description)
    return DatasetRegistry((folder / "datasets",), folder / "cache")


def test_the_datasets_that_come_with_sciagent_are_listed_by_name() -> None:
    names = [dataset.name for dataset in list_datasets()]
    assert names == sorted(names)
    assert {"fluorapatite", "sc2au6"} <= set(names)
    assert all(dataset.source and dataset.licence for dataset in list_datasets())


def test_an_unknown_dataset_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'fluorapatite'"):
        load_dataset("flourapatite")


def test_sc2au6_is_bundled_whole_and_its_truth_is_given_to_nobody() -> None:
    dataset = load_dataset("sc2au6")
    files = resolve(dataset)
    assert {name: [path.name for path in paths] for name, paths in files.items()} == {
        "pattern": ["scau.xye"],
        "structure": ["own_Sc2Au6_start.cif"],
        "candidates": ["own_ScAu2.cif"],
    }
    for file in dataset.files:
        assert (shipped_folder() / "sc2au6" / file.path).stat().st_size == file.size_bytes
    truth = (shipped_folder() / "sc2au6" / "own_Sc2Au6_truth.cif").read_text()
    assert f"_cell_length_a {dataset.known['cell_a'].value}" in truth
    assert f"_cell_length_c {dataset.known['cell_c'].value}" in truth
    assert f"Au1 Au {dataset.known['au_x'].value}" in truth


def test_fluorapatite_comes_with_the_package_that_refines_it() -> None:
    pytest.importorskip("rietx")
    dataset = load_dataset("fluorapatite")
    files = fetch("fluorapatite")
    assert [path.name for paths in files.values() for path in paths] == [
        "FAP.XRA",
        "fluorapatite.cif",
    ]
    # The record of the published refinement lies beside the pattern.
    record = files["pattern"][0].with_name("FAP.EXP").read_text()
    assert f"ABC     {dataset.known['cell_a'].value}" in record
    assert f"{dataset.known['cell_a'].uncertainty:.6f}" in record
    assert f"{dataset.known['cell_c'].value}" in record
    assert f"RPOWD     {dataset.known['r_wp'].value / 100:.4f}" in record


def test_a_bundled_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    registry = registry_with(tmp_path, HEAD + entry("bundled"))
    file = tmp_path / "datasets" / "line" / "pattern.xye"
    with pytest.raises(InputError, match="is not there"):
        registry.fetch("line")
    file.write_bytes(CONTENT)
    assert registry.fetch("line") == {"pattern": (file,)}
    file.write_bytes(CONTENT + b"#")
    with pytest.raises(InputError, match="holds something else"):
        registry.fetch("line")


def test_a_missing_dependency_is_named_with_the_way_to_get_it(tmp_path: Path) -> None:
    registry = registry_with(tmp_path, HEAD + entry("dependency", package="not_a_package_at_all"))
    with pytest.raises(InputError, match="pip install not_a_package_at_all"):
        registry.fetch("line")


def test_another_version_of_a_dependency_is_not_taken_for_the_right_one(tmp_path: Path) -> None:
    registry = registry_with(tmp_path, HEAD + entry("dependency", "py.typed", package="pydantic"))
    with pytest.raises(InputError, match="Install the version of 'pydantic'"):
        registry.fetch("line")


def test_a_file_is_downloaded_once_and_then_taken_from_the_cache(
    tmp_path: Path, server: CountingServer
) -> None:
    registry = registry_with(tmp_path, HEAD + entry("download", url=address_of(server)))
    (path,) = registry.fetch("line")["pattern"]
    assert path.read_bytes() == CONTENT
    assert path.is_relative_to(tmp_path / "cache")
    assert registry.fetch("line")["pattern"] == (path,)
    assert server.requests == 1
    path.write_bytes(b"spoiled")
    assert registry.fetch("line")["pattern"][0].read_bytes() == CONTENT
    assert server.requests == 2


def test_what_is_bundled_or_in_a_dependency_is_never_downloaded(
    tmp_path: Path, server: CountingServer
) -> None:
    registry = registry_with(tmp_path, HEAD + entry("bundled", url=address_of(server)))
    bundled = tmp_path / "datasets" / "line" / "pattern.xye"
    bundled.write_bytes(CONTENT)
    assert registry.fetch("line")["pattern"] == (bundled,)
    assert server.requests == 0
    bundled.unlink()
    (downloaded,) = registry.fetch("line")["pattern"]
    assert downloaded.is_relative_to(tmp_path / "cache")


def test_a_download_with_another_hash_is_refused_and_not_kept(
    tmp_path: Path, server: CountingServer
) -> None:
    description = HEAD + entry("download", sha256="0" * 64, url=address_of(server))
    with pytest.raises(InputError, match="does not have the SHA-256 0000"):
        registry_with(tmp_path, description).fetch("line")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_a_download_that_does_not_end_where_it_should_is_broken_off(
    tmp_path: Path, server: CountingServer
) -> None:
    endless = hashlib.sha256(LONG).hexdigest()
    url = address_of(server, "long.xye")
    registry = registry_with(tmp_path, HEAD + entry("download", sha256=endless, url=url))
    with pytest.raises(InputError, match="does not have the SHA-256"):
        registry.fetch("line")


def test_a_page_that_is_not_there_is_one_error_with_a_remedy(
    tmp_path: Path, server: CountingServer
) -> None:
    description = HEAD + entry("download", url=address_of(server, "absent.xye"))
    with pytest.raises(ResourceError, match="404") as caught:
        registry_with(tmp_path, description).fetch("line")
    assert "put the file at" in caught.value.remedy


def test_a_server_that_cannot_be_reached_is_one_error_with_a_remedy(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/pattern.xye"
        registry = registry_with(tmp_path, HEAD + entry("download", url=address))
        with pytest.raises(ResourceError, match="could not be downloaded"):
            registry.fetch("line")


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ("name = ", "cannot be read"),
        (HEAD.replace("schema_version = 1", "schema_version = 2"), "Update sciagent"),
        (HEAD.replace('"line"', '"other"') + "files = []", "Give both the same name"),
        (HEAD.replace('kind = "simulated"', 'kind = "dreamed"') + "files = []", "field kind"),
        (HEAD, "field files: Field required"),
        (HEAD + "files = []\nextra = 1", "field extra"),
        (HEAD + "files = []\n[known.a]\nvalue = 1\nunit = 'parsec'", "field known.a.unit"),
        (HEAD + entry("bundled", "../../secret"), "leads out of its folder"),
        (HEAD + entry("bundled", "/etc/hosts"), "leads out of its folder"),
        (HEAD + entry("dependency"), "no package is named"),
        (HEAD + entry("download"), "no address is given"),
        (HEAD + entry("download", url="file:///etc/hosts"), "is not a web address"),
    ],
)
def test_a_wrong_description_is_refused_in_one_sentence(
    tmp_path: Path, description: str, message: str
) -> None:
    registry = registry_with(tmp_path, description)
    with pytest.raises(InputError) as caught:
        registry.load_dataset("line")
    assert message in str(caught.value)


def test_an_earlier_folder_goes_before_a_later_one_of_the_same_name(tmp_path: Path) -> None:
    first = registry_with(tmp_path / "a", HEAD + "files = []")
    second = registry_with(tmp_path / "b", HEAD.replace("A line", "Another") + "files = []")
    both = DatasetRegistry((*second.folders, *first.folders), tmp_path)
    assert [dataset.title for dataset in both.list_datasets()] == ["Another"]

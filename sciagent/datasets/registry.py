"""Datasets by name, and where their files lie."""

import hashlib
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from sciagent.contracts.dataset import Dataset, DatasetFile
from sciagent.contracts.errors import InputError, UnknownNameError
from sciagent.datasets.description import DESCRIPTION, read_description
from sciagent.datasets.download import download


def shipped_folder() -> Path:
    """Folder of the datasets: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "_data" / "datasets"
    # A folder `datasets` beside an installed package may be anybody's.
    is_checkout = (package.parent / "pyproject.toml").is_file()
    return package.parent / "datasets" if is_checkout and not installed.is_dir() else installed


@dataclass(frozen=True, slots=True)
class DatasetRegistry:
    """The datasets of some folders.

    Attributes
    ----------
    folders
        Each dataset is a folder in one of these that holds a `dataset.toml`; an earlier one
        goes before a later one of the same name.
    cache
        Where downloaded files are kept.
    """

    folders: tuple[Path, ...] = field(default_factory=lambda: (shipped_folder(),))
    cache: Path = field(default_factory=lambda: user_cache_path("sciagent") / "datasets")

    def _descriptions(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for folder in self.folders:
            for path in sorted(folder.glob(f"*/{DESCRIPTION}")):
                found.setdefault(path.parent.name, path)
        return found

    def list_datasets(self) -> tuple[Dataset, ...]:
        """List all datasets by name; their files are not looked at."""
        return tuple(read_description(path) for _, path in sorted(self._descriptions().items()))

    def load_dataset(self, name: str) -> Dataset:
        """Read one dataset's description.

        Raises
        ------
        UnknownNameError
            If there is none of that name.
        InputError
            If its `dataset.toml` is wrong.
        """
        known = self._descriptions()
        if name not in known:
            raise UnknownNameError.among("dataset", name, known)
        return read_description(known[name])

    def resolve(self, dataset: Dataset) -> dict[str, tuple[Path, ...]]:
        """Find a dataset's files, and download what is neither here nor in the cache.

        Returns
        -------
        dict
            Files by the name of the input, in the order of the description. Each has the
            SHA-256 that the description states.

        Raises
        ------
        InputError
            If a file is not where it should be, or holds something else.
        ResourceError
            If a file cannot be downloaded.
        """
        known = self._descriptions()
        if dataset.name not in known:
            raise UnknownNameError.among("dataset", dataset.name, known)
        found: dict[str, tuple[Path, ...]] = {}
        for file in dataset.files:
            path = self._locate(dataset, file, known[dataset.name].parent)
            found[file.input] = (*found.get(file.input, ()), path)
        return found

    def fetch(self, name: str) -> dict[str, tuple[Path, ...]]:
        """Find, and where needed download, the files of the dataset of that name."""
        return self.resolve(self.load_dataset(name))

    def _locate(self, dataset: Dataset, file: DatasetFile, folder: Path) -> Path:
        """Look where the file should be by its origin; a download is the last resort."""
        here = folder / file.path if file.origin == "bundled" else None
        if file.origin == "dependency":
            here = _in_package(file)
        fault = ""
        if here is not None:
            fault = _fault(here, file)
            if not fault:
                return here
        if not file.url:
            raise _unavailable(dataset, file, here, fault)
        # The hash in the path keeps two versions of a file apart.
        cached = self.cache / dataset.name / file.sha256[:16] / Path(file.path).name
        return cached if not _fault(cached, file) else download(file, cached)


def _in_package(file: DatasetFile) -> Path | None:
    """Find a file of an installed package without importing it."""
    spec = find_spec(file.package)
    folders = spec.submodule_search_locations if spec else None
    return Path(next(iter(folders))) / file.path if folders else None


def _fault(path: Path, file: DatasetFile) -> str:
    """Say what keeps a file from being the one described; empty if nothing does."""
    if not path.is_file():
        return "is not there"
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found == file.sha256:
        return ""
    return f"holds something else (SHA-256 {found[:12]}…, described is {file.sha256[:12]}…)"


def _unavailable(dataset: Dataset, file: DatasetFile, here: Path | None, fault: str) -> InputError:
    if here is None:
        return InputError(
            f"The dataset {dataset.name!r} comes with the package {file.package!r}, which is not "
            "installed.",
            f"Install it, for example with `pip install {file.package}`.",
        )
    remedy = "Restore it from a copy, or install sciagent again."
    if file.origin == "dependency":
        remedy = f"Install the version of {file.package!r} that sciagent asks for."
    return InputError(f"The file {here} of the dataset {dataset.name!r} {fault}.", remedy)


def list_datasets() -> tuple[Dataset, ...]:
    """List the datasets that come with sciagent, by name."""
    return DatasetRegistry().list_datasets()


def load_dataset(name: str) -> Dataset:
    """Read the description of a dataset that comes with sciagent.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    return DatasetRegistry().load_dataset(name)


def resolve(dataset: Dataset) -> dict[str, tuple[Path, ...]]:
    """Find the files of a dataset by the name of the input; see `DatasetRegistry.resolve`."""
    return DatasetRegistry().resolve(dataset)


def fetch(name: str) -> dict[str, tuple[Path, ...]]:
    """Find, and where needed download, the files of a dataset of that name."""
    return DatasetRegistry().fetch(name)

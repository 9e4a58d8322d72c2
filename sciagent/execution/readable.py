"""Which files and folders outside its own a notebook may read in the sandbox."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

_SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev", "/run", "/etc", "/boot")))
_SHARED = tuple(map(Path, ("/tmp", "/var/tmp", "/home")))  # noqa: S108 - refused here


def why_too_broad(path: Path) -> str:
    """Say why a folder is not opened to a notebook; empty if it may be.

    Parameters
    ----------
    path
        An absolute path without links. The root, the home of the user with all above it, hidden
        files of the home (keys and settings lie there), the system's own and /tmp are refused.
    """
    home = Path.home().resolve()
    if home.is_relative_to(path):
        return f"{path} holds your whole home"
    if path.is_relative_to(home) and path.relative_to(home).parts[0].startswith("."):
        return f"{path} is hidden in your home, where keys and settings lie"
    if any(path.is_relative_to(each) for each in _SYSTEM):
        return f"{path} belongs to the system"
    if path in _SHARED:
        return f"{path} is used by all programs and people of this machine"
    return ""


def paths_named_in(parameters: Mapping[str, Any], directory: Path) -> tuple[Path, ...]:
    """Find the files and folders that parameters name, each once.

    Parameters
    ----------
    parameters
        Values; texts in lists count too.
    directory
        Where relative paths start.

    Returns
    -------
    tuple of Path
        Absolute paths without links.
    """
    found: dict[Path, None] = {}
    for text in _texts(parameters.values()):
        # These two find nothing, and do not raise, where a text can be no path.
        if text and (os.path.isfile(directory / text) or os.path.isdir(directory / text)):  # noqa: PTH112, PTH113
            found[Path(os.path.realpath(directory / text))] = None
    return tuple(found)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from _texts(value)


def search_path(directory: Path) -> tuple[Path, ...]:
    """List the folders of this process's PYTHONPATH that exist, as absolute paths."""
    parts = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [Path(os.path.realpath(directory / part)) for part in parts if part]
    return tuple(dict.fromkeys(path for path in paths if path.exists()))


def shown(paths: Iterable[Path], directory: Path) -> tuple[Path, ...]:
    """Say what must be bound so that `paths` can be read and `directory` stays writable.

    What lies in `directory` can be read already. Of a folder that holds `directory`, the rest is
    shown: bound as a whole, it would hide what can be written.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_relative_to(directory):
            continue
        parts = _around(path, directory) if directory.is_relative_to(path) else (path,)
        found.update(dict.fromkeys(parts))
    return tuple(found)


def _around(folder: Path, directory: Path) -> Iterator[Path]:
    for child in sorted(folder.iterdir()):
        if child == directory or child.is_symlink():
            continue
        if directory.is_relative_to(child):
            yield from _around(child, directory)
        elif child.is_file() or child.is_dir():
            yield child

"""Writes the variables of a kernel to files, and reads them back; runs inside the kernel.

Arrays are written by `numpy.save`, everything else by dill, all together, so that what two names
share stays shared. What cannot be written is left out and listed as lost. A view into an array
becomes an array of its own.
"""

import hashlib
import importlib
import io
import json
import os
import random
import sys
import threading
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
LOADED = "loaded.json"
_OBJECTS = "objects.dill"
_LONGEST = 160
_REFUSED = (io.IOBase, threading.Thread, type(threading.Lock()), type(threading.RLock()))
_STATE = " state "
"""No name of a variable: blanks are in it."""
_OF_IPYTHON = frozenset({"In", "Out", "exit", "quit", "open", "get_ipython"})


def save(names: Mapping[str, Any], folder: str, execution_count: int = 0) -> None:
    """Write the variables of a kernel, and last a `manifest.json` that says what was written.

    Parameters
    ----------
    names
        The namespace of the user. Names that begin with an underscore are IPython's or hidden.
    folder
        An empty folder.
    execution_count
        How many cells the kernel has counted.
    """
    place = Path(folder)
    lost: dict[str, str] = {}
    modules, arrays, others = _sorted_out(names, lost)
    written, files = _write_arrays(arrays, place)
    _write_objects(others, place, lost, files)
    size = sum(path.stat().st_size for path in place.iterdir())
    manifest = {
        "modules": modules, "arrays": written, "lost": lost, "cwd": str(Path.cwd()), "size": size,
        "execution_count": execution_count, "names": len(modules) + len(arrays) + len(others),
        "objects_sha256": _sha256(place / _OBJECTS),
    }  # fmt: skip
    (place / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def _sorted_out(
    names: Mapping[str, Any], lost: dict[str, str]
) -> tuple[dict[str, str], dict[str, Any], dict[str, Any]]:
    modules: dict[str, str] = {}
    arrays: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in names.items():
        if name.startswith("_") or name in _OF_IPYTHON:
            continue
        if isinstance(value, types.ModuleType):
            modules[name] = value.__name__
        elif _is_plain_array(value):
            arrays[name] = value
        elif isinstance(value, io.IOBase):
            lost[name] = "an open file"
        else:
            others[name] = value
    return modules, arrays, others


def _is_plain_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject


def _write_arrays(arrays: Mapping[str, Any], place: Path) -> tuple[dict[str, Any], dict[int, str]]:
    """Write each array once, also where several names stand for it.

    Returns
    -------
    dict, dict
        What was written, by the name of the variable; and the files by the identity of the array.
    """
    written: dict[str, Any] = {}
    files: dict[int, str] = {}
    for name, array in arrays.items():
        if id(array) not in files:
            files[id(array)] = f"{len(files)}.npy"
            sys.modules["numpy"].save(place / files[id(array)], array, allow_pickle=False)
        file = files[id(array)]
        written[name] = {"file": file, "sha256": _sha256(place / file)}
    return written, files


def _write_objects(
    others: dict[str, Any], place: Path, lost: dict[str, str], files: Mapping[int, str]
) -> None:
    """Write all that can be written together, so that what they share stays shared."""
    numpy = sys.modules.get("numpy")
    state = (random.getstate(), numpy.random.get_state() if numpy is not None else None)
    content = _attempted(lambda: _dumped({**others, _STATE: state}, files))
    if isinstance(content, _Failure):
        for name, value in list(others.items()):
            dumped = _attempted(lambda value=value: _dumped(value, files))  # type: ignore[misc]
            if isinstance(dumped, _Failure):
                lost[name] = f"{type(value).__name__}: {dumped.reason}"
                del others[name]
        content = _dumped({**others, _STATE: state}, files)
    (place / _OBJECTS).write_bytes(content)


def _dumped(value: Any, files: Mapping[int, str]) -> bytes:
    """Pickle a value; arrays that have files of their own are named and not written again.

    An open file would be opened anew, and emptied if it was being written; a lock that is held
    would be held by nobody. Both are refused wherever they are.
    """
    import dill

    class Pickler(dill.Pickler):  # type: ignore[misc]
        def persistent_id(self, each: Any) -> str | None:
            if isinstance(each, _REFUSED):
                raise TypeError(f"cannot pickle {type(each).__name__}")
            return files.get(id(each))

    stream = io.BytesIO()
    Pickler(stream, recurse=False).dump(value)
    return stream.getvalue()


def _loaded(content: bytes, arrays: Mapping[str, Any]) -> Any:
    import dill

    class Unpickler(dill.Unpickler):  # type: ignore[misc]
        def persistent_load(self, each: str) -> Any:
            return arrays[each]

    # Only what this kernel's own sandbox wrote is read, by a kernel of the same sandbox.
    return Unpickler(io.BytesIO(content)).load()


def load(names: dict[str, Any], folder: str) -> int:
    """Read the variables of a kernel back, and last write a `loaded.json` that says what is lost.

    Parameters
    ----------
    names
        The namespace of the user, to which they are added.
    folder
        Written by `save`.

    Returns
    -------
    int
        How many cells the earlier kernel had counted.
    """
    place = Path(folder)
    manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    if _sha256(place / _OBJECTS) != manifest["objects_sha256"]:
        raise ValueError("the saved objects are damaged")
    lost: dict[str, str] = {}
    _load_modules(manifest["modules"], names, lost)
    read = _load_arrays(manifest["arrays"], names, place)
    _load_objects(names, place, read)
    os.chdir(manifest["cwd"])
    (place / LOADED).write_text(json.dumps(lost), encoding="utf-8")
    return int(manifest["execution_count"])


def _load_modules(modules: dict[str, str], names: dict[str, Any], lost: dict[str, str]) -> None:
    for name, module in modules.items():
        try:
            names[name] = importlib.import_module(module)
        except ImportError as error:
            lost[name] = f"module: {error}"


def _load_arrays(
    arrays: dict[str, dict[str, Any]], names: dict[str, Any], place: Path
) -> dict[str, Any]:
    """Read the arrays, and give them by their files."""
    read: dict[str, Any] = {}
    for name, about in arrays.items():
        file = about["file"]
        if file not in read:
            import numpy as np

            if _sha256(place / file) != about["sha256"]:
                raise ValueError(f"the saved array {name} is damaged")
            read[file] = np.load(place / file, allow_pickle=False)
        names[name] = read[file]
    return read


def _load_objects(names: dict[str, Any], place: Path, arrays: Mapping[str, Any]) -> None:
    found: dict[str, Any] = _loaded((place / _OBJECTS).read_bytes(), arrays)
    python, numpy_state = found.pop(_STATE, (None, None))
    names.update(found)
    if python is not None:
        random.setstate(python)
    if numpy_state is not None:
        import numpy as np

        np.random.set_state(numpy_state)  # noqa: NPY002 - the one that the user may have seeded


@dataclass(frozen=True)
class _Failure:
    reason: str


def _attempted(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:  # noqa: BLE001 # process boundary: user classes raise anything
        return _Failure((str(error) or type(error).__name__).splitlines()[0][:_LONGEST])


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

"""Confines the files of a program by Landlock, where no namespace can be made.

``python -P -m sciagent.execution.landlock SETTINGS COMMAND...``

Files are confined, and TCP and signals where the system's Landlock knows them. Other packets are
not refused, and other processes can be listed, so that this is a weaker sandbox than bubblewrap.
"""

import ctypes
import json
import os
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from sciagent.execution.bubblewrap import Confinement, readable_folders, variables
from sciagent.workspace.layout import DATA, FIGURES

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same on all architectures
_NO_NEW_PRIVILEGES, _DROP_CAPABILITY, _CAPABILITIES = 38, 24, 64
_VERSION, _PATH_BENEATH = 1, 1
_LIST = 0b1000
_READ = 0b1101  # execute, read a file, read a folder
_OF_FILES = 0b1100000000000111  # execute, write, read, truncate, device control
_RIGHTS_BY_VERSION = (13, 14, 15, 15, 16)
_WITH_TCP, _WITH_SCOPES = 4, 6


def landlock_version() -> int:
    """Version of the system's Landlock; 0 if it has none (landlock(7))."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(_system_call(_CREATE, None, 0, _VERSION), 0)


def landlock_command(confinement: Confinement, command: Sequence[str]) -> list[str]:
    """Write the command line that runs `command` with confined files.

    Of the workspace only the folders for data and figures can be written, because a part of what
    can be written could not be protected.
    """
    scratch = confinement.runtime / "tmp"
    root = confinement.workspace
    settings = {
        "read": [*readable_folders(), "/proc", str(root), *map(str, confinement.read_only)],
        "write": [str(root / DATA), str(root / FIGURES), str(confinement.runtime)],
        "devices": ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"],
        # An interpreter finds a package by listing the folder that holds it.
        "list": [variables(confinement)["PYTHONPATH"]],
        "directory": str(root),
        "environment": {**variables(confinement), **_homes(scratch)},
    }
    module = ["-P", "-m", "sciagent.execution.landlock", json.dumps(settings)]
    return [sys.executable, *module, *command]


def _homes(scratch: Path) -> dict[str, str]:
    return {
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "IPYTHONDIR": str(scratch / "ipython"),
        "MPLCONFIGDIR": str(scratch / "matplotlib"),
    }


def confine(
    read: Iterable[str], listed: Iterable[str], write: Iterable[str], devices: Iterable[str]
) -> None:
    """Confine this process and all that it starts, for good.

    Parameters
    ----------
    read, listed, write, devices
        Paths that may be read, listed, written with all below them; files that may be used.

    Raises
    ------
    OSError
        If the system refuses.
    """
    version = landlock_version()
    everything = (1 << _RIGHTS_BY_VERSION[min(version, len(_RIGHTS_BY_VERSION)) - 1]) - 1
    parts = [everything]
    parts += [0b11] if version >= _WITH_TCP else []
    parts += [0b11] if version >= _WITH_SCOPES else []
    attributes = struct.pack(f"={len(parts)}Q", *parts)
    rules = _checked(_system_call(_CREATE, attributes, len(attributes), 0))
    for path in read:
        _allow(rules, path, _READ)
    for path in listed:
        _allow(rules, path, _LIST)
    for path in write:
        _allow(rules, path, everything)
    for path in devices:
        _allow(rules, path, everything & _OF_FILES)
    library = ctypes.CDLL(None, use_errno=True)
    for capability in range(_CAPABILITIES):
        # Root could read the memory of others by one; the program that follows has none.
        library.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    _checked(library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(_system_call(_RESTRICT, rules, 0))
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not Path(path).is_dir():
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, place)
        _checked(_system_call(_ADD, rules, _PATH_BENEATH, rule, 0))
    finally:
        os.close(place)


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return int(library.syscall(ctypes.c_long(number), *given))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main() -> None:
    """Confine this process and become the command."""
    settings, command = json.loads(sys.argv[1]), sys.argv[2:]
    Path(settings["environment"]["TMPDIR"]).mkdir(exist_ok=True)
    os.chdir(settings["directory"])
    confine(settings["read"], settings["list"], settings["write"], settings["devices"])
    os.execve(command[0], command, settings["environment"])


if __name__ == "__main__":
    main()

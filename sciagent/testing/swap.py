"""A swap file for a moment, on machines that have none and allow one."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sciagent.execution.pausing import has_swap

_MIB = 1024 * 1024


@contextmanager
def swap(folder: Path, size_mib: int) -> Iterator[str]:
    """Have swap while the ``with`` block runs.

    Parameters
    ----------
    folder
        Where a swap file is made if there is no swap; not a folder that lies in memory.
    size_mib
        Size of that file.

    Yields
    ------
    str
        Why there is none; empty if there is some.
    """
    if has_swap():
        yield ""
        return
    if shutil.which("mkswap") is None or shutil.which("swapon") is None:
        yield "there is no swap, and no program to make some"
        return
    file = folder / "swap-for-a-moment"
    trouble = _switch_on(file, size_mib)
    try:
        yield trouble
    finally:
        if not trouble:
            subprocess.run(["swapoff", str(file)], check=True, capture_output=True)
        file.unlink(missing_ok=True)


def _switch_on(file: Path, size_mib: int) -> str:
    with file.open("wb") as stream:
        file.chmod(0o600)
        for _ in range(size_mib):
            stream.write(bytes(_MIB))
    for command in (["mkswap", str(file)], ["swapon", str(file)]):
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
        if ended.returncode:
            return f"there is no swap, and none can be made: {ended.stderr.strip()}"
    return ""

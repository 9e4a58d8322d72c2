"""Names of files that any program can read, for code in a run may give them any bytes.

The journal and the crate are UTF-8, so that a name that is not could not be written in them.
"""

import os
from pathlib import Path


def shown_name(name: str) -> str:
    r"""Write a name or path so that it is text: each byte that is not becomes ``\xNN``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def rename_unreadable(root: Path) -> dict[str, str]:
    r"""Give what lies below a folder names that are text: bytes that are not become ``\xNN``.

    Nothing is overwritten: a number is put behind a name that is taken. Links are not followed.

    Returns
    -------
    dict
        New paths by the old ones, both relative to the folder and as text.
    """
    renamed: dict[str, str] = {}
    for folder, folders, files in os.walk(root, topdown=False):
        for name in (*files, *folders):
            if shown_name(name) != name:
                old = Path(folder, name)
                new = _free(old.with_name(shown_name(name)))
                old.rename(new)
                shown = (shown_name(str(each.relative_to(root))) for each in (old, new))
                renamed[next(shown)] = next(shown)
    return renamed


def _free(path: Path) -> Path:
    number, free = 1, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free

"""Which files of a workspace changed while a cell ran."""

import os
from pathlib import Path

from sciagent.workspace.atomic import is_leftover
from sciagent.workspace.file_names import shown_name
from sciagent.workspace.layout import INBOX, JOURNAL, LOCK, RECORD, SOURCES, STUDY, TRIALS

_OWNERS = frozenset({JOURNAL, LOCK, RECORD, STUDY, INBOX, SOURCES, TRIALS})
_MOST = 20_000

Snapshot = dict[str, tuple[int, int, int]]
"""Number, size and time of change (ns) of each file, by its path in the workspace."""


def snapshot(root: Path) -> Snapshot:
    """Look at all files of a workspace but those that its owner writes; links are not followed."""
    found: Snapshot = {}
    waiting = [root]
    while waiting and len(found) < _MOST:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if folder == root and (entry.name in _OWNERS or is_leftover(Path(entry.name))):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            else:
                _add(found, root, entry)
    return found


def _add(found: Snapshot, root: Path, entry: "os.DirEntry[str]") -> None:
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return
    path = Path(entry.path).relative_to(root).as_posix()
    found[path] = (seen.st_ino, seen.st_size, seen.st_mtime_ns)


def touched(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """List what was made, changed or removed, the last marked so."""
    changed = [shown_name(path) for path, seen in after.items() if before.get(path) != seen]
    removed = [f"{shown_name(path)} (removed)" for path in before if path not in after]
    return tuple(sorted(changed) + sorted(removed))

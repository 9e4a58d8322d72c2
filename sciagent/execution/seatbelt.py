"""The command line that puts a program into the sandbox of macOS, by the program ``srt``.

Written to the documentation of sandbox-runtime and untested: no macOS was at hand. Its settings
deny reading the folders of all users but what code needs, writing anywhere but the workspace and
the folder of the kernel's sockets, and every connection. Memory, processes and files are not
bounded there.
"""

import json
import shlex
from collections.abc import Sequence

from sciagent.execution.bubblewrap import Confinement, readable_folders, variables
from sciagent.workspace.layout import (
    INBOX,
    JOURNAL,
    LOCK,
    REVIEWS,
    SOURCES,
    TRIALS,
    VERIFICATION,
)

SETTINGS = "srt-settings.json"
_USERS = ("/Users", "/home", "/root", "/Volumes")
_OF_THE_OWNER = (JOURNAL, LOCK, INBOX, SOURCES, TRIALS, VERIFICATION, REVIEWS)


def seatbelt_settings(confinement: Confinement) -> dict[str, dict[str, list[str] | bool]]:
    """Say what is allowed, in the form that ``srt --settings`` reads."""
    root, runtime = confinement.workspace, confinement.runtime
    readable = [*readable_folders(), *map(str, (root, runtime, *confinement.read_only))]
    return {
        "network": {
            "allowedDomains": [],
            "deniedDomains": [],
            "allowUnixSockets": [str(runtime)],
            "allowLocalBinding": False,
        },
        "filesystem": {
            "denyRead": list(_USERS),
            "allowRead": readable,
            "allowWrite": [str(root), str(runtime)],
            "denyWrite": [
                *(str(root / name) for name in _OF_THE_OWNER),
                *map(str, confinement.read_only),
            ],
        },
    }


def seatbelt_command(confinement: Confinement, command: Sequence[str]) -> list[str]:
    """Write the settings beside the kernel's sockets, and the command line that uses them."""
    path = confinement.runtime / SETTINGS
    path.write_text(json.dumps(seatbelt_settings(confinement), indent=1), encoding="utf-8")
    environment = [f"{name}={value}" for name, value in variables(confinement).items()]
    inner = shlex.join(["env", "-i", *environment, *command])
    # Its own folder of temporary files must not be one that others share: it is made writable.
    temporary = f"TMPDIR={confinement.runtime}"
    return ["/usr/bin/env", temporary, confinement.program, "--settings", str(path), "-c", inner]

"""Commands to a running owner: one small file each, written whole."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, ValidationError

from sciagent.contracts.errors import WorkspaceError
from sciagent.contracts.run import Command
from sciagent.workspace.atomic import storage_error, write_atomic
from sciagent.workspace.clock import utc_timestamp
from sciagent.workspace.identity import is_ulid, new_ulid
from sciagent.workspace.layout import Layout

_LOG = logging.getLogger(__name__)
_SIZE_LIMIT_BYTES = 1 << 20

CommandName = Literal["stop", "approve", "deny", "steer", "result", "propose", "accept", "revert"]


class InboxFolder:
    """The folder in which the owner finds commands.

    A file that is no command is renamed to ``<name>.refused`` and said in the log, so that one
    bad file cannot hold a run up.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self) -> list[Command]:
        """Read the waiting commands, oldest first; each is returned until it is `done`."""
        if not self._folder.is_dir():
            return []
        paths = sorted(self._folder.glob("*.json"))
        commands = [self._read(path) for path in paths if not path.name.startswith(".")]
        return [command for command in commands if command is not None]

    def _read(self, path: Path) -> Command | None:
        try:
            if path.is_symlink() or path.stat().st_size > _SIZE_LIMIT_BYTES:
                raise ValueError("it is a link, or too large")
            command = Command.model_validate_json(path.read_bytes())
            if command.id != path.stem or not is_ulid(command.id):
                raise ValueError("its name is not its identifier")
        except FileNotFoundError:
            return None
        except (ValidationError, ValueError, OSError) as error:
            _LOG.warning("%s is no command and is put aside: %s", path, error)
            path.replace(path.with_name(f"{path.name}.refused"))
            return None
        return command

    def done(self, command: Command) -> None:
        """Remove a command that is in the journal; one that is gone already does no harm."""
        if is_ulid(command.id):
            (self._folder / f"{command.id}.json").unlink(missing_ok=True)


def send_command(
    layout: Layout,
    command: CommandName,
    arguments: Mapping[str, JsonValue] | None = None,
    author: str = "",
) -> Command:
    """Leave a command for the owner of a workspace.

    Raises
    ------
    WorkspaceError
        If the folder is no workspace.
    InputError
        If the folder cannot be written.
    ResourceError
        If the disk is full.
    """
    if not layout.journal.is_file():
        raise WorkspaceError(
            f"{layout.root} is not the folder of a run: it holds no journal.",
            "Give a folder that `sciagent run` made; `sciagent list` names them.",
        )
    sent = Command(
        id=new_ulid(), command=command, arguments=dict(arguments or {}), author=author,
        time=utc_timestamp(),
    )  # fmt: skip
    try:
        write_atomic(layout.inbox / f"{sent.id}.json", sent.model_dump_json() + "\n")
    except OSError as error:
        raise storage_error(error, f"the command cannot be left in {layout.inbox}") from error
    return sent

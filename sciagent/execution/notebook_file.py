"""The file that an executed notebook is saved to, while code may write to the folder of it."""

import contextlib
import os
from pathlib import Path
from typing import Any

from sciagent.contracts.errors import SandboxError
from sciagent.workspace.atomic import storage_error, write_all

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class ReplacedFolderError(SandboxError):
    """Code of a notebook moved the folder that the executed notebook is saved to."""

    kind = "sandbox.replaced_folder"


class NotebookFile:
    """Saves into the folder that was there at first, and through no link that code put there.

    Parameters
    ----------
    path
        Absolute path of the file; its folder exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise storage_error(error, f"{path} cannot be written") from error

    def write(self, notebook: Any) -> None:
        """Replace the file; readers see the old one or the new one.

        Raises
        ------
        ResourceError, InputError
            If the folder cannot be written.
        """
        import nbformat

        content = nbformat.writes(notebook).encode()  # type: ignore[no-untyped-call]
        name, temporary = self.path.name, f".{self.path.name}.{os.getpid()}.tmp"
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=self._folder)
            file = os.open(temporary, _NEW, 0o666, dir_fd=self._folder)
            try:
                write_all(file, content)
            finally:
                os.close(file)
            os.replace(temporary, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError as error:
            raise storage_error(error, f"{self.path} cannot be written") from error

    def close(self) -> None:
        """Let go of the folder.

        Raises
        ------
        ReplacedFolderError
            If another folder is found under its path now.
        """
        ours = os.fstat(self._folder)
        os.close(self._folder)
        found = self.path.parent.stat() if self.path.parent.exists() else None
        if found is None or (found.st_dev, found.st_ino) != (ours.st_dev, ours.st_ino):
            raise ReplacedFolderError(
                f"The notebook replaced {self.path.parent}, the folder it is saved to.",
                "Save it outside of the folder that it works in.",
            )


def local_path(output: str | None) -> Path | None:
    """Find where papermill saves to on this machine; None if that is somewhere else."""
    from papermill.iorw import LocalHandler, papermill_io

    handler = papermill_io.get_handler(output) if output else None
    if not isinstance(handler, LocalHandler):
        return None
    started_in = handler.cwd(None)
    handler.cwd(started_in)
    return Path(os.path.abspath(Path(started_in or ".") / str(output)))  # noqa: PTH100

"""A folder of files known by the hash of their content."""

import hashlib
import os
import re
from pathlib import Path
from typing import IO

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.errors import InputError, WorkspaceError
from sciagent.workspace.atomic import storage_error, write_atomic
from sciagent.workspace.content import copy_file, sha256_of_file

_SHA256 = re.compile(r"[0-9a-f]{64}")


class ContentStore:
    """Keeps content once, at ``<first two digits>/<sha256>`` below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, content: bytes | Path, media_type: str = "application/octet-stream") -> Artifact:
        """Keep bytes, or a copy of a file.

        Returns
        -------
        Artifact
            Its path is relative to the store's folder.

        Raises
        ------
        ResourceError
            If the disk is full; the store is then as it was.
        """
        try:
            sha256 = self._put_file(content) if isinstance(content, Path) else self._put(content)
        except OSError as error:
            raise storage_error(error, f"nothing can be kept in {self._root}") from error
        path = self._path(sha256)
        return Artifact(
            path=path.relative_to(self._root).as_posix(), sha256=sha256,
            size_bytes=path.stat().st_size, media_type=media_type,
        )  # fmt: skip

    def _put(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        if not self._path(sha256).exists():
            write_atomic(self._path(sha256), content)
        return sha256

    def _put_file(self, source: Path) -> str:
        self._root.mkdir(parents=True, exist_ok=True)
        copy = self._root / f".copy.{os.getpid()}.tmp"
        try:
            copy.unlink(missing_ok=True)
            copy_file(source, copy)
            # Hashed after copying: the source may change meanwhile.
            sha256 = sha256_of_file(copy)
            self._path(sha256).parent.mkdir(exist_ok=True)
            copy.replace(self._path(sha256))
        finally:
            copy.unlink(missing_ok=True)
        return sha256

    def open(self, sha256: str) -> IO[bytes]:
        """Read content back; it is checked against its hash first.

        Raises
        ------
        InputError
            If there is no such content.
        WorkspaceError
            If the file was changed.
        """
        path = self._path(sha256)
        if not path.is_file():
            raise InputError(
                f"The store {self._root} holds nothing with the SHA-256 {sha256}.",
                "Put the content in again.",
            )
        if sha256_of_file(path) != sha256:
            raise WorkspaceError(
                f"The stored file {path} was changed.", "Put the content in again."
            )
        return path.open("rb")

    def _path(self, sha256: str) -> Path:
        if not _SHA256.fullmatch(sha256):
            raise InputError(f"{sha256!r} is no SHA-256.", "Give 64 hexadecimal digits.")
        return self._root / sha256[:2] / sha256

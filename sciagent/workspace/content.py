"""Files by their content: hashes, copies and media types."""

import hashlib
import os
import shutil
from mimetypes import MimeTypes
from pathlib import Path

from sciagent.contracts.artifact import Artifact

# Own table only: the answer must not depend on the machine's files of types.
_TYPES = MimeTypes(filenames=())
_KNOWN = {
    ".cif": "chemical/x-cif",
    ".ipynb": "application/x-ipynb+json",
    ".jsonl": "application/jsonl",
    ".log": "text/plain",
    ".md": "text/markdown",
    ".xye": "text/plain",
}


def sha256_of_file(path: Path) -> str:
    """Hash a file's content with SHA-256, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def copy_file(source: Path, target: Path) -> None:
    """Copy a file's content to a new file and wait for the disk."""
    with source.open("rb") as reader, target.open("xb") as writer:
        shutil.copyfileobj(reader, writer)
        writer.flush()
        os.fsync(writer.fileno())


def media_type(name: str) -> str:
    """Tell the media type from a file name's ending."""
    known = _KNOWN.get(Path(name).suffix.lower()) or _TYPES.guess_type(name)[0]
    return known or "application/octet-stream"


def artifact_of(path: Path, folder: Path) -> Artifact:
    """Describe a file by its content, with its path relative to a folder."""
    return Artifact(
        path=path.relative_to(folder).as_posix(), sha256=sha256_of_file(path),
        size_bytes=path.stat().st_size, media_type=media_type(path.name),
    )  # fmt: skip

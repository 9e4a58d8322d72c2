"""Tools that read the workspace, and write into one folder of it."""

import os
import re
import stat
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from sciagent.contracts.errors import InputError
from sciagent.tools.confinement import WRITABLE, folder_below, opened_below, parts_of, writable_path
from sciagent.tools.tool import ToolContext, ToolOutput, tool
from sciagent.workspace.atomic import storage_error, write_atomic

_LARGEST_BYTES = 64 * 1024 * 1024
_LISTED = 300
_HITS = 20
_AROUND = 160
_FROM_OUTSIDE = ("data", "sources", "inbox")
_OWN = (("data", "notes"), ("data", "report"))


def holds_outside_text(context: ToolContext, path: str) -> bool:
    """Whether a file may hold text from outside: inputs, sources, and what was made of them."""
    parts = parts_of(path)
    if context.taint.in_workspace:
        return True
    is_own = parts[:2] in _OWN or PurePosixPath(*parts).is_relative_to(WRITABLE)
    return parts[:1] != () and parts[0] in _FROM_OUTSIDE and not is_own


def text_of(context: ToolContext, path: str) -> str:
    """Read a text file of the workspace.

    Raises
    ------
    InputError
        If there is none, it is too large, or it is not text.
    """
    with opened_below(context.root, path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > _LARGEST_BYTES:
            raise InputError(
                f"{path!r} has {size} bytes; files of up to {_LARGEST_BYTES} can be read.",
                "Read it in parts with code.",
            )
        content = stream.read()
    if b"\0" in content[:8192]:
        raise InputError(
            f"{path!r} is not text ({size} bytes).",
            "Use view_image for pictures and code for data.",
        )
    return content.decode("utf-8", errors="replace")


@tool(read_only=True, approval="never")
def list_files(context: ToolContext, folder: str = "") -> ToolOutput:
    """List the files and folders of a folder of the workspace, with sizes in bytes.

    Parameters
    ----------
    folder
        Relative to the workspace; the workspace itself if empty.
    """
    with folder_below(context.root, folder) as descriptor:
        names = sorted(os.listdir(descriptor))  # noqa: PTH208 - the open folder, not its name
        lines = [_line(descriptor, name) for name in names[:_LISTED]]
    if len(names) > _LISTED:
        lines.append(f"... and {len(names) - _LISTED} more")
    text = "\n".join(lines) or "The folder is empty."
    return ToolOutput(text, tainted=holds_outside_text(context, folder), provenance=folder)


def _line(folder: int, name: str) -> str:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        return f"{name}/"
    kind = "" if stat.S_ISREG(status.st_mode) else " (link, not followed)"
    return f"{name}{kind}  {status.st_size}"


@tool(read_only=True, approval="never")
def read_file(
    context: ToolContext,
    path: str,
    start: Annotated[int, Field(ge=0)] = 0,
    characters: Annotated[int, Field(ge=1, le=16_000)] = 12_000,
) -> ToolOutput:
    """Read a text file of the workspace, or a part of it.

    Parameters
    ----------
    path
        Relative to the workspace.
    start
        First character, counted from 0.
    characters
        How many to read.
    """
    text = text_of(context, path)
    if start and start >= len(text):
        raise InputError(f"{path!r} has {len(text)} characters, none at {start}.")
    part = text[start : start + characters]
    end = start + len(part)
    is_whole = start == 0 and end == len(text)
    place = "" if is_whole else f" characters {start} to {end} of {len(text)}"
    return ToolOutput(part, tainted=holds_outside_text(context, path), provenance=f"{path}{place}")


@tool(read_only=True, approval="never")
def find_text(context: ToolContext, path: str, text: str) -> ToolOutput:
    """Find a text in a file of the workspace, without regard to case and white space.

    Gives the places, as first characters for read_file, with what stands around them.

    Parameters
    ----------
    path
        Relative to the workspace.
    text
        Words to look for.
    """
    if not text.split():
        raise InputError("There is nothing to look for.", "Give at least one word.")
    content = text_of(context, path)
    places = places_of(content, text)
    lines = [
        f"{start}: {' '.join(content[max(0, start - _AROUND) : end + _AROUND].split())}"
        for start, end in places[:_HITS]
    ]
    if len(places) > _HITS:
        lines.append(f"... and {len(places) - _HITS} more")
    found = "\n".join(lines) or f"{text!r} is not in {path}."
    return ToolOutput(found, tainted=holds_outside_text(context, path), provenance=path)


def places_of(content: str, text: str) -> list[tuple[int, int]]:
    """First and past-the-last character of each place where some words stand."""
    pattern = r"\s+".join(re.escape(word) for word in text.split())
    return [match.span() for match in re.finditer(pattern, content, re.IGNORECASE)]


@tool(read_only=False, approval="ask")
def write_file(context: ToolContext, path: str, text: str) -> ToolOutput:
    """Write a text file below data/files/, replacing the one that is there.

    Numbers written so cannot be claimed in the report: let code compute and save them.

    Parameters
    ----------
    path
        Relative to the workspace; it begins with data/files/.
    text
        All that the file is to hold.
    """
    place = writable_path(context.root, path)
    content = context.redactor.text(text).encode("utf-8", "replace")
    try:
        write_atomic(place, content)
    except OSError as error:
        raise storage_error(error, f"{path} cannot be written") from error
    return ToolOutput(f"Wrote {len(content)} bytes.", provenance=path)


FILES = (list_files, read_file, find_text, write_file)

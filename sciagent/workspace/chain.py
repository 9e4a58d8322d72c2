"""The hash chain of the journal, computed on bytes without reading their meaning.

A line is the canonical JSON of an event without its hash, whose closing brace is replaced by a
suffix of fixed length that holds the hash::

    {"body":{...},"parent":"",...,"time":"...","hash":"<64 hexadecimal digits>"}

The hash is the SHA-256 of the previous line's hash (as text) followed by the canonical JSON.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from sciagent.contracts.claim import Finding
from sciagent.contracts.events import GENESIS

_SUFFIX = re.compile(rb',"hash":"([0-9a-f]{64})"\}')
SUFFIX_LENGTH = len(b',"hash":""}') + 64
BLOCK_BYTES = 1 << 16


def chained_hash(previous: str, canonical: bytes) -> str:
    """Hash a line's canonical JSON in the chain, in hexadecimal."""
    return hashlib.sha256(previous.encode() + canonical).hexdigest()


def line_from_canonical(canonical: bytes, hash_: str) -> bytes:
    """Append the hash to the canonical JSON of an event; the line ends in a line feed."""
    return b'%b,"hash":"%b"}\n' % (canonical[:-1], hash_.encode())


def hash_of_line(line: bytes) -> str | None:
    """Read the hash that a line (without its line feed) carries; None if it carries none."""
    found = _SUFFIX.fullmatch(line[-SUFFIX_LENGTH:])
    return found[1].decode() if found else None


def canonical_of_line(line: bytes) -> bytes:
    """Give back the canonical JSON that the hash of a line is computed over."""
    return line[:-SUFFIX_LENGTH] + b"}"


class ChainLink(NamedTuple):
    """A line as the chain sees it."""

    number: int
    end_byte: int
    hash: str
    fault: str
    cut_off: bool = False


def links(stream: IO[bytes]) -> Iterator[ChainLink]:
    """Walk the chain. `fault` says what is wrong with a line and is empty for a good one.

    After a broken line the walk goes on from it, so that each wrong line is named once.
    """
    accepted = {GENESIS}
    end_byte = 0
    for number, line in enumerate(stream, start=1):
        end_byte += len(line)
        stated = hash_of_line(line[:-1])
        if not line.endswith(b"\n"):
            yield ChainLink(number, end_byte, "", "the line is cut off in the middle", True)
            return
        if stated is None:
            yield ChainLink(number, end_byte, "", "the line does not end in a hash")
            accepted = set()
            continue
        canonical = canonical_of_line(line[:-1])
        computed = {chained_hash(previous, canonical) for previous in accepted}
        # After a line without a readable hash nothing can be said about the next one.
        good = stated in computed or not accepted
        fault = "" if good else "the line, or the one before it, is not what was written"
        yield ChainLink(number, end_byte, stated, fault)
        accepted = {stated} if good else {stated, *computed}


def verify_chain(path: Path) -> list[Finding]:
    """Check every line of a journal against the one before it.

    Returns
    -------
    list of Finding
        One for each wrong line, with its number counted from 1; empty for an intact journal.
    """
    with path.open("rb") as stream:
        return [
            Finding(path=path.name, problem="journal", detail=f"Line {link.number}: {link.fault}.")
            for link in links(stream)
            if link.fault
        ]


def last_lines(path: Path, count: int) -> list[bytes]:
    """Read the last complete lines, without line feeds, from the end of the file only.

    Parameters
    ----------
    path
        The journal. Bytes after the last line feed belong to a line that is being written and
        are left out.
    count
        Lines wanted at most.
    """
    if count < 1:
        return []
    with path.open("rb") as stream:
        position = stream.seek(0, 2)
        content = b""
        # One line feed more than lines: the one in front of the first.
        while position > 0 and content.count(b"\n") <= count:
            step = min(max(BLOCK_BYTES, len(content)), position)
            position -= step
            stream.seek(position)
            content = stream.read(step) + content
    lines = content.split(b"\n")[:-1]
    return lines[-count:]

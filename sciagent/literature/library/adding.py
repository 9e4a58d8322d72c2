"""Adds files to a library: each once, each for itself, so that nothing that was added is lost."""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, NamedTuple

from sciagent.contracts.errors import InputError, SciagentError
from sciagent.contracts.literature import Document, Source, Work
from sciagent.contracts.model import sha256_text
from sciagent.literature.bibliography.keys import bare, with_unique_keys
from sciagent.literature.library.describing import described, matching, work_of_document
from sciagent.literature.library.entries import Entry, entries_of
from sciagent.literature.library.indexing import indexed
from sciagent.literature.library.library import Library, delete_document
from sciagent.literature.library.passages import passages_of
from sciagent.literature.library.reader import Reader
from sciagent.literature.library.storage import connected
from sciagent.workspace.clock import utc_timestamp

READABLE = frozenset({".pdf", ".html", ".htm", ".txt", ".md"})
BIBLIOGRAPHY = ".bib"
_BIB = "application/x-bibtex"
_AHEAD = 4


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a file or an entry of a bibliography.

    Attributes
    ----------
    name
        Path of the file, or key of the entry.
    outcome
        ``unchanged`` files were known already; ``failed`` ones cannot be read.
    detail
        Its title, or why it failed.
    """

    name: str
    outcome: Literal["added", "updated", "unchanged", "failed"]
    detail: str = ""


class _Row(NamedTuple):
    """Where a document is from: its file, or an entry of a bibliography."""

    place: str
    sha256: str
    is_entry: bool


class _Read(NamedTuple):
    path: Path
    sha256: str
    document: Document


def listed(paths: Sequence[Path]) -> list[Path]:
    """List the files that can be added, those of folders in order; hidden ones are left out.

    Raises
    ------
    InputError
        If a path does not exist, or a file is of a kind that cannot be read.
    """
    found: list[Path] = []
    for path in (each.expanduser().absolute() for each in paths):
        if path.is_dir():
            below = (each for each in sorted(path.rglob("*")) if _is_readable(each, path))
            found.extend(below)
        elif not path.is_file():
            raise InputError(f"There is no {path}.", "Give a file or folder that exists.")
        elif path.suffix.lower() not in READABLE | {BIBLIOGRAPHY}:
            raise InputError(
                f"{path.name} is no PDF, page, text or bibliography.",
                f"Give files that end in {', '.join(sorted(READABLE | {BIBLIOGRAPHY}))}.",
            )
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _is_readable(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not hidden and path.suffix.lower() in READABLE | {BIBLIOGRAPHY} and path.is_file()


def add(library: Library, paths: Sequence[Path], workers: int = 1) -> Iterator[Added]:
    """Add files, folders and bibliographies; yields what became of each as soon as it is kept.

    What was added stays added if this is ended anywhere. A file whose content is known is not
    read again.

    Parameters
    ----------
    library
        Made if it is missing.
    paths
        Folders are gone through whole.
    workers
        Processes that read.

    Raises
    ------
    InputError
        If a path does not exist or cannot be added; nothing was added then.
    """
    files = listed(paths)
    with connected(library.path, writes=True):
        pass
    entries: list[Entry] = []
    for path in (each for each in files if each.suffix.lower() == BIBLIOGRAPHY):
        try:
            found = entries_of(path)
        except SciagentError as error:
            yield Added(str(path), "failed", error.message)
            continue
        entries += found
        yield from _add_entries(library, path, [each.work for each in found])
    named = [each.file for each in entries if each.file is not None]
    papers = [each for each in files if each.suffix.lower() != BIBLIOGRAPHY]
    yield from _add_files(library, list(dict.fromkeys([*papers, *named])), entries, workers)


def _add_files(
    library: Library, files: Sequence[Path], entries: Sequence[Entry], workers: int
) -> Iterator[Added]:
    """Read files in processes, a few ahead, and keep each when it is its turn."""
    by_file = {each.file: each.work for each in entries if each.file is not None}
    readers: SimpleQueue[Reader] = SimpleQueue()
    all_readers = [Reader() for _ in range(max(workers, 1))]
    for reader in all_readers:
        readers.put(reader)

    def read(path: Path) -> _Read | Added:
        reader = readers.get()
        try:
            return _read(library, reader, path)
        finally:
            readers.put(reader)

    pool = ThreadPoolExecutor(len(all_readers))
    waiting: list[Future[_Read | Added]] = []
    left = iter(files)
    try:
        for path in left:
            waiting.append(pool.submit(read, path))
            if len(waiting) >= _AHEAD * len(all_readers):
                yield _kept(library, waiting.pop(0).result(), by_file)
        while waiting:
            yield _kept(library, waiting.pop(0).result(), by_file)
    finally:
        for future in waiting:
            future.cancel()
        for reader in all_readers:
            reader.close()
        pool.shutdown(wait=True, cancel_futures=True)


def _read(library: Library, reader: Reader, path: Path) -> _Read | Added:
    try:
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        title = _known_title(library, path, sha256)
        if title is not None:
            return Added(str(path), "unchanged", title)
        document = reader.read(path)
    except SciagentError as error:
        return Added(str(path), "failed", error.message)
    except OSError as error:
        return Added(str(path), "failed", f"{path.name} cannot be read: {error.strerror}.")
    if not document.source.text.strip():
        why = document.detail or f"{path.name} holds no text."
        return Added(str(path), "failed", why)
    return _Read(path, sha256, document)


def _known_title(library: Library, path: Path, sha256: str) -> str | None:
    """Title of a file of which this one is the same, or a copy; None if it must be read."""
    with connected(library.path) as connection:
        rows = connection.execute(
            "select title, place from documents where file_sha256 = ?", (sha256,)
        ).fetchall()
    held = [title for title, place in rows if place == str(path) or Path(place).is_file()]
    return held[0] if held else None


def _kept(library: Library, read: _Read | Added, by_file: dict[Path, Work]) -> Added:
    if isinstance(read, Added):
        return read
    path, sha256, document = read
    own = work_of_document(document, path.stem)
    with connected(library.path, writes=True) as connection:
        old = connection.execute(
            "select id from documents where place = ? or file_sha256 = ?", (str(path), sha256)
        ).fetchall()
        for (identifier,) in old:
            delete_document(connection, identifier)
        entry = by_file.get(path) or matching(own, _alike(connection, own, is_entry=True).values())
        work = own if entry is None else described(document.source.url, own, entry)
        if entry is not None:
            _delete_entry(connection, entry)
        _insert(connection, _Row(str(path), sha256, is_entry=False), document, work)
    return Added(str(path), "updated" if old else "added", work.title)


def _add_entries(library: Library, path: Path, works: Sequence[Work]) -> Iterator[Added]:
    """Keep the entries of a bibliography: with their document if it is here, else by themselves."""
    for work in works:
        sha256 = sha256_text(work.model_dump_json())
        with connected(library.path, writes=True) as connection:
            outcome = _keep_entry(connection, path, work, sha256)
        yield Added(work.key, outcome, work.title)


def _keep_entry(
    connection: sqlite3.Connection, path: Path, work: Work, sha256: str
) -> Literal["added", "updated", "unchanged"]:
    place = f"{path}#{work.key}"
    row = connection.execute(
        "select id, file_sha256 from documents where place = ?", (place,)
    ).fetchone()
    if row is not None and row[1] == sha256:
        return "unchanged"
    if row is not None:
        delete_document(connection, row[0])
    for identifier, own in _alike(connection, work, is_entry=False).items():
        if matching(own, [work]) is not None:
            better = described(own.url, own, work).model_copy(update={"key": own.key})
            if better == own:
                return "unchanged"
            _describe(connection, identifier, better)
            return "updated"
    text = "\n\n".join(filter(None, (work.title, work.abstract)))
    url = work.address or f"{path.as_uri()}#{work.key}"
    source = Source(url=url, title=work.title, sha256=sha256_text(text), text=text)
    marked = work.model_copy(update={"found_in": ("library",)})
    document = Document(source=source, media_type=_BIB)
    _insert(connection, _Row(place, sha256, is_entry=True), document, marked)
    return "added" if row is None else "updated"


def _alike(connection: sqlite3.Connection, work: Work, *, is_entry: bool) -> dict[int, Work]:
    """Works of the library with the DOI or the title of another, by the number of their row."""
    rows = connection.execute(
        "select id, work from documents"
        " where is_entry = ? and ((doi != '' and doi = ?) or bare_title = ?)",
        (is_entry, work.doi, bare(work.title)),
    )
    return {identifier: Work.model_validate_json(each) for identifier, each in rows}


def _delete_entry(connection: sqlite3.Connection, entry: Work) -> None:
    rows = connection.execute(
        "select id from documents where key = ? and is_entry", (entry.key,)
    ).fetchall()
    for (identifier,) in rows:
        delete_document(connection, identifier)


def _describe(connection: sqlite3.Connection, identifier: int, work: Work) -> None:
    named = _with_free_key(connection, work, identifier)
    connection.execute(
        "update documents set work = ?, key = ?, doi = ?, title = ?, bare_title = ? where id = ?",
        (
            named.model_dump_json(),
            named.key,
            named.doi,
            named.title,
            bare(named.title),
            identifier,
        ),
    )
    connection.execute(
        "update words set title = ? where rowid in (select id from passages where document = ?)",
        (indexed(named.title), identifier),
    )


def _with_free_key(connection: sqlite3.Connection, work: Work, but: int = -1) -> Work:
    rows = connection.execute(
        "select work from documents where key >= ? and key < ? and id != ?",
        (work.key, f"{work.key}~", but),
    )
    taken = [Work.model_validate_json(each) for (each,) in rows]
    return with_unique_keys([*taken, work])[-1]


def _insert(connection: sqlite3.Connection, row: _Row, document: Document, work: Work) -> None:
    url, text = document.source.url, document.source.text
    for (identifier,) in connection.execute(
        "select id from documents where url = ?", (url,)
    ).fetchall():
        delete_document(connection, identifier)
    work = _with_free_key(connection, work)
    values = (
        url, row.place, row.sha256, document.source.sha256, row.is_entry, work.model_dump_json(),
        work.key, work.doi, work.title, bare(work.title), utc_timestamp(),
        document.model_dump_json(),
    )  # fmt: skip
    marks = ", ".join("?" * len(values))
    cursor = connection.execute(f"insert into documents values (null, {marks})", values)  # noqa: S608
    for page, start, end in passages_of(text):
        passage = connection.execute(
            "insert into passages (document, page, first, past) values (?, ?, ?, ?)",
            (cursor.lastrowid, page, start, end),
        )
        connection.execute(
            "insert into words (rowid, title, text, shown) values (?, ?, ?, ?)",
            (passage.lastrowid, indexed(work.title), indexed(text[start:end]), text[start:end]),
        )

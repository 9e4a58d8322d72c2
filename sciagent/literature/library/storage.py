"""The file of a library: one SQLite database with a full-text index (FTS5)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sciagent.contracts.errors import InputError

_WAIT_S = 30.0
_VERSION = 2
_TABLES = """
create table if not exists documents (
    id integer primary key, url text not null unique, place text not null unique,
    file_sha256 text not null, text_sha256 text not null, is_entry integer not null,
    work text not null, key text not null unique, doi text not null,
    title text not null, bare_title text not null, added text not null,
    document text not null -- the last: what stands behind a long value takes long to read
);
create index if not exists documents_by_hash on documents (file_sha256);
create index if not exists documents_by_doi on documents (doi);
create index if not exists documents_by_title on documents (bare_title);
create table if not exists passages (
    id integer primary key, document integer not null references documents (id),
    page integer not null, first integer not null, past integer not null
);
create index if not exists passages_by_document on passages (document);
create virtual table if not exists words using fts5 (
    title, text, shown unindexed, tokenize = 'porter unicode61 remove_diacritics 2'
);
"""


class DamagedLibraryError(InputError):
    """A file is no library, or cannot be read."""

    kind = "input.library"


@contextmanager
def connected(path: Path, *, writes: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a library; what is done in the ``with`` block becomes true as a whole or not at all.

    Parameters
    ----------
    path
        The file; made with its folder if it is to be written and missing.
    writes
        Whether it is written. Readers see what was there when they began.

    Raises
    ------
    DamagedLibraryError
        If there is no such file, it is no library, or it cannot be read or written.
    """
    try:
        if writes:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.is_file():
            raise DamagedLibraryError(
                f"There is no library {path}.", "Make it with: sciagent library add FOLDER."
            )
        with closing(_opened(path)) as connection, connection:
            _check_tables(connection, path, writes=writes)
            if writes:
                connection.execute("begin immediate")
            yield connection
    except (sqlite3.DatabaseError, OSError) as error:
        raise DamagedLibraryError(
            f"The library {path} cannot be used: {error}.",
            "Check the file; `sciagent library add` makes a new one under another name.",
        ) from error


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
    connection.execute("pragma synchronous = normal")
    return connection


def _check_tables(connection: sqlite3.Connection, path: Path, *, writes: bool) -> None:
    """Make the tables of a new library; a file that is another program's is left alone."""
    # Another process may make them now: the version, which comes with them, is read last.
    (tables,) = connection.execute("select count(*) from sqlite_master").fetchone()
    (version,) = connection.execute("pragma user_version").fetchone()
    if version == _VERSION:
        return
    if tables or version or not writes:
        raise DamagedLibraryError(
            f"{path} is no library that this version can use.",
            "Give another file; `sciagent library add` makes it and reads the papers again.",
        )
    connection.execute("pragma journal_mode = wal")
    connection.executescript(f"begin immediate;{_TABLES}pragma user_version = {_VERSION};commit")

"""The user's own library: files are added once, and searched by their passages."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from sciagent.contracts.errors import UnknownNameError
from sciagent.contracts.literature import Document, Passage, Work
from sciagent.literature.library.indexing import fts_query
from sciagent.literature.library.storage import connected

LIBRARY_VARIABLE = "SCIAGENT_LIBRARY"
"""Environment variable that names the file of the library."""

_TITLE_WEIGHT = 0.5
"""A title stands with each passage of its work: a larger weight would put all passages of a work
with a fitting title before the one that answers."""

_MOST_PASSAGES = 5


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """How large a library is.

    Attributes
    ----------
    documents, works, passages
        Files and entries, works that are described, and searchable passages.
    size_mib
        Of the file.
    """

    documents: int
    works: int
    passages: int
    size_mib: float


def default_library_path() -> Path:
    """Where the library lies unless another file is named."""
    named = os.environ.get(LIBRARY_VARIABLE)
    return Path(named).expanduser() if named else user_data_path("sciagent") / "library.sqlite"


class Library:
    """Documents with a full-text index in one file; several processes may read it at once.

    `sciagent.literature.library.adding` adds to it.

    Parameters
    ----------
    path
        The file; that of the user if not given.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_library_path()

    def search(self, query: str, limit: int = 10) -> list[Passage]:
        """Find the passages that fit a query best.

        They are ranked by BM25 over all passages, words of the title counting too
        (doi:10.1561/1500000019). A query is words: nothing in it is syntax.

        Parameters
        ----------
        query
            Words; word endings and accents do not count.
        limit
            Passages at most.

        Raises
        ------
        DamagedLibraryError
            If there is no library, or it cannot be read.
        """
        words = fts_query(query)
        if not words:
            return []
        with connected(self.path) as connection:
            rows = connection.execute(
                "select documents.key, documents.url, documents.text_sha256,"
                " passages.page, passages.first, passages.past, words.shown, best.score"
                " from (select rowid as number, bm25(words, ?, 1.0) as score from words"
                "       where words match ? order by score, number limit ?) as best"
                " join words on words.rowid = best.number"
                " join passages on passages.id = best.number"
                " join documents on documents.id = passages.document"
                " order by best.score, best.number",
                (_TITLE_WEIGHT, words, limit),
            ).fetchall()
        return [
            Passage(
                work=key,
                url=url,
                sha256=sha256,
                page=page,
                start=first,
                end=past,
                text=text,
                score=-rank,
            )
            for key, url, sha256, page, first, past, text, rank in rows
        ]

    def works(self, query: str = "", limit: int = 10) -> list[tuple[Work, str]]:
        """Find works with their best passages as one text; without a query, all of them by title.

        Parameters
        ----------
        query
            Words.
        limit
            Works at most.
        """
        if not query.strip():
            with connected(self.path) as connection:
                rows = connection.execute("select work from documents order by title, id")
                return [(Work.model_validate_json(work), "") for (work,) in rows]
        best: dict[str, list[str]] = {}
        for passage in self.search(query, limit * _MOST_PASSAGES):
            texts = best.setdefault(passage.work, [])
            if len(texts) < 2:
                texts.append(passage.text)
        with connected(self.path) as connection:
            return [
                (_work(connection, key), " […] ".join(texts))
                for key, texts in list(best.items())[:limit]
            ]

    def document(self, url: str) -> Document:
        """Give a document by its address, its key or its DOI.

        Raises
        ------
        UnknownNameError
            If it is not in the library.
        """
        bare = url.strip().removeprefix("https://doi.org/").removeprefix("doi:")
        with connected(self.path) as connection:
            row = connection.execute(
                "select document, work from documents where url = ? or key = ?"
                " or (doi != '' and doi = ?)",
                (url.strip(), url.strip(), bare.lower()),
            ).fetchone()
            if row is None:
                known = [key for (key,) in connection.execute("select key from documents")]
                raise UnknownNameError.among("document of the library", url, known)
        document = Document.model_validate_json(row[0])
        return document.model_copy(update={"work": Work.model_validate_json(row[1])})

    def remove(self, paths: Sequence[Path]) -> int:
        """Take files, or all below folders, out of the library; the files themselves stay.

        Returns
        -------
        int
            Documents that were taken out.
        """
        removed = 0
        with connected(self.path, writes=True) as connection:
            for path in paths:
                place = str(path.expanduser().absolute())
                rows = connection.execute(
                    "select id from documents where place = ? or substr(place, 1, ?) = ?",
                    (place, len(place) + 1, place.rstrip("/") + "/"),
                ).fetchall()
                for (identifier,) in rows:
                    delete_document(connection, identifier)
                removed += len(rows)
        return removed

    def status(self) -> LibraryStatus:
        """Count what is in the library."""
        with connected(self.path) as connection:
            documents, works = connection.execute(
                "select count(*), count(distinct key) from documents"
            ).fetchone()
            (passages,) = connection.execute("select count(*) from passages").fetchone()
        return LibraryStatus(documents, works, passages, self.path.stat().st_size / 2**20)


def _work(connection: sqlite3.Connection, key: str) -> Work:
    row = connection.execute("select work from documents where key = ?", (key,)).fetchone()
    return Work.model_validate_json(row[0])


def delete_document(connection: sqlite3.Connection, identifier: int) -> None:
    """Take a document and its passages out."""
    connection.execute(
        "delete from words where rowid in (select id from passages where document = ?)",
        (identifier,),
    )
    connection.execute("delete from passages where document = ?", (identifier,))
    connection.execute("delete from documents where id = ?", (identifier,))

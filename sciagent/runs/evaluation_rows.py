"""Questions and results of the public evaluation, as files of one JSON object a line."""

import json
import os
import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from sciagent.contracts.errors import InputError
from sciagent.workspace.atomic import storage_error, sync_folder, write_all

NO_ANSWER = "No answer found."
ERROR = "error"
"""Termination of a row whose endpoint failed; it is asked again when the evaluation goes on."""

_OPENED, _CLOSED = "<answer>", "</answer>"


class Item(NamedTuple):
    """A question with the answer that is expected."""

    question: str
    answer: JsonValue


class Ended(NamedTuple):
    """What a summary needs to know of a row."""

    termination: str
    exact: bool


def read_items(path: Path) -> tuple[Item, ...]:
    """Read the questions of a data set.

    Parameters
    ----------
    path
        A file with an object of `question` and `answer` on each line; other fields are not read.

    Raises
    ------
    InputError
        If there is no such file, or a line cannot be used; the line is named.
    """
    items: list[Item] = []
    seen: dict[str, int] = {}
    for number, line in _lines(path):
        item = _item(line, f"Line {number} of {path}")
        if item.question in seen:
            raise InputError(
                f"Line {number} of {path} asks the question of line {seen[item.question]} again.",
                "Take one of them out: a row is known by its question.",
            )
        seen[item.question] = number
        items.append(item)
    if not items:
        raise InputError(
            f"There is no question in {path}.", 'Give lines of {"question", "answer"}.'
        )
    return tuple(items)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InputError(
            f"The file {path} cannot be read: {reason}.", "Give a file of questions."
        ) from error
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, line.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"Line {number} of {path} is no UTF-8.", "Mend it.") from None


def _item(line: str, place: str) -> Item:
    remedy = 'Write each line as {"question": "...", "answer": "..."}.'
    try:
        content = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place} is no JSON: {error}.", remedy) from error
    if not isinstance(content, dict):
        raise InputError(f"{place} is no JSON object.", remedy)
    question = content.get("question")
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"{place} has no question.", remedy)
    if "answer" not in content:
        raise InputError(f"{place} has no answer.", remedy)
    return Item(question, content["answer"])


def prediction_in(text: str) -> str | None:
    """Read the final answer of a message: what stands in its last pair of answer tags.

    Returns
    -------
    str or None
        None if there is no pair.
    """
    if _OPENED not in text or _CLOSED not in text:
        return None
    return text.rpartition(_OPENED)[2].partition(_CLOSED)[0].strip()


def is_exact(prediction: str, answer: JsonValue) -> bool:
    """Whether a prediction is the expected answer, letter by letter.

    Compatible forms and the case of letters, white space and punctuation at the ends count for
    nothing; everything else does. An answer in other words is not recognised.
    """
    if not isinstance(answer, str | int | float) or isinstance(answer, bool):
        return False
    return _plain(prediction) == _plain(str(answer)) != ""


def _plain(text: str) -> str:
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return re.sub(r"^[\s\"'“”‘’`.,;:!?]+|[\s\"'“”‘’`.,;:!?]+$", "", folded)


@dataclass(slots=True)
class ResultFile:
    """The rows of one iteration; lines are added whole and wait for the disk.

    Made by `open`, by the one process that writes it.

    Attributes
    ----------
    path
        The file; it is made with the first row.
    ended
        Rows that stand in it, by their questions.
    """

    path: Path
    ended: dict[str, Ended] = field(default_factory=dict)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, path: Path, known: Mapping[str, object]) -> "ResultFile":
        """Take up the rows that were written, and check them before anything is changed.

        Parameters
        ----------
        path
            Where they are, if there are any yet.
        known
            All questions of the data set.

        Raises
        ------
        InputError
            If a line in the middle is no row, or a row answers a question that is not asked.
        """
        found = cls(path)
        if not path.is_file():
            return found
        for _, row in found._kept():
            question = row["question"]
            if question not in known:
                raise InputError(
                    f"{path} holds a row of another question: {question[:80]!r}.",
                    "Give another folder or --dataset, or the questions that it was made with.",
                )
            exact = is_exact(str(row.get("prediction", "")), row.get("answer"))
            found.ended[question] = Ended(str(row.get("termination", "")), exact)
        return found

    def _kept(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Lines that stay: not one that a crash cut off, a failed row, or a row that came again."""
        seen: set[str] = set()
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.endswith(b"\n"):
                    return
                row = _row(line, f"Line {number} of {self.path}")
                if ERROR not in row and row["question"] not in seen:
                    seen.add(row["question"])
                    yield line, row

    def repair(self) -> None:
        """Take out what is to be asked again; the file is changed as a whole or not at all."""
        if not self.path.is_file():
            return
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as stream:
                for line, _ in self._kept():
                    stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
            if temporary.stat().st_size != self.path.stat().st_size:
                temporary.replace(self.path)
                sync_folder(self.path.parent)
        except OSError as error:
            raise storage_error(error, f"{self.path} cannot be written") from error
        finally:
            temporary.unlink(missing_ok=True)

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row; when this returns, it survives a crash.

        Raises
        ------
        ResourceError
            If the disk is full; the file is then as it was.
        """
        line = _written(row)
        with self._writing:
            try:
                self._append(line)
            except OSError as error:
                raise storage_error(error, f"{self.path} cannot be written") from error
            exact = is_exact(row["prediction"], row["answer"])
            self.ended[row["question"]] = Ended(row["termination"], exact)

    def _append(self, line: bytes) -> None:
        is_new = not self.path.exists()
        descriptor = os.open(
            self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644
        )
        try:
            size = os.fstat(descriptor).st_size
            try:
                write_all(descriptor, line)
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)
        if is_new:
            sync_folder(self.path.parent)


def _row(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict) or not isinstance(row.get("question"), str):
        raise InputError(f"{place} is no row of an evaluation.", "Mend it or take it out.")
    return row


def _written(row: Mapping[str, Any]) -> bytes:
    try:
        return f"{json.dumps(row, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:  # half of a pair of surrogates has no UTF-8
        return f"{json.dumps(row)}\n".encode()

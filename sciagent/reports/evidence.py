"""The artifacts of a workspace as evidence: hashed and read once each."""

import hashlib
import math
from pathlib import Path
from typing import Any

from sciagent.reports.pointers import PointerError, neighbour, parsed, value_in_document


class Evidence:
    """Reads values and hashes below one folder, and nothing outside of it.

    Parameters
    ----------
    root
        Folder that the paths are relative to.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._contents: dict[str, bytes] = {}
        self._documents: dict[str, Any] = {}

    def content(self, path: str) -> bytes:
        """Bytes of a file.

        Raises
        ------
        PointerError
            If there is no such file below the folder.
        """
        if path not in self._contents:
            place = (self.root / path).resolve()
            if not place.is_relative_to(self.root) or not place.is_file():
                raise PointerError(f"There is no file {path!r}.")
            self._contents[path] = place.read_bytes()
        return self._contents[path]

    def sha256(self, path: str) -> str:
        """Hash of a file."""
        return hashlib.sha256(self.content(path)).hexdigest()

    def value(self, path: str, pointer: str) -> Any:
        """Value at a place of a file."""
        if path not in self._documents:
            try:
                text = self.content(path).decode("utf-8")
            except UnicodeDecodeError as error:
                raise PointerError(f"{path!r} is not text: {error}.") from error
            self._documents[path] = parsed(text, path)
        try:
            return value_in_document(self._documents[path], path, pointer)
        except PointerError as error:
            raise PointerError(f"{path}: {error.message}", error.remedy) from error

    def number(self, path: str, pointer: str) -> float:
        """Finite number at a place of a file."""
        value = self.value(path, pointer)
        if isinstance(value, str):
            value = _number_from_text(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise PointerError(f"{path}: there is no number at {pointer!r}.")
        if not math.isfinite(value):
            raise PointerError(f"{path}: the number at {pointer!r} is not finite.")
        return float(value)

    def word(self, path: str, pointer: str) -> str:
        """Text at a place of a file; numbers are given as they are written in JSON."""
        value = self.value(path, pointer)
        if isinstance(value, dict | list) or value is None:
            raise PointerError(f"{path}: there is no text at {pointer!r}.")
        return value if isinstance(value, str) else str(value)

    def beside(self, path: str, pointer: str, key: str) -> str | None:
        """Text of another key beside a value, such as its unit; none where it is not said."""
        place = neighbour(pointer, key)
        if place is None:
            return None
        try:
            found = self.value(path, place)
        except PointerError:
            return None
        return found if isinstance(found, str) else None


def _number_from_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text

"""Places inside artifacts: JSON pointers, cells of CSV files, outputs of notebook cells."""

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from sciagent.contracts.errors import InputError

_INDEX = re.compile(r"0|[1-9][0-9]*")
_OUTPUT = re.compile(r"(?P<cell>[A-Za-z0-9_-]{1,64})#(?P<output>\d+)(?P<inner>(?:/.*)?)", re.DOTALL)


class PointerError(InputError):
    """A file or a place in it does not exist or holds something else than was asked for."""

    kind = "input.pointer"


def parts_of_pointer(pointer: str) -> list[str]:
    """Split a JSON pointer (RFC 6901) into its unescaped parts."""
    if pointer and not pointer.startswith("/"):
        raise PointerError(f"{pointer!r} is not a JSON pointer.", "Begin it with a slash.")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def pointer_from_parts(parts: list[str]) -> str:
    """Join parts to a JSON pointer, the inverse of `parts_of_pointer`."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def value_in_json(document: Any, pointer: str) -> Any:
    """Look a JSON pointer up.

    Raises
    ------
    PointerError
        If a key or an index is not there; the message names the part that failed.
    """
    value = document
    for part in parts_of_pointer(pointer):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and _INDEX.fullmatch(part) and int(part) < len(value):
            value = value[int(part)]
        else:
            raise PointerError(f"There is no {part!r} on the way of {pointer!r}.")
    return value


def value_in_table(table: Sequence[Sequence[str]], pointer: str) -> str:
    """Look up ``row,column`` in a table: a row counted from 0 below the header, a name."""
    row, comma, column = pointer.partition(",")
    if not comma or not _INDEX.fullmatch(row):
        raise PointerError(f"{pointer!r} is not a row and a column.", "Write it as `0,name`.")
    header = table[0] if table else []
    if header.count(column) != 1:
        raise PointerError(f"The header holds the column {column!r} {header.count(column)} times.")
    place = header.index(column)
    if int(row) + 1 >= len(table) or place >= len(table[int(row) + 1]):
        raise PointerError(f"The table has no row {row} with a column {column!r}.")
    return table[int(row) + 1][place]


def value_in_notebook(document: Any, pointer: str) -> Any:
    """Look up ``cell id#output``, with a JSON pointer behind it for outputs that are JSON."""
    match = _OUTPUT.fullmatch(pointer)
    if match is None:
        raise PointerError(f"{pointer!r} is not a cell and an output.", "Write it as `cell#0`.")
    cells = document.get("cells", []) if isinstance(document, dict) else []
    outputs = [cell.get("outputs", []) for cell in cells if cell.get("id") == match["cell"]]
    if len(outputs) != 1 or int(match["output"]) >= len(outputs[0]):
        raise PointerError(f"There is no cell {match['cell']!r} with output {match['output']}.")
    output = outputs[0][int(match["output"])]
    data = output.get("data", {})
    if "application/json" in data:
        return value_in_json(data["application/json"], match["inner"])
    text = data.get("text/plain", output.get("text", ""))
    return ("".join(text) if isinstance(text, list) else text).strip()


def parsed(text: str, name: str) -> Any:
    """Parse the text of a file by the ending of its name.

    Raises
    ------
    PointerError
        If the name does not end in ``.json``, ``.ipynb`` or ``.csv``, or the text is no JSON.
    """
    suffix = PurePosixPath(name).suffix
    if suffix == ".csv":
        return list(csv.reader(io.StringIO(text)))
    if suffix not in {".json", ".ipynb"}:
        raise PointerError(f"No value can be read from {name!r}.", "Give a JSON or CSV file.")
    try:
        return json.loads(text)
    except ValueError as error:
        raise PointerError(f"{name!r} is not JSON: {error}.") from error


def value_in_document(document: Any, name: str, pointer: str) -> Any:
    """Look a pointer up in what `parsed` gave for a file of this name."""
    suffix = PurePosixPath(name).suffix
    if suffix == ".csv":
        return value_in_table(document, pointer)
    if suffix == ".ipynb" and not pointer.startswith("/"):
        return value_in_notebook(document, pointer)
    return value_in_json(document, pointer)


def neighbour(pointer: str, key: str) -> str | None:
    """Pointer to another key beside a ``value`` or ``uncertainty``; none for other places."""
    if not pointer.startswith("/"):
        return None
    parts = parts_of_pointer(pointer)
    if parts[-1] not in {"value", "uncertainty"}:
        return None
    return pointer_from_parts([*parts[:-1], key])

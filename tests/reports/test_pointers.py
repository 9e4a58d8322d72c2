import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciagent.reports.evidence import Evidence
from sciagent.reports.pointers import (
    PointerError,
    neighbour,
    parsed,
    parts_of_pointer,
    pointer_from_parts,
    value_in_json,
    value_in_notebook,
    value_in_table,
)
from sciagent.reports.resolve import read_pointer

KEYS = st.text(max_size=6) | st.sampled_from(["a/b", "~", "~1", "0", "", "m~n"])
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def places(document: Any, parts: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """All values in a document with the keys that lead to them."""
    found = [(parts, document)]
    items: list[tuple[str, Any]] = []
    if isinstance(document, dict):
        items = list(document.items())
    elif isinstance(document, list):
        items = [(str(index), value) for index, value in enumerate(document)]
    for key, value in items:
        found += places(value, (*parts, key))
    return found


@given(DOCUMENTS)
def test_every_value_of_a_document_is_found_at_its_pointer(document: Any) -> None:
    for parts, value in places(document):
        assert value_in_json(document, pointer_from_parts(list(parts))) == value


@given(st.lists(KEYS, max_size=5))
def test_a_pointer_splits_into_the_parts_it_was_joined_from(parts: list[str]) -> None:
    assert parts_of_pointer(pointer_from_parts(parts)) == parts


@pytest.mark.parametrize("pointer", ["/b", "/list/2", "/list/-", "/list/01", "/a/x", "a", "/list/"])
def test_a_place_that_is_not_there_is_an_error_that_names_it(pointer: str) -> None:
    with pytest.raises(PointerError, match=pointer):
        value_in_json({"a": 1, "list": [1, 2]}, pointer)


@given(
    st.lists(st.text("abc,\" \n'", min_size=1, max_size=5), min_size=1, max_size=4, unique=True),
    st.data(),
)
def test_every_cell_of_a_table_is_found_by_row_and_column(
    header: list[str], data: st.DataObject
) -> None:
    cell = st.text('12.,"x\n ', max_size=4)
    rows = data.draw(
        st.lists(st.lists(cell, min_size=len(header), max_size=len(header)), max_size=3)
    )
    rows = [row for row in rows if row != [""]]
    stream = io.StringIO()
    csv.writer(stream).writerows([header, *rows])
    for number, row in enumerate(rows):
        for name, value in zip(header, row, strict=True):
            table = parsed(stream.getvalue(), "a.csv")
            assert value_in_table(table, f"{number},{name}") == value


@pytest.mark.parametrize("pointer", ["2,x", "0,z", "x", "-1,x", "0,twice", ""])
def test_a_cell_that_is_not_there_is_an_error(pointer: str) -> None:
    with pytest.raises(PointerError):
        value_in_table(parsed("x,twice,twice\n1,2,3\n4,5,6\n", "a.csv"), pointer)


def notebook(**output: Any) -> dict[str, Any]:
    return {"cells": [{"id": "fit", "cell_type": "code", "outputs": [output]}]}


def test_outputs_of_cells_are_read_as_json_or_as_text() -> None:
    data = {"application/json": {"r_wp": 8.44}, "text/plain": "?"}
    assert value_in_notebook(notebook(data=data), "fit#0/r_wp") == 8.44
    assert value_in_notebook(notebook(data={"text/plain": ["8.", "44\n"]}), "fit#0") == "8.44"
    assert value_in_notebook(notebook(text="8.44\n"), "fit#0") == "8.44"
    for pointer in ("fit#1", "other#0", "fit", "fit#x"):
        with pytest.raises(PointerError):
            value_in_notebook(notebook(text="1"), pointer)


def test_values_are_read_from_files_by_the_ending_of_their_name(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x": [1.5]}')
    (tmp_path / "a.csv").write_text("x,y\n1,2.5\n")
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook(text="3.5")))
    (tmp_path / "a.txt").write_text("4.5")
    assert read_pointer(tmp_path / "a.json", "/x/0") == 1.5
    assert read_pointer(tmp_path / "a.csv", "0,y") == "2.5"
    assert read_pointer(tmp_path / "a.ipynb", "fit#0") == "3.5"
    with pytest.raises(PointerError, match=r"a\.txt"):
        read_pointer(tmp_path / "a.txt", "/x")
    with pytest.raises(PointerError, match="cannot be read"):
        read_pointer(tmp_path / "b.json", "/x")


def test_evidence_never_reads_outside_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"x": 1}')
    root = tmp_path / "run"
    root.mkdir()
    (root / "link.json").symlink_to(tmp_path / "secret.json")
    for path in ("../secret.json", str(tmp_path / "secret.json"), "link.json", "."):
        with pytest.raises(PointerError, match="no file"):
            Evidence(root).content(path)


@pytest.mark.parametrize("text", ["true", '"a"', "null", "NaN", "1e999", "[1]"])
def test_only_finite_numbers_are_numbers(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(f'{{"value": {text}}}')
    with pytest.raises(PointerError):
        Evidence(tmp_path).number("a.json", "/value")


def test_the_unit_is_looked_for_beside_a_value_only() -> None:
    assert neighbour("/metrics/r_wp/value", "unit") == "/metrics/r_wp/unit"
    assert neighbour("/metrics/r_wp/uncertainty", "unit") == "/metrics/r_wp/unit"
    assert neighbour("/cpu_s", "unit") is None
    assert neighbour("0,value", "unit") is None

"""What tests of campaigns share."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

ENDINGS = """
import json, os, time
if how == "raise":
    1 / 0
if how == "kill":
    os.kill(os.getpid(), 9)
if how == "hang":
    time.sleep(100)
if how == "memory":
    eaten = bytearray(10**9)
with open(log, "a") as stream:
    stream.write(f"{x} begins\\n")
time.sleep(sleep_s)
"""
WRITE = "json.dump({'square': {'value': x * x, 'unit': 'um2'}, 'x': x}, open('results.json', 'w'))"


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    parameters = "x = 1\nhow = ''\nsleep_s = 0.0\nlog = 'log'\nmissing = ''"
    cells = [new_code_cell(source) for source in (parameters, ENDINGS, WRITE)]
    cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(new_notebook(cells=cells), tmp_path / "square.ipynb")
    return tmp_path / "square.ipynb"

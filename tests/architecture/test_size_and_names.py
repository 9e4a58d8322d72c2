import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source_tree import PACKAGE, python_files, relative, syntax_tree

MODULE_LINES = 400
FUNCTION_LINES = 60
EMPTY_WORDS = {"base", "common", "core", "helper", "helpers", "manager", "misc", "util", "utils"}
CODE = ("sciagent", "benchmarks", "tests", "scripts")


def words_of(name: str) -> set[str]:
    """Split snake_case and CamelCase into lower-case words."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def definitions(
    path: Path,
) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_module_is_longer_than_a_person_reads_in_one_go() -> None:
    lengths = {
        relative(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*CODE)
    }
    assert {name: n for name, n in lengths.items() if n > MODULE_LINES} == {}


def test_no_function_is_longer_than_a_page() -> None:
    too_long = {}
    for path in python_files(*CODE):
        for node in definitions(path):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if not isinstance(node, ast.ClassDef) and length > FUNCTION_LINES:
                too_long[f"{relative(path)}::{node.name}"] = length
    assert too_long == {}


def test_modules_are_named_after_what_they_do() -> None:
    parts = {part for path in PACKAGE.rglob("*.py") for part in path.relative_to(PACKAGE).parts}
    assert {part for part in parts if words_of(Path(part).stem) & EMPTY_WORDS} == set()


def test_classes_and_functions_are_named_after_what_they_do() -> None:
    empty = set()
    for path in python_files("sciagent"):
        for node in definitions(path):
            is_class = isinstance(node, ast.ClassDef)
            if words_of(node.name) & EMPTY_WORDS if is_class else node.name in EMPTY_WORDS:
                empty.add(f"{relative(path)}::{node.name}")
    assert empty == set()

import ast
from pathlib import Path

from tests.architecture.source_tree import PACKAGE, python_files, relative, syntax_tree

BROAD = {"Exception", "BaseException"}
REASON = "process boundary"


def named(node: ast.expr | None) -> set[str]:
    """Names in an ``except`` clause; a bare one counts as everything."""
    if node is None:
        return BROAD
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def is_broad(node: ast.AST) -> bool:
    """Whether the node swallows every exception; one that cleans up and raises again does not."""
    if isinstance(node, ast.ExceptHandler):
        last = node.body[-1]
        raises_again = isinstance(last, ast.Raise) and last.exc is None
        return bool(named(node.type) & BROAD) and not raises_again
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
        return any(named(argument) & BROAD for argument in node.args)
    return False


def broad_lines(path: Path) -> list[int]:
    return [getattr(node, "lineno", 0) for node in ast.walk(syntax_tree(path)) if is_broad(node)]


def test_a_broad_except_stands_only_at_a_process_boundary_and_says_so() -> None:
    unexplained = []
    for path in python_files("sciagent"):
        lines = path.read_text(encoding="utf-8").splitlines()
        found = broad_lines(path)
        said = [number for number in found if REASON in lines[number - 1]]
        if found != said or len(found) > 1:
            unexplained.append((relative(path), found))
    assert unexplained == [], f"one per process, with the comment '# {REASON}: ...'"


def test_only_the_command_line_prints() -> None:
    printing = {
        relative(path)
        for path in python_files("sciagent")
        if not path.is_relative_to(PACKAGE / "cli")
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
    }
    assert printing == set()


def mocks(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.startswith("unittest") for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("unittest")
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "monkeypatch.setattr"


def test_tests_use_real_components_and_public_doubles_instead_of_mocks() -> None:
    mocking = {
        relative(path)
        for path in python_files("tests")
        if any(mocks(node) for node in ast.walk(syntax_tree(path)))
    }
    assert mocking == set()


def test_tests_are_named_as_sentences() -> None:
    short = {
        f"{relative(path)}::{node.name}"
        for path in python_files("tests")
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.startswith("test_") and node.name.count("_") < 4
    }
    assert short == set()

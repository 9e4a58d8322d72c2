import ast
import subprocess
import sys
from types import ModuleType

import pytest

import sciagent
from sciagent import runs
from tests.architecture.source_tree import (
    ROOT,
    imported_modules,
    python_files,
    relative,
    syntax_tree,
)

CONTRACTS_MAY_IMPORT = {"pydantic", "pydantic_core", "typing_extensions", "sciagent"}


def test_every_import_contract_is_kept() -> None:
    # In a process of its own: the linter switches off every logger that exists.
    program = (
        "import sys; from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(config_filename='pyproject.toml', no_cache=True))"
    )
    linted = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert linted.returncode == 0, linted.stdout


def test_importing_sciagent_loads_nothing_but_the_standard_library() -> None:
    program = (
        "import sys; before = set(sys.modules); import sciagent; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(loaded) - sys.stdlib_module_names == {"sciagent"}


def test_importing_any_package_prints_and_configures_nothing() -> None:
    program = (
        "import importlib, logging, pkgutil, sciagent\n"
        "for module in pkgutil.iter_modules(sciagent.__path__, 'sciagent.'):\n"
        "    importlib.import_module(module.name)\n"
        "assert not logging.getLogger().handlers, logging.getLogger().handlers\n"
        "assert not logging.getLogger('sciagent').handlers\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


def test_contracts_import_only_pydantic_and_the_standard_library() -> None:
    foreign = set()
    for path in python_files("sciagent/contracts"):
        for node in ast.walk(syntax_tree(path)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            tops = {name.partition(".")[0] for name in names}
            if tops - CONTRACTS_MAY_IMPORT - sys.stdlib_module_names:
                foreign.add(f"{relative(path)}:{node.lineno}")  # type: ignore[attr-defined]
    assert foreign == set()


def sort_key(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, as ruff sorts them (RUF022)."""
    if name.isupper():
        return 0, name
    return (1 if name[0].isupper() else 2), name


def public_names(module: ModuleType) -> set[str]:
    """Names without underscore that the module binds to something other than a module."""
    bound = vars(module).items()
    return {
        name
        for name, value in bound
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }


def test_the_public_names_of_every_package_are_listed_sorted_and_complete() -> None:
    for module in imported_modules():
        is_package = hasattr(module, "__path__")
        listed = getattr(module, "__all__", None)
        if module is sciagent or (listed is None and not (is_package and public_names(module))):
            continue
        assert listed is not None, f"{module.__name__} exports names without __all__"
        assert list(listed) == sorted(listed, key=sort_key), module.__name__
        missing = [name for name in listed if not hasattr(module, name)]
        assert missing == [], f"{module.__name__} lists names it does not have"
        if is_package:
            assert public_names(module) <= set(listed), module.__name__


def test_the_public_names_of_sciagent_are_sorted_and_load_on_first_use() -> None:
    assert sciagent.__all__ == sorted(sciagent.__all__, key=sort_key)
    if not hasattr(runs, "__all__"):
        pytest.skip("sciagent.runs is still empty")
    for name in sciagent.__all__:
        assert getattr(sciagent, name) is not None
        assert name in dir(sciagent)


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing_like_this'"):
        sciagent.nothing_like_this  # noqa: B018

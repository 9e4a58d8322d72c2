"""The source tree as data: files, syntax trees and imported modules."""

import ast
import importlib
import pkgutil
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import sciagent

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sciagent"
DOMAINS = PACKAGE / "domains"


@cache
def syntax_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def python_files(*folders: str) -> list[Path]:
    """Python files of these folders of the repository, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def subpackages() -> list[Path]:
    """Folders of the packages directly below ``sciagent``."""
    return sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))


def domain_folders() -> list[Path]:
    """Folders of the fields of science."""
    return sorted(path.parent for path in DOMAINS.glob("*/__init__.py"))


def imported_modules(package: str = "sciagent") -> Iterator[ModuleType]:
    """Every module of a package, imported."""
    top = importlib.import_module(package)
    yield top
    for module in pkgutil.walk_packages(top.__path__, prefix=f"{package}."):
        if module.name.rpartition(".")[2] != "__main__":
            yield importlib.import_module(module.name)


def committed_files() -> list[Path]:
    """Files that are, or without a rule to ignore them would be, committed."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return []
    listing = subprocess.run(
        [git, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


assert Path(sciagent.__file__).parent == PACKAGE, "the tests must run on this tree's sciagent"

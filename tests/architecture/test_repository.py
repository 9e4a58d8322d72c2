import re
import tomllib
from typing import Any

import pytest

from tests.architecture.source_tree import (
    DOMAINS,
    ROOT,
    committed_files,
    domain_folders,
    relative,
    subpackages,
)

DOMAIN_FILES = (
    "types.py",
    "problem.py",
    "policy.py",
    "checks.py",
    "figures.py",
    "domain.py",
    "guide.md",
)
OTHER_TEST_FOLDERS = {
    "architecture",
    "benchmarks",
    "conformance",
    "docs",
    "integration",
    "scripts",
    "workflows",
}
# Folders that hold people's own files; a system folder such as /usr or /tmp is nobody's.
MACHINE_PATH = re.compile(r"(?<![\w.~>)}-])/(?:home|root|work|Users|mnt|media)/\w+|[A-Z]:\\Users\\")
README_LINES = 150
GUIDE_LINES = 150


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_package_with_code_has_its_folder_of_tests() -> None:
    untested = [
        relative(package)
        for package in subpackages()
        if any(path.name != "__init__.py" for path in package.rglob("*.py"))
        if not list((ROOT / "tests" / package.name).rglob("test_*.py"))
    ]
    assert untested == []


def test_every_folder_of_tests_mirrors_a_package() -> None:
    packages = {package.name for package in subpackages()}
    tests = ROOT / "tests"
    folders = {path.relative_to(tests).parts[0] for path in tests.glob("*/**/test_*.py")}
    assert folders - packages - OTHER_TEST_FOLDERS == set()


def test_every_field_of_science_has_the_same_files_tests_and_a_page() -> None:
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "how-to").glob("*.md")]
    missing = []
    for folder in domain_folders():
        files = [folder / name for name in DOMAIN_FILES]
        missing += [relative(path) for path in files if not path.is_file()]
        if not list((ROOT / "tests" / "domains" / folder.name).glob("test_*.py")):
            missing.append(f"tests/domains/{folder.name}/test_*.py")
        if not any(f"{folder.name}/" in page for page in pages):
            missing.append(f"docs/how-to: a page that names a question {folder.name}/...")
    assert missing == []


def test_the_readme_and_every_guide_are_short_enough_to_be_read() -> None:
    texts = {ROOT / "README.md": README_LINES}
    texts |= dict.fromkeys(DOMAINS.glob("*/guide.md"), GUIDE_LINES)
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in texts}
    assert {relative(path) for path, limit in texts.items() if lengths[path] >= limit} == set()


def test_the_conda_environment_asks_for_what_pyproject_asks_for() -> None:
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"^ +- ([A-Za-z][\w.-]*(?:[=<>]=?[\w.,<>=]+)?)$", text, re.MULTILINE))
    project = pyproject()["project"]
    extras = project["optional-dependencies"]
    asked = set(project["dependencies"]) | {f"python{project['requires-python']}"}
    for name, requirements in extras.items():
        if name not in {"all", "dev", "docs"}:
            asked |= set(requirements)
    assert listed - {"conda-forge", "pip", "psi4"} == asked


def test_the_extra_all_holds_every_extra_for_users() -> None:
    extras = pyproject()["project"]["optional-dependencies"]
    users = sorted(set(extras) - {"all", "dev", "docs"})
    assert extras["all"] == [f"sciagent[{','.join(users)}]"]


def test_the_lock_file_pins_every_direct_dependency_with_a_hash() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S)", lock)
    locked = {block.partition("==")[0].lower() for block in blocks if "--hash=sha256:" in block}
    project = pyproject()["project"]
    asked = list(project["dependencies"])
    for requirements in project["optional-dependencies"].values():
        asked += requirements
    names = {re.split(r"[\[=<>]", item)[0].lower().replace("_", "-") for item in asked}
    assert names - {"sciagent"} - locked == set()
    assert "://" not in lock


def readable_texts() -> dict[str, str]:
    """Committed files that are UTF-8 text, by their path in the repository."""
    texts = {}
    for path in committed_files():
        content = path.read_bytes()
        if b"\0" not in content[:8192]:
            texts[relative(path)] = content.decode("utf-8", errors="replace")
    return texts


def test_no_committed_file_names_a_path_of_one_machine() -> None:
    texts = readable_texts()
    if not texts:
        pytest.skip("not a git work tree")
    named = {name: match[0] for name, text in texts.items() if (match := MACHINE_PATH.search(text))}
    assert named == {}

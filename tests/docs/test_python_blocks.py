"""Python that a page shows does what the page says."""

import contextlib
import doctest
from pathlib import Path

import pytest

import sciagent
from tests.docs.pages import HOW_TO, Block, blocks, named, pages

WITH_PROMPTS = [
    block for page in pages() for block in blocks(page)
    if block.language == "python" and ">>>" in block.text
]  # fmt: skip
WITHOUT_PROMPTS = [
    pytest.param(block, id=f"{named(block.page)}:{block.line}")
    for page in pages()
    for block in blocks(page)
    if block.language == "python" and ">>>" not in block.text
]
ABOUT_THE_ENGINE = HOW_TO / "use-from-python.md"
ABOUT_SCRIPTED_MODELS = HOW_TO / "script-a-model.md"


def checked(page: Path, names: dict[str, object], folder: Path) -> doctest.TestResults:
    """Run the examples of a page in order, in a folder, with some names given."""
    source = "\n".join(block.text for block in WITH_PROMPTS if block.page == page)
    test = doctest.DocTestParser().get_doctest(source, dict(names), page.name, str(page), 0)
    report: list[str] = []
    with contextlib.chdir(folder):
        found = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert found.failed == 0, "".join(report)
    return found


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("cache")
def test_reviews_and_seals_are_read_as_the_page_about_them_says(tmp_path: Path) -> None:
    run = sciagent.run("toy/parabola", out=tmp_path)
    page = HOW_TO / "read-and-review-a-workspace.md"
    assert checked(page, {"RUN": run.path}, tmp_path).attempted >= 6
    assert sciagent.verify(run.path).ok, "a review must not touch what is sealed"


@pytest.mark.usefixtures("cache")
def test_the_functions_of_the_package_do_what_the_page_about_them_says(tmp_path: Path) -> None:
    assert checked(ABOUT_THE_ENGINE, {}, tmp_path).attempted >= 15


def test_a_scripted_model_does_what_the_page_about_it_says(tmp_path: Path) -> None:
    assert checked(ABOUT_SCRIPTED_MODELS, {}, tmp_path).attempted >= 20


def test_every_page_with_examples_is_run_by_a_test() -> None:
    tested = {ABOUT_THE_ENGINE, ABOUT_SCRIPTED_MODELS, HOW_TO / "read-and-review-a-workspace.md"}
    assert {block.page for block in WITH_PROMPTS} == tested


@pytest.mark.parametrize("block", WITHOUT_PROMPTS)
def test_python_without_prompts_is_python(block: Block) -> None:
    compile(block.text, f"{block.page}:{block.line}", "exec")

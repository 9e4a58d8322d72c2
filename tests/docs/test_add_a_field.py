"""The field that a page builds is found, runs, and is verified."""

import json
from pathlib import Path

import pytest

from tests.docs.pages import HOW_TO, blocks, commands
from tests.docs.terminals import shell_variables, typed

PAGE = HOW_TO / "add-a-field.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's files, laid out as an installation lays them out."""
    root = tmp_path_factory.mktemp("field")
    for block in blocks(PAGE):
        if block.caption:
            path = root / "site" / block.caption
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    (root / "site" / "cooling_field" / "__init__.py").touch()
    project = (root / "site" / "pyproject.toml").read_text(encoding="utf-8")
    entry_points = project.partition('[project.entry-points."')[2].replace('"]', "]")
    info = root / "site" / "cooling_field-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[" + entry_points.replace('"', ""))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cooling-field\nVersion: 1.0\n")
    return root


def test_the_worked_example_runs_as_typed_and_is_reproduced(installed: Path) -> None:
    page = [command.text for command in commands(PAGE) if command.text.startswith("sciagent ")]
    run, verify = page
    answers = typed(
        [f"cp site/readings.csv . && {run}", "RUN=$(ls -d artifacts/*)",
         verify.replace("RUN", "$RUN") + " --json"],
        installed, shell_variables(installed, installed / "site"),
    )  # fmt: skip
    assert [answer.code for answer in answers] == [0, 0, 0], answers
    assert "trial 1 rejected: fit" in answers[0].output
    assert "Check ambient" in answers[0].output
    ending = "completed: All that was proposed had been tried before. The law holds."
    assert ending in answers[0].output
    verdicts = json.loads(answers[2].output.split("\n")[-1])
    assert verdicts["ok"]
    assert verdicts["reproduced"] == verdicts["claims"] == 3


def test_the_example_refuses_readings_that_it_cannot_read(installed: Path) -> None:
    (installed / "words.csv").write_text("hot\ncold\n")
    command = "sciagent run cooling/half_time --input readings=words.csv --out refused"
    (answer,) = typed([command], installed, shell_variables(installed, installed / "site"))
    assert answer.code == 2
    assert "'words.csv' is not two columns of numbers." in answer.output
    assert not (installed / "refused").exists()


def test_every_block_of_the_page_is_python_that_follows_the_style_of_the_project() -> None:
    for block in blocks(PAGE):
        if block.language == "python":
            compile(block.text, block.caption or str(PAGE), "exec")
            assert max(map(len, block.text.split("\n"))) <= 100, block.caption

"""The finished workspaces that are committed can be relied on."""

import subprocess
from pathlib import Path

import pytest

from sciagent.reports.verify import verify
from sciagent.runs import open_run

ROOT = Path(__file__).parents[2]


def _committed() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "artifacts/*/events.jsonl"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return [(ROOT / line).parent for line in listed.stdout.split()]


EXEMPLARS = _committed()


def test_there_is_an_exemplar_or_no_repository() -> None:
    assert EXEMPLARS or not (ROOT / ".git").exists()


@pytest.mark.parametrize("root", EXEMPLARS, ids=lambda root: root.name)
def test_every_claim_of_an_exemplar_matches_its_evidence(root: Path) -> None:
    verification = verify(root)
    assert verification.findings == ()
    assert verification.ok


@pytest.mark.parametrize("root", EXEMPLARS, ids=lambda root: root.name)
def test_an_exemplar_has_reached_a_result(root: Path) -> None:
    result = open_run(root).result
    assert result.status == "completed"
    assert result.objective.value is not None


@pytest.mark.slow
@pytest.mark.parametrize("root", EXEMPLARS, ids=lambda root: root.name)
def test_every_number_of_an_exemplar_is_reproduced(root: Path) -> None:
    pytest.importorskip("rietx")
    verification = verify(root, rerun=True)
    assert verification.ok
    assert verification.reproduced > 0

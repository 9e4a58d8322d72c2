"""Each kind of defect is found and named; clean runs raise no alarm."""

from pathlib import Path

import pytest

import sciagent
from sciagent.reports.verify import verify
from sciagent.testing.tampering import KINDS, spoiled_copy


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sciagent.run("toy/parabola", out=tmp_path_factory.mktemp("clean")).path


@pytest.mark.parametrize("kind", list(KINDS))
def test_verification_names_each_kind_of_defect(kind: str, clean: Path, tmp_path: Path) -> None:
    kinds = list(KINDS)
    for turn in range(3):
        copy, defect = spoiled_copy(clean, tmp_path, turn * len(kinds) + kinds.index(kind))
        assert defect.kind == kind
        assert defect.named_by(verify(copy))


def test_a_copy_that_nobody_touched_raises_no_alarm(clean: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(clean, tmp_path / clean.name)
    assert verify(tmp_path / clean.name).ok

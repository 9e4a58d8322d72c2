import shutil
from pathlib import Path

import pytest

from sciagent.testing.toy_reports import PretendedRun


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed workspace that no test may change."""
    root = tmp_path_factory.mktemp("runs") / "20260101-fluorapatite-0a1b2c3d"
    PretendedRun(root).make()
    return root


@pytest.fixture
def workspace(pristine: Path, tmp_path: Path) -> Path:
    """A copy of the sealed workspace, to be tampered with."""
    return Path(shutil.copytree(pristine, tmp_path / pristine.name))

from collections.abc import Iterator
from pathlib import Path

import pytest

from sciagent.contracts.events import RunStarted
from sciagent.contracts.run import RunRequest
from sciagent.tools.boundary import Boundary
from sciagent.tools.context import ToolContext
from sciagent.workspace.journal import JournalFile
from sciagent.workspace.layout import Layout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace, with a secret beside it that no tool may reach."""
    root = tmp_path / "run"
    (root / "inbox").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("the secret of the house")
    return root


@pytest.fixture
def journal(root: Path) -> Iterator[JournalFile]:
    with JournalFile.create(Layout(root).journal) as journal:
        journal.append(RunStarted(run="run", request=RunRequest(question="toy/parabola")))
        yield journal


@pytest.fixture
def context(root: Path, journal: JournalFile) -> ToolContext:
    """Context of the main agent of a run with nothing but a workspace."""
    return ToolContext(root=root, journal=journal, boundary=Boundary("0123abcd"))

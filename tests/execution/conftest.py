"""Kernels of runs, for tests that execute cells in them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sciagent.execution.code_runner import CodeSettings, KernelCode, KernelPool
from sciagent.execution.sandbox import SandboxLimits
from sciagent.execution.session import KernelSettings
from sciagent.workspace.journal import JournalFile

MakePool = Callable[..., KernelPool]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "run"
    root.mkdir()
    return root


@pytest.fixture
def journal(root: Path) -> Iterator[JournalFile]:
    with JournalFile.create(root / "events.jsonl") as journal:
        yield journal


@pytest.fixture
def make_pool(root: Path, journal: JournalFile) -> Iterator[MakePool]:
    """Make pools of kernels, which are closed at the end."""
    made: list[KernelPool] = []

    def make(limits: SandboxLimits | None = None, **settings: Any) -> KernelPool:
        kernel = KernelSettings(workspace=root, limits=limits or SandboxLimits())
        made.append(KernelPool(journal, CodeSettings(kernel, **settings)))
        return made[-1]

    yield make
    for pool in made:
        pool.close()


@pytest.fixture
def runner(make_pool: MakePool) -> KernelCode:
    return make_pool().runner("main")

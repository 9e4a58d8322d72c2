from pathlib import Path

import pytest

from sciagent.execution.code_runner import CodeSettings, KernelPool
from sciagent.execution.pausing import Pause, has_swap
from sciagent.execution.sandbox import sandbox_mode
from sciagent.execution.session import KernelSettings
from sciagent.testing.swap import swap
from sciagent.workspace.journal import JournalFile


def test_a_pause_without_swap_says_that_nothing_was_freed() -> None:
    pause = Pause(before_mib=600.0, after_mib=594.0, has_swap=False)
    assert str(pause) == "no swap: nothing freed (594 MiB stay resident)"


def test_a_pause_tells_the_measured_memory_before_and_after() -> None:
    pause = Pause(before_mib=800.0, after_mib=40.0, has_swap=True)
    assert str(pause) == "resident memory 800 -> 40 MiB, 95 % freed"
    assert pause.freed_fraction == pytest.approx(0.95)


@pytest.mark.slow
@pytest.mark.skipif(not sandbox_mode().is_confined, reason="no sandbox here")
def test_a_paused_kernel_gives_its_memory_back_and_keeps_its_state(tmp_path: Path) -> None:
    root = tmp_path / "run"
    root.mkdir()
    with swap(tmp_path, 1024) as missing, JournalFile.create(root / "events.jsonl") as journal:
        if missing:
            pytest.skip(missing)
        kernel = KernelSettings(workspace=root)
        pool = KernelPool(journal, CodeSettings(kernel, pause_after_s=None))
        try:
            runner = pool.runner("main")
            runner.run("import numpy as np\na = np.arange(500 << 17, dtype=float)\ns = a.sum()")
            pause = runner.pause()
            assert pause is not None
            assert pause.has_swap
            assert pause.freed_fraction >= 0.9
            assert runner.run("bool(a.sum() == s)").output == "True"
        finally:
            pool.close()


def test_swap_for_a_moment_leaves_the_machine_as_it_was(tmp_path: Path) -> None:
    before = has_swap()
    with swap(tmp_path, 1) as missing:
        assert bool(missing) != has_swap()
    assert has_swap() == before
    assert list(tmp_path.iterdir()) == []

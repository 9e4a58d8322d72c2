import os
import time
from pathlib import Path

import pytest

pytest.importorskip("parsl", reason="the extra [cluster] is not installed")

from sciagent.contracts.errors import InputError
from sciagent.execution.attempts import AttemptTask
from sciagent.execution.parsl_engine import carry_out_line, config_from_file, local_config

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "clusters"
NEEDS = {"kubernetes": "kubernetes"}


# Parsl looks for the addresses of the machine and leaves the sockets to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_for_a_cluster_can_be_constructed(path: Path) -> None:
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem], reason="its package is not installed")
    config = config_from_file(path)
    assert [executor.label for executor in config.executors] == [path.stem]


def test_the_workers_of_this_machine_end_soon_after_their_owner(tmp_path: Path) -> None:
    (executor,) = local_config(2, tmp_path).executors
    assert getattr(executor, "heartbeat_threshold", None) == 6
    assert getattr(executor, "encrypted", None) is True


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a = 1", "defines no Parsl"),
        ("from parsl.config import Config\nconfig = Config(retries=1)", "lets Parsl retry"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(
    tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "cluster.py").write_text(content)
    with pytest.raises(InputError, match=said):
        config_from_file(tmp_path / "cluster.py")
    with pytest.raises(InputError, match="no file"):
        config_from_file(tmp_path / "nowhere.py")


@pytest.mark.parametrize("age_s", [None, 3600.0])
def test_a_worker_runs_nothing_for_a_driver_that_died(tmp_path: Path, age_s: float | None) -> None:
    lease = tmp_path / "driver.lease"
    if age_s is not None:
        lease.touch()
        moment = time.time() - age_s
        os.utime(lease, (moment, moment))
    task = AttemptTask(campaign=str(tmp_path), row="a", carrier="nowhere:nothing", source="")
    assert carry_out_line(task.model_dump_json(), str(lease)) is None
    assert not (tmp_path / "runs").exists()

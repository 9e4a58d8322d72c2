"""Rows of a campaign on a Slurm cluster. Not tested on one: adapt partition, account and times."""

from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import SlurmProvider

config = Config(
    executors=[
        HighThroughputExecutor(
            label="slurm",
            cores_per_worker=2,
            mem_per_worker=4,
            encrypted=True,
            provider=SlurmProvider(
                partition="cpu",
                account="my-account",
                nodes_per_block=1,
                cores_per_node=32,
                mem_per_node=128,
                max_blocks=10,
                walltime="08:00:00",
                worker_init="source ~/sciagent/.venv/bin/activate",
            ),
        )
    ],
    retries=0,
    strategy_period=0.5,
)

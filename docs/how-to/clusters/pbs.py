"""Rows of a campaign on a PBS Pro cluster. Not tested on one: adapt queue, account and times."""

from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import PBSProProvider

config = Config(
    executors=[
        HighThroughputExecutor(
            label="pbs",
            cores_per_worker=2,
            mem_per_worker=4,
            encrypted=True,
            provider=PBSProProvider(
                queue="workq",
                account="my-account",
                nodes_per_block=1,
                cpus_per_node=32,
                max_blocks=10,
                walltime="08:00:00",
                worker_init="source ~/sciagent/.venv/bin/activate",
            ),
        )
    ],
    retries=0,
    strategy_period=0.5,
)

"""Rows of a campaign on Kubernetes. Not tested on one: adapt image, namespace and volume.

Needs the package `kubernetes`. The campaign's folder must lie on the volume, under the same path in
the driver and in the pods.
"""

from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import KubernetesProvider

config = Config(
    executors=[
        HighThroughputExecutor(
            label="kubernetes",
            cores_per_worker=2,
            max_workers_per_node=1,
            encrypted=True,
            provider=KubernetesProvider(
                image="my-registry/sciagent:latest",
                namespace="default",
                init_blocks=1,
                max_blocks=10,
                max_cpu=2,
                max_mem="4Gi",
                persistent_volumes=[("campaigns", "/campaigns")],
            ),
        )
    ],
    retries=0,
    strategy_period=0.5,
)

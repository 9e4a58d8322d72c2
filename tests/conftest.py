"""The toy field is installed for all tests, as a distribution of its own would be."""

import os
import sys
from pathlib import Path

PLUGINS = str(Path(__file__).parent / "plugins")

sys.path.insert(0, PLUGINS)
# Worker processes, kernels and commands started by tests find it too.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [PLUGINS, os.environ.get("PYTHONPATH")]))

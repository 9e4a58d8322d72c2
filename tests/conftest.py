"""The toy field is installed for all tests, as a distribution of its own would be.

No test asks the literature but of a server of its own, whatever the machine is configured to.
"""

import os
import sys
from pathlib import Path

PLUGINS = str(Path(__file__).parent / "plugins")

sys.path.insert(0, PLUGINS)
# Worker processes, kernels and commands started by tests find it too.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [PLUGINS, os.environ.get("PYTHONPATH")]))
os.environ["SCIAGENT_LITERATURE_MODE"] = "offline"
os.environ["SCIAGENT_LIBRARY"] = str(Path(__file__).parent / "no-library.sqlite")

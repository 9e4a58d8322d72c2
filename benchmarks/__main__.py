"""Run every benchmark in turn: ``python -m benchmarks [--quick] [--json]``.

Options are passed on to each benchmark. The exit code is 1 when any of them failed.
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def benchmark_names() -> list[str]:
    """Return the names of the runnable benchmarks: public modules with a ``main`` of their own."""
    candidates = sorted(FOLDER.glob("[a-z]*.py"))
    return [path.stem for path in candidates if "def main(" in path.read_text(encoding="utf-8")]


def main(options: list[str]) -> int:
    """Run each benchmark in a process of its own and name those that failed."""
    failed = []
    for name in benchmark_names():
        print(f"== {name}", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", *options]
        if subprocess.run(command, cwd=FOLDER.parent, check=False).returncode != 0:
            failed.append(name)
    if failed:
        print("failed: " + ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Spoils finished workspaces in one place each; verification must fail and name the place."""

import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.table import Row, present, progress

PLUGINS = Path(__file__).parents[1] / "tests" / "plugins"
EXEMPLARS = Path(__file__).parents[1] / "artifacts"
CLEAN_RUNS = 20
DEFECTS = 200


def clean_runs(folder: Path, count: int) -> list[Path]:
    """Make clean runs of the toy field that differ from each other, and add the exemplars."""
    import sciagent

    exemplars = sorted(path.parent for path in EXEMPLARS.glob("*/events.jsonl"))
    runs = [
        sciagent.run(
            "toy/parabola", out=folder, settings={"lowest_x_um": 1.0 + 0.5 * number}, seed=number
        ).path
        for number in range(count - len(exemplars[:count]))
    ]
    return [*exemplars[:count], *runs]


def measure(quick: bool) -> list[Row]:
    """Count the defects that verification names, and its false alarms on clean runs."""
    os.environ["PYTHONPATH"] = str(PLUGINS)
    sys.path.insert(0, str(PLUGINS))
    from sciagent.reports.verify import verify
    from sciagent.testing.tampering import spoiled_copy

    runs, defects = (5, 48) if quick else (CLEAN_RUNS, DEFECTS)
    named: Counter[str] = Counter()
    made: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        progress(f"{runs} clean runs")
        clean = clean_runs(Path(folder) / "clean", runs)
        false_alarms = sum(not verify(root).ok for root in clean)
        progress(f"{defects} defects")
        for seed in range(defects):
            root = clean[seed // 12 % len(clean)]
            copy, defect = spoiled_copy(root, Path(folder), seed)
            made[defect.kind] += 1
            named[defect.kind] += defect.named_by(verify(copy))
            shutil.rmtree(copy)
    rows = [
        Row(kind, "named", named[kind] / count, "1", "must be", 1.0) for kind, count in made.items()
    ]
    return [
        Row("all", "defects", made.total(), "{count}"),
        Row("all", "named", named.total() / made.total(), "1", "must be", 1.0),
        Row("clean", "runs", len(clean), "{count}"),
        Row("clean", "false_alarms", false_alarms, "{count}", "must be", 0.0),
        *rows,
    ]


def main() -> int:
    """Print the figures."""
    return present("tamper", measure)


if __name__ == "__main__":
    sys.exit(main())

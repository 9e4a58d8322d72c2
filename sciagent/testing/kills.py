"""Kills a run again and again at random moments, resumes it, and compares it with a quiet one."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sciagent.contracts.claim import FigureClaim, NumberClaim, Statement
from sciagent.runs import Run, open_run
from sciagent.workspace.layout import JOURNAL

_START = "import sciagent; sciagent.run({question!r}, out={out!r}, **{arguments!r})"
_RESUME = "import sciagent; sciagent.resume({path!r})"


@dataclass(frozen=True)
class Question:
    """What is run: a question with the arguments of `sciagent.run`."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def start(self, out: Path) -> "subprocess.Popen[bytes]":
        """Start the run in a process of its own."""
        code = _START.format(question=self.name, out=str(out), arguments=dict(self.arguments))
        return _python(code)


@dataclass(frozen=True)
class KilledRun:
    """A run that was killed and resumed until it was finished.

    Attributes
    ----------
    kills
        How often it was killed.
    executed_twice
        Trials that had finished before a kill and were executed again after it.
    run
        The finished run.
    """

    kills: int
    executed_twice: tuple[int, ...]
    run: Run


def quiet_run(question: Question, out: Path) -> tuple[Run, float]:
    """Run undisturbed, and return the run with its wall time in seconds."""
    start = time.monotonic()
    process = question.start(out)
    if process.wait() != 0:
        raise RuntimeError("The undisturbed run failed.")
    return open_run(_workspace(out)), time.monotonic() - start


def killed_run(question: Question, out: Path, *, longest_s: float, seed: int) -> KilledRun:
    """Run, kill after a random time below `longest_s`, resume, and so on until it is finished."""
    dice = random.Random(seed)
    kills, twice, finished = 0, set[int](), dict[int, int]()
    while True:
        process = _resume(out) if _exists(out) else question.start(out)
        ended = _ends_within(process, dice.uniform(0.0, longest_s))
        now = _finished_trials(out) if _exists(out) else {}
        twice |= {number for number, moment in finished.items() if now.get(number) != moment}
        finished = now
        if ended:
            return KilledRun(kills, tuple(sorted(twice)), open_run(_workspace(out)))
        kills += 1


def accepted_path(run: Run) -> list[str]:
    """Actions of the trials from the first to the reported one."""
    trials = {trial.number: trial for trial in run.study.trials}
    path, trial = [], run.best
    while trial is not None:
        path.append(trial.proposal.action.key)
        parent = trial.proposal.parent
        trial = None if parent is None else trials[parent]
    return path[::-1]


def scientific_claims(run: Run) -> dict[str, object]:
    """What a report claims, without the records of time and size that differ from run to run."""
    claims = run.claims.claims if run.claims else ()
    found: dict[str, object] = {}
    for claim in claims:
        if isinstance(claim, NumberClaim) and claim.kind == "number":
            found[claim.id] = (claim.label, claim.value, claim.unit, claim.decimals)
        elif isinstance(claim, FigureClaim):
            found[claim.id] = claim.caption
        elif isinstance(claim, Statement):
            found[claim.id] = (claim.left, claim.operator, claim.right, claim.margin)
    return found


def _python(code: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)


def _resume(out: Path) -> "subprocess.Popen[bytes]":
    return _python(_RESUME.format(path=str(_workspace(out))))


def _ends_within(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Wait, then kill. True if the process came to its own end before."""
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return False
    if code != 0:
        raise RuntimeError(f"A resumed run failed with exit code {code}.")
    return True


def _workspace(out: Path) -> Path:
    return next(path for path in out.iterdir() if not path.name.startswith("."))


def _exists(out: Path) -> bool:
    return out.is_dir() and any(
        (path / JOURNAL).exists() for path in out.iterdir() if not path.name.startswith(".")
    )


def _finished_trials(out: Path) -> dict[int, int]:
    """Trials with an outcome, and when it was written (nanoseconds)."""
    outcomes = _workspace(out).glob("trials/*/outcome.json")
    return {int(path.parent.name): path.stat().st_mtime_ns for path in outcomes}

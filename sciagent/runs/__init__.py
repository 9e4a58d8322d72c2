"""Wires everything together: starts, resumes, verifies, compares and exports runs."""

from sciagent.runs.comparison import compare
from sciagent.runs.doctor import doctor
from sciagent.runs.exporting import export
from sciagent.runs.invalidation import invalidate
from sciagent.runs.opened import Run, list_runs, open_run
from sciagent.runs.replaying import replay
from sciagent.runs.starting import resume, run, stop
from sciagent.runs.verification import verify

__all__ = [
    "Run",
    "compare",
    "doctor",
    "export",
    "invalidate",
    "list_runs",
    "open_run",
    "replay",
    "resume",
    "run",
    "stop",
    "verify",
]

"""Wires everything together: starts, resumes, verifies, compares and exports runs."""

from sciagent.runs.asking import AskSettings, ask, ask_result, is_ask
from sciagent.runs.campaign import Campaign, batch, plan
from sciagent.runs.comparison import compare
from sciagent.runs.configuration import Configuration, load_configuration
from sciagent.runs.configured import ask_settings
from sciagent.runs.doctor import doctor
from sciagent.runs.exporting import export
from sciagent.runs.invalidation import invalidate
from sciagent.runs.opened import Run, list_runs, open_run
from sciagent.runs.replaying import replay
from sciagent.runs.starting import resume, run, stop
from sciagent.runs.surroundings import Surroundings
from sciagent.runs.verification import verify

__all__ = [
    "AskSettings",
    "Campaign",
    "Configuration",
    "Run",
    "Surroundings",
    "ask",
    "ask_result",
    "ask_settings",
    "batch",
    "compare",
    "doctor",
    "export",
    "invalidate",
    "is_ask",
    "list_runs",
    "load_configuration",
    "open_run",
    "plan",
    "replay",
    "resume",
    "run",
    "stop",
    "verify",
]

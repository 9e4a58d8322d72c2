"""Wires everything together: starts, resumes, verifies, compares and exports runs.

The public names are loaded on first use: whoever drives a campaign needs no client of a model.
"""

import importlib
import typing

if typing.TYPE_CHECKING:
    from sciagent.runs.asking import AskSettings, ask, ask_result, is_ask
    from sciagent.runs.campaign import Campaign, batch, plan
    from sciagent.runs.changed_files import Decisions, Differences, decide, differences
    from sciagent.runs.comparison import compare
    from sciagent.runs.configuration import Configuration, load_configuration
    from sciagent.runs.configured import ask_settings
    from sciagent.runs.doctoring import doctor
    from sciagent.runs.exporting import export
    from sciagent.runs.gathering import gather, gathers_evidence
    from sciagent.runs.invalidation import invalidate
    from sciagent.runs.opened import Run, list_runs, open_run
    from sciagent.runs.replaying import replay
    from sciagent.runs.starting import resume, run, stop
    from sciagent.runs.surroundings import Surroundings
    from sciagent.runs.verification import verify
    from sciagent.runs.workflow_run import run_notebook

_HOMES = {
    "asking": ("AskSettings", "ask", "ask_result", "is_ask"),
    "campaign": ("Campaign", "batch", "plan"),
    "comparison": ("compare",),
    "configuration": ("Configuration", "load_configuration"),
    "configured": ("ask_settings",),
    "doctoring": ("doctor",),
    "exporting": ("export",),
    "gathering": ("gather", "gathers_evidence"),
    "changed_files": ("Decisions", "Differences", "decide", "differences"),
    "invalidation": ("invalidate",),
    "opened": ("Run", "list_runs", "open_run"),
    "replaying": ("replay",),
    "starting": ("resume", "run", "stop"),
    "surroundings": ("Surroundings",),
    "verification": ("verify",),
    "workflow_run": ("run_notebook",),
}
_LAZY_NAMES = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AskSettings",
    "Campaign",
    "Configuration",
    "Decisions",
    "Differences",
    "Run",
    "Surroundings",
    "ask",
    "ask_result",
    "ask_settings",
    "batch",
    "compare",
    "decide",
    "differences",
    "doctor",
    "export",
    "gather",
    "gathers_evidence",
    "invalidate",
    "is_ask",
    "list_runs",
    "load_configuration",
    "open_run",
    "plan",
    "replay",
    "resume",
    "run",
    "run_notebook",
    "stop",
    "verify",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it (PEP 562)."""
    home = _LAZY_NAMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

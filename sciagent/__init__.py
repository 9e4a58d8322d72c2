"""Questions researched over fields of science, as reports whose every claim is checked.

The public names are loaded on first use, so that ``import sciagent`` stays quick:

``ask``
    Let an agent answer a question and return the finished run.
``gather``
    Gather quoted evidence on a query, without a model.
``run``
    Start a study of a question and return the finished run.
``verify``
    Check every claim of a finished run.
``open_run``
    Open a run's workspace for reading.
``resume``
    Go on with a run that was stopped or killed.
``replay``
    Run trials of a finished run again.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sciagent.runs import gather, open_run, replay, resume, run, verify
    from sciagent.runs.configured import ask

__version__ = "0.1.0"

_LAZY_NAMES = {
    "ask": "sciagent.runs.configured",
    "gather": "sciagent.runs",
    "open_run": "sciagent.runs",
    "replay": "sciagent.runs",
    "resume": "sciagent.runs",
    "run": "sciagent.runs",
    "verify": "sciagent.runs",
}

__all__ = ["__version__", "ask", "gather", "open_run", "replay", "resume", "run", "verify"]


def __getattr__(name: str) -> object:
    """Load a public name from the package that defines it (PEP 562)."""
    home = _LAZY_NAMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

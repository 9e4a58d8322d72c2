"""Keeps libraries that are imported and not used out of the memory of worker processes.

A campaign has several processes at once, so that what each of them loads counts as often.
"""

import importlib
import sys
from types import ModuleType
from typing import Any

RARELY_USED = ("requests",)
"""Imported by papermill and Parsl for files on the web, which campaigns have none of."""
OPTIONAL = ("sqlalchemy",)
"""Parsl's monitoring does without them; it is not used on workers."""


class _Stand(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        """Load the module, and give what was asked for."""
        sys.modules.pop(self.__name__, None)
        return getattr(importlib.import_module(self.__name__), name)


def load_when_used(*names: str) -> None:
    """Let modules be loaded when something of them is used, and not when they are imported.

    (`importlib.util.LazyLoader` loads them at the second import already.)
    """
    for name in names:
        sys.modules.setdefault(name, _Stand(name))


def leave_out(*names: str) -> None:
    """Let modules appear not to be installed, if they have not been imported yet."""
    for name in names:
        # The import system's own mark of a module that there is none of; typed otherwise.
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]

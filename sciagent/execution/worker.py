"""A worker process of a campaign: takes rows from its standard input, one line each, and answers.

It is a program of its own, so that whoever starts a campaign from a script or a notebook needs no
``if __name__ == "__main__"``. What a row prints goes to standard error.
"""

import importlib
import os
import sys
from types import ModuleType
from typing import Any

from sciagent.execution.attempts import AttemptTask, carry_out
from sciagent.execution.tether import die_with_parent

RARELY_USED = ("requests",)
"""Imported by papermill for notebooks on the web, which campaigns have none of."""


def main() -> None:
    """Run rows until the owner closes the input or dies."""
    die_with_parent(int(sys.argv[1]))
    for name in RARELY_USED:
        load_when_used(name)
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            result = carry_out(AttemptTask.model_validate_json(line))
            answers.write(f"{result.model_dump_json() if result else 'null'}\n")
            answers.flush()


class _Stand(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        """Load the module, and give what was asked for."""
        sys.modules.pop(self.__name__, None)
        return getattr(importlib.import_module(self.__name__), name)


def load_when_used(name: str) -> None:
    """Let a module be loaded when something of it is used, and not when it is imported.

    (`importlib.util.LazyLoader` loads it at the second import already.)
    """
    sys.modules.setdefault(name, _Stand(name))


if __name__ == "__main__":
    main()

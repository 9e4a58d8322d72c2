"""What papermill finds under the name ``sciagent``.

Papermill loads all engines while it is being imported itself, so this module imports neither
papermill nor the engine before it is asked to run something.
"""

from typing import Any


class SciagentEngine:
    """Hands over to `papermill_engine.TruthfulEngine` on first use."""

    @classmethod
    def execute_notebook(cls, nb: Any, kernel_name: str, **options: Any) -> Any:
        """Run a notebook; see `TruthfulEngine.execute_notebook`."""
        from sciagent.execution.papermill_engine import TruthfulEngine

        return TruthfulEngine.execute_notebook(nb, kernel_name, **options)

    @classmethod
    def nb_kernel_name(cls, nb: Any, name: str | None = None) -> str:
        """Tell the kernel that a notebook names, unless another is asked for."""
        from papermill.utils import nb_kernel_name

        return str(nb_kernel_name(nb, name))

    @classmethod
    def nb_language(cls, nb: Any, language: str | None = None) -> str:
        """Tell the language that a notebook names, unless another is asked for."""
        from papermill.utils import nb_language

        return str(nb_language(nb, language))
